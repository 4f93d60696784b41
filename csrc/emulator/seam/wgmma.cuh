// Products by a warpgroup (PTX: wgmma): here the emulator's; csrc/gpu has a file of the same name and meaning, which
// explains the functions, and where operands and sums lie.
//
// A product is computed in the wait that covers it, when no other thread can go on, and reads shared memory then;
// until then its sums contain NaN (integers: -1). So a missing wait gives a wrong result (NaN), and so does a missing
// fence_async_proxy or an operand that is overwritten too early (core/proxy.c). A missing wgmma_fence is an error.
// Sums are rounded as by mma.sync (tensor_core.cuh).
#ifndef EMULATOR_WGMMA_CUH
#define EMULATOR_WGMMA_CUH

#include <stdint.h>
#include <stdlib.h>

#include <type_traits>

#include "cuda_runtime.h"

#include "tensor_core.cuh"

#define CK_HAS_WGMMA 1

namespace emu {

// A descriptor: bits 0-43 are an address divided by 16, so `descriptor + bytes / 16` works as on the GPU; bits 44-57
// are box_bytes / 16, and the rest is a mark.
enum : uint64_t { WGMMA_MARK = 0x2d };
struct wgmma_place {
    uintptr_t start, view; // where the operand begins, in shared memory and in what asynchronous operations see
    size_t box;            // from box to box

    __forceinline__ explicit wgmma_place(uint64_t descriptor)
        : start((descriptor & 0xfffffffffff) << 4),
          view(reinterpret_cast<uintptr_t>(emu_proxy_view(reinterpret_cast<const void *>(start)))),
          box((descriptor >> 44 & 0x3fff) << 4) {}

