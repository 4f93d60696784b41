// The launches of "naive", for every type. The table is in matmul.cu.
#include "naive.cuh"

#include "launches.cuh"

namespace matmul {

RUN_FLAT(naive, naive, with_any_type)

} // namespace matmul
