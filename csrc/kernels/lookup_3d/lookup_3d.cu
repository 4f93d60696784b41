// lookup_3d: interpolation in a table with three axes. Each kernel is in a file of its own; the launches and the
// table are in ../lookup_launches.cuh, which lookup_2d shares.
//
// Begin with ../lookup.cuh, then global_memory.cuh, and follow the table. Views: the table (planes, rows, columns),
// the coordinates z, y and x, and the result, with the shape of the coordinates; all contiguous.
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