    // What is seen of the 16 bytes that the layout has at that distance, with a swizzle of 128 bytes.
    template <typename T> __forceinline__ void read(T (&to)[16 / sizeof(T)], size_t distance) const {
        const uintptr_t there = (view + distance) ^ ((view + distance) >> 7 & 7) << 4, here = there - view + start;
        __builtin_memcpy(to, reinterpret_cast<const void *>(there), 16);
        if (memcmp(to, reinterpret_cast<const void *>(here), 16)) memset(to, 0xff, 16);
    }
};

// An operand, ordered by k, then by the extent (rows of A, columns of B): its elements, and the exponents that the
// hardware aligns by. When the largest exponent of the products is searched, those of zeros must not count, so zeros
// have a very small one. `tame`: products of such elements and their exponents are ordinary floats.
constexpr short WGMMA_NO_EXPONENT = -10000, WGMMA_TAME = 50, WGMMA_LARGEST = 60;
template <int EXTENT, int K> struct wgmma_operand {
    alignas(64) float value[K][EXTENT];
    alignas(64) short exponent[K][EXTENT];
    alignas(64) unsigned short bits[K][EXTENT]; // of 16-bit types
    bool tame;
};

typedef float floats_4 __attribute__((vector_size(16)));
typedef int ints_4 __attribute__((vector_size(16)));
typedef short shorts_8 __attribute__((vector_size(16)));
typedef unsigned short shorts_4 __attribute__((vector_size(8)));

template <typename To, typename From> __forceinline__ To read_as(const From *from) {
    To to;
    __builtin_memcpy(&to, from, sizeof to);
    return to;
}

// Elements `first` ... first + EXTENT - 1 along the extent.
template <bool TRANSPOSED, int EXTENT>
__forceinline__ void wgmma_read_bits(wgmma_operand<EXTENT, 16> &to, uint64_t descriptor, int first) {
    const wgmma_place place(descriptor);
    for (int outer = 0; outer < (TRANSPOSED ? 16 : EXTENT); ++outer)
        for (int inner = 0; inner < (TRANSPOSED ? EXTENT : 16); inner += 8) {
            const unsigned i = static_cast<unsigned>(first + (TRANSPOSED ? inner : outer));
            const unsigned k = static_cast<unsigned>(TRANSPOSED ? outer : inner);
            unsigned short bits[8];
            place.read(bits, TRANSPOSED ? i / 64 * place.box + k * 128 + i % 64 * 2 : i * 128 + k * 2);
            if (TRANSPOSED)
                __builtin_memcpy(&to.bits[outer][inner], bits, 16);
            else
                for (int j = 0; j < 8; ++j) to.bits[inner + j][outer] = bits[j];
        }
}

// The values and exponents of to.bits.
template <typename T, int EXTENT> __forceinline__ void wgmma_convert(wgmma_operand<EXTENT, 16> &to) {
    constexpr bool is_half = std::is_same<T, __half>::value;
    constexpr short fraction = is_half ? 10 : 7, bias = is_half ? 15 : 127, highest = is_half ? 15 : WGMMA_LARGEST;
    shorts_8 wild = {};
    for (int k = 0; k < 16; ++k)
        for (int i = 0; i < EXTENT; i += 8) {
            const shorts_8 magnitude = read_as<shorts_8>(&to.bits[k][i]) & 0x7fff, zero = {}, one = zero + 1;
            shorts_8 exponent = magnitude >> fraction;
            exponent = (exponent > one ? exponent : one) - bias;
            wild |= (magnitude != zero) & ((exponent > highest) | (exponent < zero - WGMMA_TAME));
            exponent = magnitude == zero ? zero + WGMMA_NO_EXPONENT : exponent;
            __builtin_memcpy(&to.exponent[k][i], &exponent, sizeof exponent);
            for (int j = i; j < i + 8; j += 4) {
                const ints_4 bits = __builtin_convertvector(read_as<shorts_4>(&to.bits[k][j]), ints_4);
                floats_4 value;
                if (is_half) { // with the other bias; this is also right for subnormal numbers
                    const ints_4 word = (bits & 0x7fff) << 13;
                    value = read_as<floats_4>(&word) * 0x1p112f;
                    const ints_4 sign_too = read_as<ints_4>(&value) | (bits & 0x8000) << 16;
                    value = read_as<floats_4>(&sign_too);
                } else {
                    const ints_4 word = bits << 16;
                    value = read_as<floats_4>(&word);
                }
                __builtin_memcpy(&to.value[k][j], &value, sizeof value);
            }
        }
    to.tame = true;
    for (int i = 0; i < 8; ++i) to.tame = to.tame && !wild[i];
    if (to.tame || !is_half) return;
    for (int k = 0; k < 16; ++k) // infinity and NaN
        for (int i = 0; i < EXTENT; ++i) to.value[k][i] = tensor_element_of<T>(to.bits[k][i]).value;
}

template <typename T, bool TRANSPOSED, int EXTENT>
__forceinline__ void wgmma_read(wgmma_operand<EXTENT, 16> &to, uint64_t descriptor, int first) {
    wgmma_read_bits<TRANSPOSED>(to, descriptor, first);
    wgmma_convert<T>(to);
}

// tf32, contiguous along k.
template <typename T, bool TRANSPOSED, int EXTENT>
__forceinline__ void wgmma_read(wgmma_operand<EXTENT, 8> &to, uint64_t descriptor, int first) {
    const wgmma_place place(descriptor);
    to.tame = true;
    for (int i = 0; i < EXTENT; ++i)
        for (int k = 0; k < 8; k += 4) {
            float four[4];
            place.read(four, static_cast<unsigned>((first + i) * 128 + k * 4));
            for (int j = 0; j < 4; ++j) {
                const tensor_element element = tensor_element_of_tf32(four[j]);
                const bool zero = element.value == 0;
                to.value[k + j][i] = element.value;
                to.exponent[k + j][i] = zero ? WGMMA_NO_EXPONENT : static_cast<short>(element.exponent);
                to.tame = to.tame && (zero || (element.exponent >= -WGMMA_TAME && element.exponent <= WGMMA_LARGEST));
            }
        }
}

// One sum of one row of a and one column of b, by tensor_sum.
template <int N, int K>
__forceinline__ float wgmma_sum(float sum, const wgmma_operand<16, K> &a, int row, const wgmma_operand<N, K> &b,
                                int column) {
    tensor_element left[K], right[K];
    for (int k = 0; k < K; ++k) {
        left[k] = {a.value[k][row], a.exponent[k][row]};
        right[k] = {b.value[k][column], b.exponent[k][column]};
    }
    return tensor_sum(sum, left, right, K, 1);
}

// Eight neighboring sums as tensor_sum computes them, if everything is tame; returns false, if not. Each product fits
// into 27 bits of units, which are two bits below the last bit of a float of the largest exponent.
template <int N, int K>
__forceinline__ bool wgmma_sum_8(float *sums, const wgmma_operand<16, K> &a, int row, const wgmma_operand<N, K> &b,
                                 int column) {
    short exponents[8];
    for (int i = 0; i < 8; ++i) {
        unsigned bits;
        __builtin_memcpy(&bits, &sums[i], sizeof bits);
        if ((bits >> 23 & 255) == 255) return false;
        exponents[i] = static_cast<short>(bits << 1 == 0 ? WGMMA_NO_EXPONENT : float_exponent(sums[i]));
    }
    const shorts_8 of_sums = read_as<shorts_8>(exponents);
    shorts_8 of_products = read_as<shorts_8>(&b.exponent[0][column]) + a.exponent[0][row];
    for (int k = 1; k < K; ++k) {
        const shorts_8 exponent = read_as<shorts_8>(&b.exponent[k][column]) + a.exponent[k][row];
        of_products = exponent > of_products ? exponent : of_products;
    }
    const shorts_8 largest = of_products > of_sums ? of_products : of_sums;
    __builtin_memcpy(exponents, &largest, sizeof exponents);
    for (int i = 0; i < 8; ++i) {
        if (exponents[i] >= -2 * WGMMA_TAME) continue;
        unsigned bits;
        __builtin_memcpy(&bits, &sums[i], sizeof bits);
        if (exponents[i] > -1000 || bits) return false;
        exponents[i] = 0; // nothing but zeros
    }
    // Zeros are most of a tile that a small matrix does not fill, and of the pieces of short numbers.
    const shorts_8 nonzero = of_products > -1000;
    uint64_t any[2];
    __builtin_memcpy(any, &nonzero, sizeof any);
    if (!(any[0] | any[1])) return true;
    for (int half = 0; half < 8; half += 4) {
        ints_4 scale_bits = {};
        for (int i = 0; i < 4; ++i) scale_bits[i] = (127 + 25 - exponents[half + i]) << 23;
        const floats_4 scale = read_as<floats_4>(&scale_bits);
        ints_4 totals[2] = {__builtin_convertvector(read_as<floats_4>(sums + half) * scale, ints_4), ints_4{}};
        for (int part = 0; part < K / 8; ++part) {
            ints_4 total = totals[part]; // in a register
            for (int k = 8 * part; k < 8 * part + 8; ++k) {
                const floats_4 product = read_as<floats_4>(&b.value[k][column + half]) * a.value[k][row];
                total += __builtin_convertvector(product * scale, ints_4);
            }
            totals[part] = total;
        }
        for (int i = 0; i < 4; ++i) {
            const double total = static_cast<double>(totals[0][i]) + static_cast<double>(totals[1][i]);
            sums[half + i] = cut_off_to_float(total * power_of_two(exponents[half + i] - 25));
        }
    }
    return true;
}

template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED, bool A_IN_REGISTERS = false>
void wgmma_multiply(const emu_product *product, void *to, int part, void *scratch) {
    constexpr int K = 32 / sizeof(T);
    struct operands {
        wgmma_operand<16, K> a;
        wgmma_operand<N, K> b;
    };
    static_assert(sizeof(operands) <= EMU_PRODUCT_SCRATCH, "the core's buffer");
    operands &x = *static_cast<operands *>(scratch);
    float *const sums = static_cast<float *>(to);
    if constexpr (A_IN_REGISTERS) {
        for (int k = 0; k < 16; ++k)
            for (int row = 0; row < 16; ++row) x.a.bits[k][row] = product->a_rows[row][k];
        wgmma_convert<T>(x.a);
    } else {
        wgmma_read<T, A_TRANSPOSED>(x.a, product->a, 16 * part);
    }
    wgmma_read<T, B_TRANSPOSED>(x.b, product->b, 0);
    if (!product->add) memset(sums, 0, 16 * N * sizeof *sums);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < N; column += 8) {
            float *first = sums + row * N + column;
            if (x.a.tame && x.b.tame && wgmma_sum_8(first, x.a, row, x.b, column)) continue;
            for (int i = 0; i < 8; ++i) first[i] = wgmma_sum(first[i], x.a, row, x.b, column + i);
        }
}

