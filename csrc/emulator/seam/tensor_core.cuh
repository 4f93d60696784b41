// A warp's operations on small matrices (PTX: ldmatrix, stmatrix and mma.sync): here the emulator's; csrc/gpu has a
// file of the same name and meaning, which explains the functions and which element is in which register.
//
// Sums are rounded as an H200 rounds them, bit by bit (tests/test_tensor_core.py compares with recorded results).
#ifndef EMULATOR_TENSOR_CORE_CUH
#define EMULATOR_TENSOR_CORE_CUH

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace emu {

// An element of an operand: its value, and the exponent that the hardware aligns by (of a subnormal number that of
// the smallest normal one).
struct tensor_element {
    float value;
    int exponent;
};
__forceinline__ int float_exponent(float x) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    const int biased = static_cast<int>(bits >> 23 & 255);
    return (biased ? biased : 1) - 127;
}
template <typename T> __forceinline__ tensor_element tensor_element_of(unsigned bits) { // 16 bits of a register
    T element;
    const unsigned short half = static_cast<unsigned short>(bits);
    __builtin_memcpy(static_cast<void *>(&element), &half, sizeof element);
    const float value = static_cast<float>(element);
    const int exponent = float_exponent(value), least = std::is_same<T, __half>::value ? -14 : -126;
    return {value, exponent < least ? least : exponent};
}
__forceinline__ tensor_element tensor_element_of_tf32(float x) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    bits &= ~0x1fffu;
    __builtin_memcpy(&x, &bits, sizeof x);
    return {x, float_exponent(x)};
}
// A power of two whose exponent is that of a normal double.
__forceinline__ double power_of_two(int exponent) {
    const uint64_t bits = static_cast<uint64_t>(1023 + exponent) << 52;
    double power;
    __builtin_memcpy(&power, &bits, sizeof power);
    return power;
}
// From 2^128 on infinite. A number that is cut off to zero becomes positive.
__forceinline__ float cut_off_to_float(double x) {
    if (fabs(x) < 0x1p-126) return static_cast<float>(static_cast<int>(x * 0x1p149)) * 0x1p-149f;
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    bits &= ~UINT64_C(0x1fffffff);
    __builtin_memcpy(&x, &bits, sizeof x);
    return static_cast<float>(x);
}

// sum + the products, as a tensor core adds them.
__forceinline__ float tensor_sum(float sum, const tensor_element *a, const tensor_element *b, int count, int b_step) {
    double products[16], special = sum;
    int largest = -133; // the smallest exponent that the hardware aligns to
    if (sum != 0) largest = float_exponent(sum);
    for (int i = 0; i < count; ++i) {
        const tensor_element &left = a[i], &right = b[i * b_step];
        products[i] = static_cast<double>(left.value) * static_cast<double>(right.value);
        special += products[i];
        if (products[i] != 0 && left.exponent + right.exponent > largest) largest = left.exponent + right.exponent;
    }
    if (!isfinite(special)) { // the largest finite sum is far below the largest double
        float result = static_cast<float>(special);
        const unsigned not_a_number = 0x7fffffff;
        if (isnan(special)) __builtin_memcpy(&result, &not_a_number, sizeof result);
        return result;
    }
    const double unit = power_of_two(largest - 25), per_unit = power_of_two(25 - largest);
    long long total = static_cast<long long>(static_cast<double>(sum) * per_unit);
    for (int i = 0; i < count; ++i) total += static_cast<long long>(products[i] * per_unit);
    return cut_off_to_float(static_cast<double>(total) * unit);
}

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
    emu::mma_lane<unsigned, 4, 2> own = {{"mma.sync", emu::mma_warp_16<T>}, a, b, sum};
    emu_warp_together(&own.head, file, line);
}

__device__ __forceinline__ void mma_m16n8k8_tf32(float (&sum)[4], const float (&a)[4], const float (&b)[2],
                                                 EMU_SITE) {
    emu::mma_lane<float, 4, 2> own = {{"mma.sync", emu::mma_warp_tf32}, a, b, sum};
    emu_warp_together(&own.head, file, line);
}

template <int K>
__device__ __forceinline__ void mma_m16n8_double(double (&sum)[4], const double (&a)[K / 2], const double (&b)[K / 4],
                                                 EMU_SITE) {
    static_assert(K == 4 || K == 8 || K == 16, "4, 8 or 16 steps along k");
    emu::mma_double_lane own = {{"mma.sync", emu::mma_warp_double<16, K>}, a, b, sum};
    emu_warp_together(&own.head, file, line);
}

__device__ __forceinline__ void mma_m8n8k4_double(double (&sum)[2], double a, double b, EMU_SITE) {
    emu::mma_double_lane own = {{"mma.sync", emu::mma_warp_double<8, 4>}, &a, &b, sum};
    emu_warp_together(&own.head, file, line);
}

#endif
