// lookup_3d: a table of three axes, read between its elements. A kernel is in a file of its own; launches and table are
// in ../lookup_launches.cuh, and are those of all look-ups.
//
// Begin with ../lookup.cuh, then global_memory.cuh, and follow the table. Views: the table (planes, rows, columns), z, y,
// x (the coordinates), and the result in their shape, without gaps.
#include "global_memory.cuh"
#include "texture.cuh"

#define LOOKUP         lookup_3d
#define LOOKUP_NAME    "lookup_3d"
#define LOOKUP_LONGEST 16384, 16384, 16384
#define COORDINATES    input<T>(call, 1), input<T>(call, 2), input<T>(call, 3)
#define LENGTHS        call->views[0].shape[0], call->views[0].shape[1], call->views[0].shape[2]
#define SUMMARY        "Trilinear interpolation in full precision"
#define LESSON         "Eight loads and seven interpolations for each value"
#define TEXTURE_ORIGIN "M"
#include "../lookup_launches.cuh"

CK_OPERATION(lookup_3d, "Linear interpolation in a table with three axes", 4, 1)
