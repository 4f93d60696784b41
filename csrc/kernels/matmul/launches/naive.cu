// The launches of "naive", for every type. The table is in matmul.cu.
#include "../ladder/01_naive.cuh"

#include "common.cuh"

namespace matmul {

RUN_FLAT(naive, naive, with_any_type)

} // namespace matmul
