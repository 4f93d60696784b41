// Products by a warpgroup (PTX: wgmma): here the emulator's; csrc/gpu has a file of the same name and meaning, which explains
// the functions, and where operands and sums lie.
//
// A product is computed in the wait that must cover it, and reads shared memory then; until then its sums contain NaN. So a
// missing wait, or an operand that is overwritten too early, gives a wrong result. Sums are rounded as by mma.sync
// (tensor_core.cuh). A missing wgmma_fence or fence_async_proxy is not noticed.
#ifndef EMULATOR_WGMMA_CUH
#define EMULATOR_WGMMA_CUH

#include <stdint.h>

#include <type_traits>

#include "cuda_runtime.h"

#include "tensor_core.cuh"

#define CK_HAS_WGMMA 1

namespace emu {

// A descriptor: bits 0-43 are an address divided by 16, so `descriptor + bytes / 16` works as on the GPU; bits 44-57 are
// box_bytes / 16, and the rest is a mark.
enum : uint64_t { WGMMA_MARK = 0x2d };
__forceinline__ uintptr_t wgmma_start(uint64_t descriptor) {
    return (descriptor & 0xfffffffffff) << 4;
}
__forceinline__ size_t wgmma_box(uint64_t descriptor) {
    return (descriptor >> 44 & 0x3fff) << 4;
}

// What is at the address that the layout says, with a swizzle of 128 bytes: 16 bytes from a multiple of 16.
__forceinline__ const unsigned short *swizzled(uintptr_t address) {
    return reinterpret_cast<const unsigned short *>(address ^ (address >> 7 & 7) << 4);
}

// Elements of an operand as numbers and exponents, ordered by k, then by the extent. A product of zeros and others must not
// count when the largest exponent is searched, so zeros have a very small one.
enum { WGMMA_NO_EXPONENT = -10000 };
template <int EXTENT> struct wgmma_operand {
    alignas(64) float value[16][EXTENT];
    alignas(64) short exponent[16][EXTENT];
};

template <typename T, int EXTENT>
__forceinline__ void wgmma_put(wgmma_operand<EXTENT> &to, int k, int i, unsigned short bits) {
    const tensor_element element = tensor_element_of<T>(bits);
    to.value[k][i] = element.value;
    to.exponent[k][i] = static_cast<short>(element.value == 0 ? WGMMA_NO_EXPONENT : element.exponent);
}

// Elements `first` ... first + EXTENT - 1 along the extent.
template <typename T, bool TRANSPOSED, int EXTENT>
void wgmma_read(wgmma_operand<EXTENT> &to, uint64_t descriptor, int first) {
    const uintptr_t start = wgmma_start(descriptor);
    for (int outer = 0; outer < (TRANSPOSED ? 16 : EXTENT); ++outer)
        for (int inner = 0; inner < (TRANSPOSED ? EXTENT : 16); inner += 8) {
            const int i = first + (TRANSPOSED ? inner : outer);
            const uintptr_t offset =
                TRANSPOSED ? i / 64 * wgmma_box(descriptor) + outer * 128 + i % 64 * 2 : i * 128 + inner * 2;
            const unsigned short *bits = swizzled(start + offset);
            for (int j = 0; j < 8; ++j)
                wgmma_put<T>(to, TRANSPOSED ? outer : inner + j, TRANSPOSED ? inner + j : outer, bits[j]);
        }
}

template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED>
void wgmma_multiply(const emu_product *product, float *sums, int part, void *scratch) {
    struct operands {
        wgmma_operand<16> a;
        wgmma_operand<N> b;
    };
    static_assert(sizeof(operands) <= EMU_PRODUCT_SCRATCH, "the core's buffer");
    operands &x = *static_cast<operands *>(scratch);
    wgmma_read<T, A_TRANSPOSED>(x.a, product->a, 16 * part);
    wgmma_read<T, B_TRANSPOSED>(x.b, product->b, 0);
    if (!product->add) memset(sums, 0, 16 * N * sizeof *sums);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < N; ++column) {
            tensor_element a[16], b[16];
            for (int k = 0; k < 16; ++k) {
                a[k] = {x.a.value[k][row], x.a.exponent[k][row]};
                b[k] = {x.b.value[k][column], x.b.exponent[k][column]};
            }
            sums[row * N + column] = tensor_sum(sums[row * N + column], a, b, 16, 1);
        }
}

struct wgmma_lane {
    emu_together head;
    emu_product product;
    float *sums;
    const char *file;
    int line;
};
inline void wgmma_warp(emu_together *const lanes[32]) {
    float *sums[32];
    const wgmma_lane *first = reinterpret_cast<const wgmma_lane *>(lanes[0]);
    for (int lane = 0; lane < 32; ++lane) {
        const wgmma_lane *own = reinterpret_cast<const wgmma_lane *>(lanes[lane]);
        sums[lane] = own->sums;
        if (own->product.a != first->product.a || own->product.b != first->product.b ||
            own->product.add != first->product.add)
            emu_fail("all lanes of a warp must pass the same operands to wgmma", own->file, own->line);
    }
    emu_product_begin(&first->product, sums, first->file, first->line);
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
inline void wgmma_fence_warp(emu_together *const[32]) {}

} // namespace emu

__device__ __forceinline__ uint64_t wgmma_descriptor(const void *start, int box_bytes, EMU_SITE) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(start);
    if (address % 16 != 0 || box_bytes % 16 != 0 || box_bytes < 0 || box_bytes >= 1 << 18)
        emu_fail("wgmma_descriptor requires an address and a distance of boxes that are multiples of 16 bytes", file,
                 line);
    return address >> 4 | static_cast<uint64_t>(box_bytes >> 4) << 44 | emu::WGMMA_MARK << 58;
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

template <int COUNT> __device__ __forceinline__ void give_up_registers() {
    static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 240, "a multiple of 8 from 24 to 240");
}
template <int COUNT> __device__ __forceinline__ void get_registers() {
    static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 240, "a multiple of 8 from 24 to 240");
}

__device__ __forceinline__ void sync_threads_of(int number, int threads, EMU_SITE) {
    emu_sync_part(number, threads, file, line);
}

template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED>
__device__ __forceinline__ void wgmma(float (&sum)[N / 2], uint64_t a, uint64_t b, bool add, EMU_SITE) {
    static_assert(std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value, "half or bfloat16");
    static_assert(N == 64 || N == 128 || N == 256, "64, 128 or 256 columns");
    if (a >> 58 != emu::WGMMA_MARK || b >> 58 != emu::WGMMA_MARK)
        emu_fail("wgmma requires operands that wgmma_descriptor describes", file, line);
    emu::wgmma_lane own = {{"wgmma", emu::wgmma_warp},
                           {emu::wgmma_multiply<T, N, A_TRANSPOSED, B_TRANSPOSED>, a, b, N, add},
                           sum,
                           file,
                           line};
    emu_warp_together(&own.head, file, line);
}

#endif
