// moving_sum "spilled": comes after "compile_time_index".
//
// Change  The same code, but the compiler may use 32 registers per thread: two blocks of 1024 are to fit on a
//         multiprocessor of 65,536 registers.
// Why     More threads at a time hide more waiting; and it shows what a limit costs that is too tight.
// Claim   registers: at most 32; what a window of 32 has beyond that lies in local memory
// Price   each value without a register is stored once and loaded in each row that it counts in
// Edges   as before
// Map     as before
// Limit   the spilled part of the window: choose the limit by what the compiler reports
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
