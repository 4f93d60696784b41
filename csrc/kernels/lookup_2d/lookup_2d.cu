// lookup_2d: interpolation in a table with two axes. Each kernel is in a file of its own; the launches and the table
// are in ../lookup_launches.cuh, which lookup_3d shares.
//
// Begin with ../lookup.cuh, then global_memory.cuh, and follow the table. Views: the table (rows, columns), the
// coordinates y and x, and the result, with the shape of the coordinates; all contiguous.
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
