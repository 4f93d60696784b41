// Why the error of "residues_int8" is small, and when it is not: then "tensor_cores_double" computes the product.
//
// A line is scaled by a power of two, so that its norm is as large as possible: by the Cauchy-Schwarz inequality, the
// product of two lines is then below P / 2, and so it is known if it is known modulo P. Elements are rounded to
// integers, which is the only error: at most 1/2 in a line whose norm is at least half of residue_system::norm.
//
// The error of C's element is therefore at most 2 / norm * |a| |b| sqrt(k), where |a| and |b| are norms, and a sum in
// float64 has one that is in proportion to the sum of |a_h b_h|. Is that as large? It is |a| |b| times the cosine of
// the angle between the magnitudes of a and those of b. Neither is far from the vector of ones if its elements have
// similar magnitudes: cos = sum |a_h| / (sqrt(k) |a|), 0.8 for normal data, 0.87 for uniform. If these angles are A
// and B, then the angle between a and b is at most A + B. So one sum and one norm of each line tell whether the
// product is as accurate as it must be; where cos(A + B) is below RESIDUES_COSINE, because some elements are much
// larger than the others in their line, "tensor_cores_double" computes the product.
#ifndef CK_MATMUL_RESIDUE_FINDINGS_CUH
#define CK_MATMUL_RESIDUE_FINDINGS_CUH

#include <math.h>

#include <cuda_runtime.h>

namespace matmul {

constexpr float RESIDUES_COSINE = 1.0f / 32;

// What residues_scale finds in A and in B: the largest sin^2 of the angles of its lines, as the bits of a float
// (whose order is that of integers). 2: something has no such integers: an infinity, NaN, or a norm near the limits
// of a double.
struct residue_findings {
    unsigned sine[2];

    __device__ __forceinline__ bool are_good() const {
        const float a = __uint_as_float(sine[0]), b = __uint_as_float(sine[1]);
        return a <= 1 && b <= 1 && sqrtf((1 - a) * (1 - b)) - sqrtf(a * b) >= RESIDUES_COSINE;
    }
};

} // namespace matmul

#endif
