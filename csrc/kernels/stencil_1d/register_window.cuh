// stencil_1d "register_window": comes after "shared_halo".
//
// Change  A thread computes WINDOW neighboring results at once, in registers, and reads its part of the tile only
//         once.
// Why     Neighboring sums have all but their ends in common: a word in a register serves WINDOW of them.
// Claim   words read from shared memory per result: (2*radius + WINDOW) / WINDOW (before: 2*radius + 1)
// Price   WINDOW registers. The results go to memory through the tile, with two more barriers, so that neighboring
//         threads write neighboring elements. WINDOW is odd: the lanes of a warp, WINDOW words apart, are then in
//         different banks.
// Edges   as in "shared_halo"; if a window is wider than 2*radius + 1, no word belongs to all of its sums
// Map     thread t of a block has the results first + t*WINDOW ... + WINDOW - 1, first = blockIdx.x * threads *
//         WINDOW
// Note    No sum is derived from the previous one (one word more, one less): an infinity, or a rounding error, would
//         stay in it.
// Limit   the additions: 2*radius + 1 per result
#ifndef CK_STENCIL_1D_REGISTER_WINDOW_CUH
#define CK_STENCIL_1D_REGISTER_WINDOW_CUH

#include "shared_halo.cuh"

namespace stencil_1d {

enum { WINDOW_THREADS = 256 }; // the maximum: the largest tile is then 48 KB

template <typename T> constexpr int WINDOW = sizeof(number<T>) <= 8 ? 7 : 3;

template <typename T>
__global__ void __launch_bounds__(WINDOW_THREADS)
    register_window(const T *__restrict__ x, T *__restrict__ result, int64_t n, int radius) {
    constexpr int W = WINDOW<T>;
    DYNAMIC_SHARED(number<T>, tile);
    const int tid = threadIdx.x, threads = blockDim.x, results = threads * W, width = 2 * radius + 1;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * results;
    load_tile(tile, results + 2 * radius, x, first - radius, n);

    const number<T> *const mine = tile + tid * W; // sum w consists of words w to w + width - 1 of it
    number<T> sums[W];
    for (int w = 0; w < W; ++w) sums[w] = 0;
    const auto add_to_some = [&](int k) {
        for (int w = 0; w < W; ++w)
            if (k >= w && k - w < width) sums[w] += mine[k];
    };
    int k = 0;
    for (; k < W - 1; ++k) add_to_some(k);
    for (; k < width; ++k) {
        const number<T> word = mine[k];
        for (int w = 0; w < W; ++w) sums[w] += word;
    }
    for (; k < width + W - 1; ++k) add_to_some(k);

    __syncthreads(); // others may still read the tile
    for (int w = 0; w < W; ++w) tile[tid * W + w] = sums[w];
    __syncthreads();
    for (int r = tid; r < results && first + r < n; r += threads) result[first + r] = number_cast<T>(tile[r]);
}

} // namespace stencil_1d

#endif
