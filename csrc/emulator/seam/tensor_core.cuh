// A warp's operations on small matrices (PTX: ldmatrix, stmatrix and mma.sync): here the emulator's; csrc/gpu has a
// file of the same name and meaning, which explains the functions and which element is in which register.
//
// (The arithmetic: emulator/device_tensor.h.)
#ifndef EMULATOR_TENSOR_CORE_CUH
#define EMULATOR_TENSOR_CORE_CUH

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "emulator/device_tensor.h"

namespace emu {

struct ldmatrix_lane {
    emu_together_row at;
    unsigned *to;
};
template <int COUNT, bool TRANSPOSED> void ldmatrix_warp(emu_together *const lanes[32]) {
    const auto lane_of = [&](int lane) { return reinterpret_cast<ldmatrix_lane *>(lanes[lane]); };
    for (int i = 0; i < COUNT; ++i)
        for (int lane = 0; lane < 32; ++lane) {
            const int g = lane / 4, t = lane % 4;
            unsigned short pair[2];
            for (int j = 0; j < 2; ++j) {
                const int row = TRANSPOSED ? 2 * t + j : g, column = TRANSPOSED ? g : 2 * t + j;
                __builtin_memcpy(&pair[j], static_cast<const char *>(lane_of(8 * i + row)->at.row) + 2 * column, 2);
            }
            lane_of(lane)->to[i] = static_cast<unsigned>(pair[1]) << 16 | pair[0];
        }
}

struct stmatrix_lane {
    emu_together_row at;
    char *row;
    const unsigned *from;
};
inline void stmatrix_warp(emu_together *const lanes[32]) {
    const auto lane_of = [&](int lane) { return reinterpret_cast<stmatrix_lane *>(lanes[lane]); };
    for (int i = 0; i < 4; ++i)
        for (int lane = 0; lane < 32; ++lane)
            __builtin_memcpy(lane_of(8 * i + lane / 4)->row + lane % 4 * 4, &lane_of(lane)->from[i], 4);
}

template <typename Element, int A, int B> struct mma_lane { // Element: what a register holds; A, B: registers
    emu_together head;
    const Element *a, *b;
    float *sum;
};

// All of sum += a * b: get_a(row, k) and get_b(k, column) are elements, 16 x COUNT and COUNT x 8.
template <int COUNT, typename Lane, typename GetA, typename GetB>
__forceinline__ void multiply_warp(emu_together *const lanes[32], GetA get_a, GetB get_b) {
    tensor_element a[16][COUNT], b[COUNT][8];
    for (int k = 0; k < COUNT; ++k) {
        for (int row = 0; row < 16; ++row) a[row][k] = get_a(row, k);
        for (int column = 0; column < 8; ++column) b[k][column] = get_b(k, column);
    }
    for (int lane = 0; lane < 32; ++lane) {
        float *sum = reinterpret_cast<Lane *>(lanes[lane])->sum;
        for (int i = 0; i < 4; ++i)
            sum[i] = tensor_sum(sum[i], a[lane / 4 + i / 2 * 8], &b[0][lane % 4 * 2 + i % 2], COUNT, 8);
    }
}

template <typename T> void mma_warp_16(emu_together *const lanes[32]) {
    using lane_operands = mma_lane<unsigned, 4, 2>;
    const auto lane_of = [&](int lane) { return reinterpret_cast<lane_operands *>(lanes[lane]); };
    multiply_warp<16, lane_operands>(
        lanes,
        [&](int row, int k) {
            const unsigned word = lane_of(row % 8 * 4 + k % 8 / 2)->a[row / 8 + k / 8 * 2];
            return tensor_element_of<T>(word >> k % 2 * 16);
        },
        [&](int k, int column) {
            const unsigned word = lane_of(column * 4 + k % 8 / 2)->b[k / 8];
            return tensor_element_of<T>(word >> k % 2 * 16);
        });
}

inline void mma_warp_tf32(emu_together *const lanes[32]) {
    using lane_operands = mma_lane<float, 4, 2>;
    const auto lane_of = [&](int lane) { return reinterpret_cast<lane_operands *>(lanes[lane]); };
    multiply_warp<8, lane_operands>(
        lanes,
        [&](int row, int k) { return tensor_element_of_tf32(lane_of(row % 8 * 4 + k % 4)->a[row / 8 + k / 4 * 2]); },
        [&](int k, int column) { return tensor_element_of_tf32(lane_of(column * 4 + k % 4)->b[k / 4]); });
}

struct mma_double_lane {
    emu_together head;
    const double *a, *b;
    double *sum;
};
// fma; of several NaN, the same one comes out as on an H200.
__forceinline__ double tensor_fma(double a, double b, double sum) {
    const double result = fma(a, b, sum);
    if (!isnan(result)) return result;
    double first = isnan(b) ? b : isnan(sum) ? sum : a;
    uint64_t bits;
    __builtin_memcpy(&bits, &first, sizeof bits);
    bits = isnan(first) ? bits | UINT64_C(0x0008000000000000) : UINT64_C(0xfff8000000000000);
    __builtin_memcpy(&first, &bits, sizeof bits);
    return first;
}
template <int ROWS, int COUNT> void mma_warp_double(emu_together *const lanes[32]) {
    const auto lane_of = [&](int lane) { return reinterpret_cast<mma_double_lane *>(lanes[lane]); };
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < ROWS / 4; ++i) {
            const int column = lane % 4 * 2 + i % 2;
            const auto a = [&](int k) { return lane_of(lane / 4 * 4 + k % 4)->a[i / 2 + k / 4 * 2]; };
            const auto b = [&](int k) { return lane_of(column * 4 + k % 4)->b[k / 4]; };
            double &sum = lane_of(lane)->sum[i], total = sum;
            for (int k = 0; k < COUNT; ++k) total = fma(a(k), b(k), total);
            if (isnan(total))
                for (int k = 0; k < COUNT; ++k) sum = tensor_fma(a(k), b(k), sum);
            else
                sum = total;
        }
}

} // namespace emu

