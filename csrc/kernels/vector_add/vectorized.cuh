// vector_add "vectorized": comes after "grid_stride".
//
// Change  A thread loads, adds and stores 16 bytes at once. Each pack of 16 bytes has a thread of its own, as in
//         "naive".
// Why     The same bytes need fewer instructions, and each thread has more bytes in flight. A block that ends makes
//         room for another one at once, while a grid that fits the chip waits for the slowest block of its last
//         round.
// Claim   load requests: a quarter as many for 4-byte elements
// Price   registers for two packs
// Edges   Elements before the first 16-byte boundary of the result and after its last whole pack are added one by
//         one. If the inputs have their boundaries elsewhere, all elements are.
// Map     pack p: thread p. The grid has a thread for each pack, so there is no loop over packs: the addresses of a
//         loop take registers (44 per thread instead of 28), and with more than 32 fewer than 2048 threads fit.
// Limit   memory: three words per element must be moved
#ifndef CK_VECTOR_ADD_VECTORIZED_CUH
#define CK_VECTOR_ADD_VECTORIZED_CUH

#include "../pack.cuh"
#include "grid_stride.cuh"

namespace vector_add {

template <typename T>
__global__ void __launch_bounds__(1024)
    vectorized(const T *__restrict__ x, const T *__restrict__ y, T *__restrict__ result, int64_t n) {
    packed_row row = packed_row_of(result, n);
    if (!packs_meet(x, result) || !packs_meet(y, result)) row = {n, 0, n};
    const int64_t p = grid_thread();
    if (p < row.packs) {
        pack_of<T> sum = reinterpret_cast<const pack_of<T> *>(x + row.head)[p];
        const pack_of<T> other = reinterpret_cast<const pack_of<T> *>(y + row.head)[p];
        for (int w = 0; w < pack_of<T>::WIDTH; ++w) sum.values[w] = add(sum.values[w], other.values[w]);
        reinterpret_cast<pack_of<T> *>(result + row.head)[p] = sum;
    }
    const int64_t singles = n - row.packs * pack_of<T>::WIDTH;
#pragma unroll 1
    for (int64_t s = p; s < singles; s += grid_threads()) {
        const int64_t i = single_element<T>(row, s);
        result[i] = add(x[i], y[i]);
    }
}

} // namespace vector_add

#endif
