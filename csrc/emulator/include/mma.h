// CUDA's products of small matrices by a warp: nvcuda::wmma.
//
// A fragment's elements are distributed over the lanes in an order of the emulator's own, as CUDA leaves it open:
// lane l holds elements l, l + 32, ... of the matrix, counted by rows. Products of 16-bit numbers and of tf32 are
// rounded as by mma.sync on an H200; sums of halves are rounded to a half at the end. Fragments of 4 bits and of 1
// bit are missing.
#ifndef CUDA_MMA_H
#define CUDA_MMA_H

#include "emulator/device_tensor.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

namespace emulated {
template <typename T> struct stored { using type = T; };
template <> struct stored<precision::tf32> { using type = float; };
template <typename A, typename B> constexpr bool same = std::is_same<A, B>::value;

// Which shapes CUDA has for elements of a type (of A and B, or of sums).
template <int M, int N, int K, typename T> constexpr bool exists() {
    constexpr bool of_16 = (M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32);
    if (same<T, double>) return M == 8 && N == 8 && K == 4;
    if (same<T, precision::tf32>) return M == 16 && N == 16 && K == 8;
    if (same<T, float>) return (of_16 && K == 16) || (M == 16 && N == 16 && K == 8);
    return of_16 && K == 16;
}
} // namespace emulated

template <typename Use, int M, int N, int K, typename T, typename Layout = void> struct fragment {
    static_assert(emulated::exists<M, N, K, T>(), "wmma: there is no fragment of this shape and type");
    static_assert(emulated::same<Use, accumulator> == emulated::same<Layout, void>,
                  "wmma: fragments of A and B have a layout, row_major or col_major, and accumulators have none");
    static constexpr int rows = emulated::same<Use, matrix_b> ? K : M;
    static constexpr int columns = emulated::same<Use, matrix_a> ? K : N;
    static constexpr int num_elements = rows * columns / 32, num_storage_elements = num_elements;
    using element_type = T;
    using storage_element_type = typename emulated::stored<T>::type;
    storage_element_type x[num_elements];
};

template <typename Use, int M, int N, int K, typename T, typename Layout>
__device__ inline void fill_fragment(fragment<Use, M, N, K, T, Layout> &to,
                                     const typename emulated::stored<T>::type &value) {
    for (auto &element : to.x) element = value;
}

namespace emulated {
inline unsigned lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
inline void meet(const char *name, const char *file, int line) { // all lanes of the warp
    emu_together own = {name, [](emu_together *const[32]) {}};
    emu_warp_together(&own, file, line);
}
template <typename Fragment> long long place(int i, unsigned pitch, bool by_rows) {
    const int element = 32 * i + static_cast<int>(lane());
    const long long row = element / Fragment::columns, column = element % Fragment::columns;
    return by_rows ? row * pitch + column : row + column * pitch;
}
template <typename Fragment, typename T>
void load(Fragment &to, const T *from, unsigned pitch, bool by_rows, const char *file, int line) {
    meet("wmma::load_matrix_sync", file, line);
    for (int i = 0; i < Fragment::num_elements; ++i) to.x[i] = from[place<Fragment>(i, pitch, by_rows)];
}

template <typename A, typename B, typename C, typename D> struct operands {
    emu_together head;
    const A *a;
    const B *b;
    const C *c;
    D *d;
    bool saturates;
};
template <typename Fragment> auto element(const Fragment *const all[32], int row, int column) {
    const int at = row * Fragment::columns + column;
    return all[at % 32]->x[at / 32];
}
// One element of the result: `sum` and the products of K elements.
template <typename T, int K, typename Sum, typename S>
Sum add_products(Sum sum, const S *a, const S *b, bool saturates) {
    if constexpr (same<T, double>) {
        for (int k = 0; k < K; ++k) sum = fma(a[k], b[k], sum);
        return sum;
    } else if constexpr (std::is_integral<T>::value) {
        long long total = sum;
        for (int k = 0; k < K; ++k) total += static_cast<int>(a[k]) * static_cast<int>(b[k]);
        if (saturates) total = total > 0x7fffffff ? 0x7fffffff : total < -0x7fffffff - 1 ? -0x7fffffff - 1 : total;
        return static_cast<Sum>(total);
    } else {
        emu::tensor_element left[K], right[K];
        for (int k = 0; k < K; ++k) {
            if constexpr (same<T, precision::tf32>) {
                left[k] = emu::tensor_element_of_tf32(a[k]), right[k] = emu::tensor_element_of_tf32(b[k]);
            } else {
                unsigned short bits[2];
                __builtin_memcpy(&bits[0], &a[k], 2);
                __builtin_memcpy(&bits[1], &b[k], 2);
                left[k] = emu::tensor_element_of<T>(bits[0]), right[k] = emu::tensor_element_of<T>(bits[1]);
            }
        }
        const float total = emu::tensor_sum(static_cast<float>(sum), left, right, K, 1);
        return static_cast<Sum>(total);
    }
}
template <typename A, typename B, typename C, typename D> void multiply(emu_together *const lanes[32]) {
    constexpr int M = A::rows, N = B::columns, K = A::columns;
    using T = typename A::element_type;
    using S = typename A::storage_element_type;
    const A *a[32];
    const B *b[32];
    const C *c[32];
    D *d[32];
    bool saturates = false;
    for (int i = 0; i < 32; ++i) {
        const auto *own = reinterpret_cast<operands<A, B, C, D> *>(lanes[i]);
        a[i] = own->a, b[i] = own->b, c[i] = own->c, d[i] = own->d, saturates = own->saturates;
    }
    S rows[M][K], columns[N][K];
    for (int k = 0; k < K; ++k) {
        for (int i = 0; i < M; ++i) rows[i][k] = element(a, i, k);
        for (int j = 0; j < N; ++j) columns[j][k] = element(b, k, j);
    }
    typename D::storage_element_type result[M][N]; // before any is stored, because d may be c
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j)
            result[i][j] = static_cast<typename D::storage_element_type>(
                add_products<T, K>(element(c, i, j), rows[i], columns[j], saturates));
    for (int at = 0; at < M * N; ++at) d[at % 32]->x[at / 32] = result[at / N][at % N];
}
} // namespace emulated

