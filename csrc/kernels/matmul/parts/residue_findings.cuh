// Why the error of "residues_int8" is small, and when it is not: then "tensor_cores_double" computes the product.
//
// A line is scaled by a power of two, so that its norm is as large as possible: by the Cauchy-Schwarz inequality, the
// product of two lines is then below P / 2, and so it is known if it is known modulo P. Elements are rounded to
// integers, which is the only error: at most 1/2 in a line whose norm is at least half of residue_system::norm.
//
// The error of C's element is therefore at most 2 / norm * |a| |b| sqrt(k), where |a| and |b| are norms, and a sum in
// float64 has one that is in proportion to the sum of |a_h b_h|. That sum must be at least RESIDUES_COSINE * |a| |b|,
// for each row and column. There are two proofs:
//
// 1. It is |a| |b| times the cosine of the angle between the magnitudes of a and those of b. Neither is far from the
//    vector of ones if its elements have similar magnitudes: cos = sum |a_h| / (sqrt(k) |a|), 0.8 for normal data,
//    0.87 for uniform. If these angles are A and B, then the angle between a and b is at most A + B. So one sum and
//    one norm of each line tell whether cos(A + B) is large enough.
// 2. Where it is not, because elements of a line differ more, or many are zero, a product of bytes decides: of
//    magnitudes that are rounded down to seven bits, in units of |a| / (16 sqrt(k)) or more. An element of it is at
//    most the sum of |a_h b_h| in these units, so it proves enough if it is at least RESIDUES_COSINE * 256 k.
//
// If neither proves it, "tensor_cores_double" computes the product.
#ifndef CK_MATMUL_RESIDUE_FINDINGS_CUH
#define CK_MATMUL_RESIDUE_FINDINGS_CUH

#include <limits.h>
#include <math.h>

#include <cuda_runtime.h>

namespace matmul {

constexpr float RESIDUES_COSINE = 1.0f / 32;

struct residue_findings {
    // By residues_scale, in A and in B: the largest sin^2 of the angles of its lines, as the bits of a float (whose
    // order is that of integers). 2: a line cannot be scaled, because of an infinity, NaN, or a norm that is not
    // between 2^-400 and 2^400.
    unsigned sine[2];
    int least, wanted; // of the products of magnitudes: by residues_compare, and what proves enough

    __device__ __forceinline__ void clear(int k) {
        sine[0] = sine[1] = 0, least = INT_MAX, wanted = static_cast<int>(RESIDUES_COSINE * 256) * k;
    }
    __device__ __forceinline__ float sine_of(int side) const { return __uint_as_float(sine[side]); }
    __device__ __forceinline__ bool are_similar() const { // the first proof
        const float a = sine_of(0), b = sine_of(1);
        return a <= 1 && b <= 1 && sqrtf((1 - a) * (1 - b)) - sqrtf(a * b) >= RESIDUES_COSINE;
    }
    // Whether the second proof is tried. (In random data, an element of the magnitudes' product is about the product
    // of both cosines: with less, it could not succeed.)
    __device__ __forceinline__ bool are_compared() const {
        const float a = sine_of(0), b = sine_of(1);
        return a <= 1 && b <= 1 && (1 - a) * (1 - b) >= RESIDUES_COSINE * RESIDUES_COSINE && !are_similar();
    }
    __device__ __forceinline__ bool are_good() const { return are_similar() || (are_compared() && least >= wanted); }
};

} // namespace matmul

#endif
