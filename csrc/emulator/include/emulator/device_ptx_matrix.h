// mma.sync, ldmatrix and stmatrix as inline PTX has them: with any types and shapes that share one layout of
// registers.
//
// A register holds E consecutive elements along k: 1 of tf32, 2 of 16 bits, 4 of 8 bits. Of lane 4 * g + t, register
// i of A has row g + 8 * (i % 2) and begins at k = E * (t + 4 * (i / 2)); register i of B has column g and begins at
// k = E * (t + 4 * i). Sums are rounded as device_tensor.h does it; those of halves once more, to the nearest half.
#ifndef EMULATOR_DEVICE_PTX_MATRIX_H
#define EMULATOR_DEVICE_PTX_MATRIX_H

#include "tensor_core.cuh"

namespace emu_ptx {

struct tf32 {};

template <typename T> constexpr unsigned per_register = std::is_same<T, tf32>::value ? 1 : 4 / sizeof(T);
template <typename T> __forceinline__ auto element(unsigned word, unsigned at) {
    if constexpr (std::is_same<T, tf32>::value)
        return emu::tensor_element_of_tf32(emu::same_bits<float>(word));
    else if constexpr (std::is_integral<T>::value)
        return static_cast<int>(static_cast<T>(word >> 8 * at));
    else
        return emu::tensor_element_of<T>(word >> 16 * at);
}

struct mma_lane {
    emu_together head;
    unsigned *d;
    const unsigned *a, *b, *c;
};
// A sum and the place of its bits in the registers of C and D: 32 bits or, of halves, 16.
template <typename Sum> __forceinline__ Sum sum_of(const unsigned *c, int i) {
    Sum sum;
    __builtin_memcpy(static_cast<void *>(&sum), reinterpret_cast<const char *>(c) + sizeof sum * i, sizeof sum);
    return sum;
}
template <typename A, typename B, typename Sum, int K, bool SATURATES> void multiply(emu_together *const lanes[32]) {
    using element_type = decltype(element<A>(0, 0));
    constexpr int E = per_register<A>;
    element_type a[16][K], b[8][K];
    for (int lane = 0; lane < 32; ++lane) {
        const auto *own = reinterpret_cast<const mma_lane *>(lanes[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int i = 0; i < K / 2 / E; ++i)
            for (int j = 0; j < E; ++j) a[g + 8 * (i % 2)][E * (t + 4 * (i / 2)) + j] = element<A>(own->a[i], j);
        for (int i = 0; i < K / 4 / E; ++i)
            for (int j = 0; j < E; ++j) b[g][E * (t + 4 * i) + j] = element<B>(own->b[i], j);
    }
    for (int lane = 0; lane < 32; ++lane) {
        const auto *own = reinterpret_cast<const mma_lane *>(lanes[lane]);
        for (int i = 0; i < 4; ++i) {
            const element_type *left = a[lane / 4 + i / 2 * 8], *right = b[lane % 4 * 2 + i % 2];
            Sum sum = sum_of<Sum>(own->c, i);
            if constexpr (std::is_same<Sum, int>::value) {
                long long total = sum;
                for (int k = 0; k < K; ++k) total += left[k] * right[k];
                sum = SATURATES ? emu::saturated<int>(static_cast<double>(total)) : static_cast<int>(total);
            } else {
                sum = Sum(emu::tensor_sum(static_cast<float>(sum), left, right, K, 1));
            }
            __builtin_memcpy(reinterpret_cast<char *>(own->d) + sizeof sum * i, static_cast<const void *>(&sum),
                             sizeof sum);
        }
    }
}
template <typename A, typename B, typename Sum, int K, bool SATURATES = false>
__forceinline__ void mma(unsigned *d, const unsigned *a, const unsigned *b, const unsigned *c, EMU_SITE) {
    static constexpr emu::product_name NAME("mma.sync", 16, 8, K);
    mma_lane own = {{NAME.text, multiply<A, B, Sum, K, SATURATES>}, d, a, b, c};
    emu_warp_together(&own.head, file, line);
}

struct stmatrix_lane {
    emu_together_row at;
    char *row;
    const unsigned *from;
};
template <int COUNT, bool TRANSPOSED> void stmatrix_warp(emu_together *const lanes[32]) {
    const auto lane_of = [&](int lane) { return reinterpret_cast<stmatrix_lane *>(lanes[lane]); };
    for (int i = 0; i < COUNT; ++i)
        for (int lane = 0; lane < 32; ++lane)
            for (int j = 0; j < 2; ++j) {
                const int g = lane / 4, pair = 2 * (lane % 4) + j;
                const int row = TRANSPOSED ? pair : g, column = TRANSPOSED ? g : pair;
                const unsigned short half = static_cast<unsigned short>(lane_of(lane)->from[i] >> 16 * j);
                __builtin_memcpy(lane_of(8 * i + row)->row + 2 * column, &half, sizeof half);
            }
}
template <int COUNT, bool TRANSPOSED>
__forceinline__ void stmatrix(char *row, const unsigned (&from)[COUNT], EMU_SITE) {
    if (thread() % 32 < 8 * COUNT && reinterpret_cast<uintptr_t>(row) % 16 != 0)
        emu_fail("stmatrix requires rows that start at multiples of 16 bytes", file, line);
    stmatrix_lane own = {{{"stmatrix", stmatrix_warp<COUNT, TRANSPOSED>}, row}, row, from};
    emu_warp_rows(&own.at, EMU_WRITES, 8 * COUNT, file, line);
}

template <int ROWS, int K> __forceinline__ void mma_double(double *sums, const double *a, const double *b, EMU_SITE) {
    static constexpr emu::product_name NAME("mma.sync", ROWS, 8, K);
    emu::mma_double_lane own = {{NAME.text, emu::mma_warp_double<ROWS, K>}, a, b, sums};
    emu_warp_together(&own.head, file, line);
}

} // namespace emu_ptx

#endif