template <typename Use, int M, int N, int K, typename T, typename Layout>
__device__ inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &to,
                                        const typename emulated::stored<T>::type *from, unsigned pitch, EMU_SITE) {
    emulated::load(to, from, pitch, emulated::same<Layout, row_major>, file, line);
}
template <int M, int N, int K, typename T>
__device__ inline void load_matrix_sync(fragment<accumulator, M, N, K, T> &to, const T *from, unsigned pitch,
                                        layout_t layout, EMU_SITE) {
    emulated::load(to, from, pitch, layout == mem_row_major, file, line);
}
template <int M, int N, int K, typename T>
__device__ inline void store_matrix_sync(T *to, const fragment<accumulator, M, N, K, T> &from, unsigned pitch,
                                         layout_t layout, EMU_SITE) {
    using whole = fragment<accumulator, M, N, K, T>;
    __syncwarp(0xffffffff, file, line); // what was loaded from there has been read
    for (int i = 0; i < whole::num_elements; ++i)
        to[emulated::place<whole>(i, pitch, layout == mem_row_major)] = from.x[i];
}
template <int M, int N, int K, typename T, typename LayoutA, typename LayoutB, typename C, typename D>
__device__ inline void mma_sync(fragment<accumulator, M, N, K, D> &d,
                                const fragment<matrix_a, M, N, K, T, LayoutA> &a,
                                const fragment<matrix_b, M, N, K, T, LayoutB> &b,
                                const fragment<accumulator, M, N, K, C> &c, bool saturates = false, EMU_SITE) {
    using fa = fragment<matrix_a, M, N, K, T, LayoutA>;
    using fb = fragment<matrix_b, M, N, K, T, LayoutB>;
    using fc = fragment<accumulator, M, N, K, C>;
    using fd = fragment<accumulator, M, N, K, D>;
    static constexpr emu::product_name NAME("wmma::mma_sync", M, N, K);
    emulated::operands<fa, fb, fc, fd> own = {
        {NAME.text, emulated::multiply<fa, fb, fc, fd>}, &a, &b, &c, &d, saturates};
    emu_warp_together(&own.head, file, line);
}

// Rounded to 10 bits of fraction, ties away from zero.
__device__ inline float __float_to_tf32(float x) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000) != 0x7f800000) bits = (bits + 0x1000) & ~0x1fffu;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

} // namespace wmma
} // namespace nvcuda

#endif