// 32 neighbors along k, as 16-bit integers, which the compiler multiplies and adds in pairs.
__forceinline__ void wgmma_read_integers(short (&to)[32], uint64_t descriptor, int row) {
    const wgmma_place place(descriptor);
    for (int k = 0; k < 32; k += 16) {
        signed char half[16];
        place.read(half, static_cast<unsigned>(row * 128 + k));
        for (int j = 0; j < 16; ++j) to[k + j] = half[j];
    }
}
template <int N> void wgmma_multiply_integers(const emu_product *product, void *to, int part, void *scratch) {
    struct operands {
        alignas(64) short a[16][32], b[N][32];
    };
    static_assert(sizeof(operands) <= EMU_PRODUCT_SCRATCH, "the core's buffer");
    operands &x = *static_cast<operands *>(scratch);
    unsigned *const sums = static_cast<unsigned *>(to); // they wrap
    for (int row = 0; row < 16; ++row) wgmma_read_integers(x.a[row], product->a, 16 * part + row);
    for (int column = 0; column < N; ++column) wgmma_read_integers(x.b[column], product->b, column);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < N; ++column) {
            int total = 0;
            for (int k = 0; k < 32; ++k) total += x.a[row][k] * x.b[column][k];
            unsigned &sum = sums[row * N + column];
            sum = (product->add ? sum : 0) + static_cast<unsigned>(total);
        }
}

