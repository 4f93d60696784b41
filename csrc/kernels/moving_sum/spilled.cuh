// moving_sum "spilled": comes after "compile_time_index".
//
// Change  The same code, but limited to 32 registers per thread, so that two blocks of 1024 threads fit on a
//         multiprocessor with 65,536 registers.
// Why     More resident threads hide more latency. The kernel also shows what too tight a limit costs.
// Claim   registers per thread: at most 32; the rest of a window of 32 is in local memory
// Price   Each value without a register is stored once, and loaded in each row that uses it.
// Edges   as before
// Map     as before
// Limit   accesses to the spilled part of the window. Choose the limit according to the compiler's report of spills.
#ifndef CK_MOVING_SUM_SPILLED_CUH
#define CK_MOVING_SUM_SPILLED_CUH

#include "compile_time_index.cuh"

namespace moving_sum {

template <typename T, int WINDOW>
__global__ void __launch_bounds__(1024, 2)
    spilled(const T *__restrict__ x, T *__restrict__ result, int64_t rows, int64_t columns) {
    sums_in_registers<T, WINDOW>(x, result, rows, columns);
}

} // namespace moving_sum

#endif
