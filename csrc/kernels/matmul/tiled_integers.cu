// The launches of "tiled" for bools and integers. The table is in matmul.cu.
#include "tiled.cuh"

#include "launches.cuh"

namespace matmul {

RUN_TILED(tiled_integers, tiled, with_integer_type)

} // namespace matmul