template <int COUNT, bool TRANSPOSED>
__device__ __forceinline__ void ldmatrix(unsigned (&to)[COUNT], const void *row, EMU_SITE) {
    static_assert(COUNT == 1 || COUNT == 2 || COUNT == 4, "1, 2 or 4 matrices");
    if (threadIdx.x % 32 < 8 * COUNT && reinterpret_cast<uintptr_t>(row) % 16 != 0)
        emu_fail("ldmatrix requires rows that start at multiples of 16 bytes", file, line);
    emu::ldmatrix_lane own = {{{"ldmatrix", emu::ldmatrix_warp<COUNT, TRANSPOSED>}, row}, to};
    emu_warp_rows(&own.at, EMU_READS, 8 * COUNT, file, line);
}

__device__ __forceinline__ void stmatrix(void *row, const unsigned (&from)[4], EMU_SITE) {
    if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
        emu_fail("stmatrix requires rows that start at multiples of 16 bytes", file, line);
    emu::stmatrix_lane own = {{{"stmatrix", emu::stmatrix_warp}, row}, static_cast<char *>(row), from};
    emu_warp_rows(&own.at, EMU_WRITES, 32, file, line);
}

template <typename T>
__device__ __forceinline__ void mma_m16n8k16(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                                             EMU_SITE) {
    static_assert(std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value, "half or bfloat16");
    static constexpr emu::product_name NAME("mma.sync", 16, 8, 16);
    emu::mma_lane<unsigned, 4, 2> own = {{NAME.text, emu::mma_warp_16<T>}, a, b, sum};
    emu_warp_together(&own.head, file, line);
}

__device__ __forceinline__ void mma_m16n8k8_tf32(float (&sum)[4], const float (&a)[4], const float (&b)[2],
                                                 EMU_SITE) {
    static constexpr emu::product_name NAME("mma.sync", 16, 8, 8);
    emu::mma_lane<float, 4, 2> own = {{NAME.text, emu::mma_warp_tf32}, a, b, sum};
    emu_warp_together(&own.head, file, line);
}

template <int K>
__device__ __forceinline__ void mma_m16n8_double(double (&sum)[4], const double (&a)[K / 2], const double (&b)[K / 4],
                                                 EMU_SITE) {
    static_assert(K == 4 || K == 8 || K == 16, "4, 8 or 16 steps along k");
    static constexpr emu::product_name NAME("mma.sync", 16, 8, K);
    emu::mma_double_lane own = {{NAME.text, emu::mma_warp_double<16, K>}, a, b, sum};
    emu_warp_together(&own.head, file, line);
}

__device__ __forceinline__ void mma_m8n8k4_double(double (&sum)[2], double a, double b, EMU_SITE) {
    static constexpr emu::product_name NAME("mma.sync", 8, 8, 4);
    emu::mma_double_lane own = {{NAME.text, emu::mma_warp_double<8, 4>}, &a, &b, sum};
    emu_warp_together(&own.head, file, line);
}

#endif