// The function that computes a product of elements of type T.
template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED> constexpr auto wgmma_function() {
    if constexpr (std::is_same<T, int8_t>::value)
        return wgmma_multiply_integers<N>;
    else
        return wgmma_multiply<T, N, A_TRANSPOSED, B_TRANSPOSED>;
}

struct wgmma_lane {
    emu_together head;
    emu_product product;
    void *sums;
    const char *file;
    int line;
    const unsigned *a; // four registers, or NULL: A is in shared memory
};
inline void wgmma_warp(emu_together *const lanes[32]) {
    void *sums[32];
    const wgmma_lane *first = reinterpret_cast<const wgmma_lane *>(lanes[0]);
    for (int lane = 0; lane < 32; ++lane) {
        const wgmma_lane *own = reinterpret_cast<const wgmma_lane *>(lanes[lane]);
        sums[lane] = own->sums;
        if (own->product.a != first->product.a || own->product.b != first->product.b ||
            own->product.add != first->product.add)
            emu_fail("all lanes of a warp must pass the same operands to wgmma", own->file, own->line);
    }
    emu_product product = first->product;
    for (int lane = 0; first->a && lane < 32; ++lane)
        for (int i = 0; i < 4; ++i) // two neighbors along k each
            __builtin_memcpy(&product.a_rows[lane / 4 + i % 2 * 8][lane % 4 * 2 + i / 2 * 8],
                             &reinterpret_cast<const wgmma_lane *>(lanes[lane])->a[i], 4);
    emu_product_begin(&product, sums, first->file, first->line);
}

struct wgmma_wait_lane {
    emu_together head;
    int groups;
};
inline void wgmma_wait_warp(emu_together *const lanes[32]) {
    emu_product_wait(reinterpret_cast<const wgmma_wait_lane *>(lanes[0])->groups);
}
inline void wgmma_commit_warp(emu_together *const[32]) {
    emu_product_commit();
}
inline void wgmma_fence_warp(emu_together *const[32]) {
    emu_product_fence();
}

struct registers_lane {
    emu_together head;
    const char *file;
    int line;
};
template <int COUNT, bool MORE> void registers_warp(emu_together *const lanes[32]) {
    const registers_lane *first = reinterpret_cast<const registers_lane *>(lanes[0]);
    emu_registers(COUNT, MORE, first->file, first->line);
}

} // namespace emu

__device__ __forceinline__ uint64_t wgmma_descriptor(const void *start, int box_bytes, EMU_SITE) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(start);
    if (address % 16 != 0 || box_bytes % 16 != 0 || box_bytes < 0 || box_bytes >= 1 << 18)
        emu_fail("wgmma_descriptor requires an address and a distance between boxes that are multiples of 16 bytes",
                 file, line);
    return address >> 4 | static_cast<uint64_t>(box_bytes >> 4) << 44 | emu::WGMMA_MARK << 58;
}

__device__ __forceinline__ uint64_t wgmma_descriptor_after(uint64_t descriptor, int bytes, EMU_SITE) {
    if (bytes % 16 != 0) emu_fail("wgmma_descriptor_after requires a multiple of 16 bytes", file, line);
    return descriptor + static_cast<uint64_t>(bytes / 16);
}

