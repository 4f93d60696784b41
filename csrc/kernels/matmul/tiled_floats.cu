// The launches of "tiled" for floats and complex numbers. The table is in matmul.cu.
#include "tiled.cuh"

#include "launches.cuh"

namespace matmul {

RUN_TILED(tiled_floats, tiled, with_inexact_type)

} // namespace matmul
