// Compensated summation (Kahan): a second variable holds what the previous addition rounded off.
//
// `owed` is the amount by which the running sum is too small, with the opposite sign. It is subtracted from the next
// product, and the difference is added to the sum; then (sum_after - sum_before) + owed is exactly what this addition
// lost. The error of the whole sum stays at about two roundings for any length. The price is four operations per
// product instead of one. No compiler may reorder them, and neither build uses fast-math. Complex numbers are
// compensated separately in the real and the imaginary part. Integers are never rounded, so their sum is a plain one.
#ifndef CK_COMPENSATED_CUH
#define CK_COMPENSATED_CUH

#include <stdint.h>

#include <type_traits>

#include <cuda_runtime.h>

struct truth; // element.cuh
template <typename T> constexpr bool sums_are_exact = std::is_integral_v<T> || std::is_same_v<T, truth>;

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

// The sum. If a product is infinite, inf - inf makes the correction NaN, and with it the whole sum. The products are
// then added again without compensation, which gives the same infinity or NaN as in NumPy. This is rare, so the
// second pass over a row of A and a column of B costs nothing in general.
template <typename T, typename Row, typename Column>
__device__ __forceinline__ T compensated_result(const kahan_sum<T> &total, const Row &a_row, const Column &b_column,
                                                int64_t k) {
    if (total.sum == total.sum) return total.sum;
    T sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += a_row[i] * b_column[i];
    return sum;
}

#endif
