// The arithmetic of tensor cores: how a sum of products is aligned and rounded, bit by bit as an H200 does it
// (tests/test_tensor_core.py compares with recorded results).
#ifndef EMULATOR_DEVICE_TENSOR_H
#define EMULATOR_DEVICE_TENSOR_H

#include <math.h>
#include <stdint.h>

#include <type_traits>

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "../cuda_runtime.h"

namespace emu {

// The name of a product of matrices with its shape, as the counters read it: "mma.sync.m16n8k16".
struct product_name {
    char text[40] = {};
    constexpr product_name(const char *kind, int m, int n, int k) {
        const int sizes[3] = {m, n, k};
        int end = 0;
        while (*kind) text[end++] = *kind++;
        text[end++] = '.';
        for (int i = 0; i < 3; ++i) {
            text[end++] = "mnk"[i];
            for (int digit = 100; digit; digit /= 10)
                if (sizes[i] >= digit) text[end++] = static_cast<char>('0' + sizes[i] / digit % 10);
        }
    }
};

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

} // namespace emu

#endif
