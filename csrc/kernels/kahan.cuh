// Compensated summation (Kahan): a second word keeps what the previous addition rounded away.
//
// `owed` is what the running sum still lacks, with the opposite sign: it is subtracted from a product, the difference is
// added to the sum, and (sum_after - sum_before) + owed is exactly what that addition lost. The error of the whole sum
// stays about two roundings, however long it is. It costs four operations per product where a plain sum needs one, and
// no compiler may reorder them: neither build uses fast-math. Complex numbers are compensated part by part. Where
// nothing is rounded (integers), nothing is owed, and the sum is a plain one.
#ifndef CK_KAHAN_CUH
#define CK_KAHAN_CUH

#include <stdint.h>

#include <type_traits>

#include <cuda_runtime.h>

template <typename T> constexpr bool sums_are_exact = std::is_integral_v<T>;

template <typename T, bool EXACT = sums_are_exact<T>> struct kahan_sum {
    T sum = 0;
    T owed = 0;

    __device__ __forceinline__ void add_product(T a, T b) {
        owed -= a * b;
        const T next = sum - owed;
        owed = (next - sum) + owed;
        sum = next;
    }
};

template <typename T> struct kahan_sum<T, true> {
    T sum = 0;

    __device__ __forceinline__ void add_product(T a, T b) { sum += a * b; }
};

// The sum, or, where an infinity went in (inf - inf made the correction NaN, and so all that followed), what plain
// addition gives: the infinity or NaN that NumPy gives too. Rare, so the second walk along a row of A and a column of
// B costs nothing in general.
template <typename T, typename Row, typename Column>
__device__ __forceinline__ T compensated_result(const kahan_sum<T> &total, const Row &a_row, const Column &b_column,
                                                int64_t k) {
    if (total.sum == total.sum) return total.sum;
    T sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += a_row[i] * b_column[i];
    return sum;
}

#endif
