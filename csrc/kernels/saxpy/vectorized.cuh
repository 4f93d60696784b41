// saxpy "vectorized": comes after "grid_stride".
//
// Change  A thread loads, computes and stores 16 bytes at once. Each pack of 16 bytes has a thread of its own, as in
//         "naive".
// Why     The same bytes need fewer instructions, and each thread has more bytes in flight. A block that ends makes room
//         for another one at once, while a grid that fits the chip waits for the slowest block of its last round.
// Claim   load requests for x and y: a quarter as many for 4-byte elements
// Price   registers for two packs
// Edges   Elements before the first 16-byte boundary of the result and after its last whole pack are computed one by
//         one. If the inputs have their boundaries elsewhere, all elements are.
// Map     pack p: thread p (a smaller grid works too, since the loops take strides)
// Limit   memory: three words per element must be moved
#ifndef CK_SAXPY_VECTORIZED_CUH
#define CK_SAXPY_VECTORIZED_CUH

#include "../pack.cuh"
#include "grid_stride.cuh"

namespace saxpy {

template <typename T>
__global__ void __launch_bounds__(1024) vectorized(const T *__restrict__ a, const T *__restrict__ x,
                                                   const T *__restrict__ y, T *__restrict__ result, int64_t n) {
    const number<T> factor = number_cast<number<T>>(*a);
    packed_row row = packed_row_of(result, n);
    if (!packs_meet(x, result) || !packs_meet(y, result)) row = {n, 0, n};
    const auto *const xs = reinterpret_cast<const pack_of<T> *>(x + row.head);
    const auto *const ys = reinterpret_cast<const pack_of<T> *>(y + row.head);
    auto *const results = reinterpret_cast<pack_of<T> *>(result + row.head);

    for (int64_t p = grid_thread(); p < row.packs; p += grid_threads()) {
        const pack_of<T> pack = xs[p];
        pack_of<T> sum = ys[p];
        for (int w = 0; w < pack_of<T>::WIDTH; ++w) sum.values[w] = axpy(factor, pack.values[w], sum.values[w]);
        results[p] = sum;
    }
    const int64_t singles = n - row.packs * pack_of<T>::WIDTH;
    for (int64_t s = grid_thread(); s < singles; s += grid_threads()) {
        const int64_t i = single_element<T>(row, s);
        result[i] = axpy(factor, x[i], y[i]);
    }
}

} // namespace saxpy

#endif
