// The launches of "tiled". The table is in matmul.cu.
#include "../ladder/05_tiled.cuh"

#include "common.cuh"

namespace matmul {

CK_UNIT(RUN_TILED(tiled_integers, tiled, with_integer_type))
CK_UNIT(RUN_TILED(tiled_floats, tiled, with_inexact_type))

} // namespace matmul
