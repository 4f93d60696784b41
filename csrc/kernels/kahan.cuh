// Compensated summation (Kahan): a second word carries what the addition before rounded away.
//
// `owed` is what the running sum still lacks, with its sign turned: a product is taken off it, the result is taken
// off the sum, and (sum_after - sum_before) + owed is exactly what that subtraction lost. The error of the whole sum
// stays about two roundings, however long it is. It costs four operations a product where a plain sum needs one, and
// no compiler may reorder them: neither build uses fast-math.
#ifndef CK_KAHAN_CUH
#define CK_KAHAN_CUH

#include <stdint.h>

#include <cuda_runtime.h>

template <typename T> struct kahan_sum {
    T sum = 0;
    T owed = 0;

    __device__ __forceinline__ void add_product(T a, T b) {
        owed -= a * b;
        const T next = sum - owed;
        owed = (next - sum) + owed;
        sum = next;
    }
};

// One element of A * B added plainly: `a` points to a row of A, `b` to a column of B whose elements are ldb apart.
template <typename T>
__device__ __noinline__ T plain_product(const T *__restrict__ a, const T *__restrict__ b, int64_t ldb, int64_t k) {
    T sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += a[i] * b[i * ldb];
    return sum;
}

// The sum, or, where an infinity went in (inf - inf made the correction NaN, and so all that followed), what plain
// addition gives: the infinity or NaN that NumPy gives too. Rare, so the second walk costs nothing in general.
template <typename T>
__device__ __forceinline__ T compensated_result(const kahan_sum<T> &total, const T *a, const T *b, int64_t ldb,
                                                int64_t k) {
    return total.sum == total.sum ? total.sum : plain_product(a, b, ldb, k);
}

#endif
