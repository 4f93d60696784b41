// Below the seam, GPU side: a warp's operations on small matrices (PTX: ldmatrix and mma.sync), from compute
// capability 8.0 on. The emulator has a file of the same name and meaning (csrc/emulator/seam/tensor_core.cuh).
//
// All 32 lanes of a warp take part. In what follows, g = lane / 4 and t = lane % 4. A result of 16 x 8 elements lies
// in four registers per lane:
//
//     sum[0], sum[1]   row g,     columns 2 t, 2 t + 1
//     sum[2], sum[3]   row g + 8, columns 2 t, 2 t + 1
//
// 16-bit types (m16n8k16)            tf32 (m16n8k8)      double (m16n8k4, k8, k16)
//     a[0]  row g,     k 2t, 2t+1        row g,     k t        a[2 i]      row g,     k t + 4 i
//     a[1]  row g + 8, k 2t, 2t+1        row g + 8, k t        a[2 i + 1]  row g + 8, k t + 4 i
//     a[2]  row g,     k 2t+8, 2t+9      row g,     k t + 4
//     a[3]  row g + 8, k 2t+8, 2t+9      row g + 8, k t + 4
//     b[0]  k 2t, 2t+1,   column g       k t,     column g     b[i]        k t + 4 i, column g
//     b[1]  k 2t+8, 2t+9, column g       k t + 4, column g
//
// How sums are rounded (measured on an H200, tests/test_tensor_core.py): the products and the sum so far are cut off
// two bits below the last bit of a float that has the largest of their exponents, added exactly, and the result is
// cut off to a float. (The exponent of a product counts as the sum of its factors' exponents; the largest is -133 or
// more.) From 2^128 on the result is infinite. A zero is positive, and NaN is 0x7fffffff. double: fma after fma in
// the order of k; of several NaN, that of b comes out, or else of the sum.
#ifndef CK_TENSOR_CORE_CUH
#define CK_TENSOR_CORE_CUH

#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Loads COUNT (1, 2 or 4) matrices of 8 x 8 16-bit elements from shared memory. Lane 8 i + r passes the address of
// row r of matrix i, a multiple of 16. Register i of lane (g, t) gets row g, columns 2 t and 2 t + 1 of matrix i;
// TRANSPOSED: rows 2 t and 2 t + 1, column g.
template <int COUNT, bool TRANSPOSED>
__device__ __forceinline__ void ldmatrix(unsigned (&to)[COUNT], const void *row) {
    static_assert(COUNT == 1 || COUNT == 2 || COUNT == 4, "1, 2 or 4 matrices");
#if __CUDA_ARCH__ >= 800
    const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (COUNT == 4 && TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    else if constexpr (COUNT == 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    else if constexpr (COUNT == 2 && TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(to[0]), "=r"(to[1])
                     : "r"(from)
                     : "memory");
    else if constexpr (COUNT == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(to[0]), "=r"(to[1])
                     : "r"(from)
                     : "memory");
    else if constexpr (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                     : "=r"(to[0])
                     : "r"(from)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(to[0]) : "r"(from) : "memory");
#else
    __trap(); // a variant that uses it is refused on this chip
#endif
}

// The opposite of ldmatrix<4, false>, from compute capability 9.0 on: stores four matrices of 8 x 8 elements.
__device__ __forceinline__ void stmatrix(void *row, const unsigned (&from)[4]) {
#if __CUDA_ARCH__ >= 900
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(from[0]),
                 "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
#else
    __trap();
#endif
}

// sum += a * b for half or bfloat16 elements, two per register: 16 x 16 by 16 x 8.
template <typename T>
__device__ __forceinline__ void mma_m16n8k16(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, __half>) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
        static_assert(std::is_same_v<T, __nv_bfloat16>, "half or bfloat16");
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
#else
    __trap();
#endif
}

// The same for floats of which 19 bits count (tf32; the 13 lowest bits are ignored): 16 x 8 by 8 x 8.
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&sum)[4], const float (&a)[4], const float (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
                   "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
#else
    __trap();
#endif
}

// The same for doubles: 16 x K by K x 8 with K = 4, 8 or 16, from compute capability 9.0 on.
template <int K>
__device__ __forceinline__ void mma_m16n8_double(double (&sum)[4], const double (&a)[K / 2],
                                                 const double (&b)[K / 4]) {
    static_assert(K == 4 || K == 8 || K == 16, "4, 8 or 16 steps along k");
#if __CUDA_ARCH__ >= 900
    if constexpr (K == 4)
        asm volatile(
            "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
            : "d"(a[0]), "d"(a[1]), "d"(b[0]));
    else if constexpr (K == 8)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%0, %1, %2, %3};"
                     : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                     : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
    else
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
            "%11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
            : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
              "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
    __trap();
#endif
}

// The same from compute capability 8.0 on: 8 x 4 by 4 x 8. a: row g, k t; b: k t, column g; sum: row g, columns 2 t,
// 2 t + 1.
__device__ __forceinline__ void mma_m8n8k4_double(double (&sum)[2], double a, double b) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(sum[0]), "+d"(sum[1])
                 : "d"(a), "d"(b));
#else
    __trap();
#endif
}

#endif
