// lookup_2d: a table of two axes, read between its elements. A kernel is in a file of its own; launches and table are
// in ../lookup_launches.cuh, and are those of all look-ups.
//
// Begin with ../lookup.cuh, then global_memory.cuh, and follow the table. Views: the table (rows, columns), y, x
// (the coordinates), and the result in their shape, without gaps.
#include "global_memory.cuh"
#include "texture.cuh"

#define LOOKUP         lookup_2d
#define LOOKUP_NAME    "lookup_2d"
#define LOOKUP_LONGEST 65536, 131072
#define COORDINATES    input<T>(call, 1), input<T>(call, 2)
#define LENGTHS        call->views[0].shape[0], call->views[0].shape[1]
#define SUMMARY        "Bilinear interpolation in full precision"
#define LESSON         "Four loads and three interpolations for each value"
#define TEXTURE_ORIGIN "M, T6"
#include "../lookup_launches.cuh"

CK_OPERATION(lookup_2d, "Linear interpolation in a table with two axes", 3, 1)