__device__ __forceinline__ void wgmma_fence(EMU_SITE) {
    emu_together own = {"wgmma_fence", emu::wgmma_fence_warp};
    emu_warp_together(&own, file, line);
}

__device__ __forceinline__ void wgmma_commit(EMU_SITE) {
    emu_together own = {"wgmma_commit", emu::wgmma_commit_warp};
    emu_warp_together(&own, file, line);
}

template <int GROUPS> __device__ __forceinline__ void wgmma_wait(EMU_SITE) {
    emu::wgmma_wait_lane own = {{"wgmma_wait", emu::wgmma_wait_warp}, GROUPS};
    emu_warp_together(&own.head, file, line);
}

template <int COUNT> __device__ __forceinline__ void give_up_registers(EMU_SITE) {
    static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "a multiple of 8 from 24 to 256");
    emu::registers_lane own = {{"give_up_registers", emu::registers_warp<COUNT, false>}, file, line};
    emu_warp_together(&own.head, file, line);
}
template <int COUNT> __device__ __forceinline__ void get_registers(EMU_SITE) {
    static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "a multiple of 8 from 24 to 256");
    emu::registers_lane own = {{"get_registers", emu::registers_warp<COUNT, true>}, file, line};
    emu_warp_together(&own.head, file, line);
}

__device__ __forceinline__ void sync_threads_of(int number, int threads, EMU_SITE) {
    emu_sync_part(number, threads, file, line);
}
__device__ __forceinline__ void arrive_threads_of(int number, int threads, EMU_SITE) {
    emu_arrive_part(number, threads, file, line);
}

template <typename T> using wgmma_total = typename std::conditional<std::is_same<T, int8_t>::value, int, float>::type;

template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED>
__device__ __forceinline__ void wgmma(wgmma_total<T> (&sum)[N / 2], uint64_t a, uint64_t b, bool add, EMU_SITE) {
    constexpr bool halves = std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value;
    static_assert(halves || std::is_same<T, float>::value || std::is_same<T, int8_t>::value,
                  "half, bfloat16, float or int8_t");
    static_assert(halves || (!A_TRANSPOSED && !B_TRANSPOSED), "operands of this type are contiguous along k");
    static_assert(N != 208 || !B_TRANSPOSED, "208 columns are contiguous along k");
    static_assert(N == 32 || N == 40 || N == 56 || N == 64 || N == 80 || N == 112 || N == 128 || N == 192 ||
                      N == 208 || N == 256,
                  "32, 40, 56, 64, 80, 112, 128, 192, 208 or 256 columns");
    if (a >> 58 != emu::WGMMA_MARK || b >> 58 != emu::WGMMA_MARK)
        emu_fail("wgmma requires operands that wgmma_descriptor describes", file, line);
    static constexpr emu::product_name NAME("wgmma", 64, N, 32 / sizeof(T));
    emu::wgmma_lane own = {{NAME.text, emu::wgmma_warp},
                           {emu::wgmma_function<T, N, A_TRANSPOSED, B_TRANSPOSED>(),
                            a,
                            b,
                            N,
                            add,
                            sizeof(T),
                            A_TRANSPOSED,
                            B_TRANSPOSED,
                            {}},
                           sum,
                           file,
                           line,
                           nullptr};
    emu_warp_together(&own.head, file, line);
}

template <typename T, int N, bool B_TRANSPOSED>
__device__ __forceinline__ void wgmma(float (&sum)[N / 2], const unsigned (&a)[4], uint64_t b, bool add, EMU_SITE) {
    static_assert(std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value, "half or bfloat16");
    static_assert(N == 32 || N == 64 || N == 128 || N == 256, "32, 64, 128 or 256 columns");
    if (b >> 58 != emu::WGMMA_MARK)
        emu_fail("wgmma requires an operand b that wgmma_descriptor describes", file, line);
    static constexpr emu::product_name NAME("wgmma", 64, N, 32 / sizeof(T));
    emu::wgmma_lane own = {
        {NAME.text, emu::wgmma_warp},
        {emu::wgmma_multiply<T, N, false, B_TRANSPOSED, true>, 0, b, N, add, sizeof(T), false, B_TRANSPOSED, {}},
        sum,
        file,
        line,
        a};
    emu_warp_together(&own.head, file, line);
}

#endif
