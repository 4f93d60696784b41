// Below the seam, GPU side: products by a warpgroup, four warps (PTX: wgmma), on compute capability 9.0 alone. The emulator has a file of
// the same name and meaning.
//
// A warpgroup multiplies 64 x 16 by 16 x N elements of float16 or bfloat16, both in shared memory, and adds to sums in registers. It does
// so asynchronously:
//
//     wgmma_fence();                                      // what registers and shared memory have is final
//     for (...) wgmma<T, N, ...>(sum, a, b, add);         // begins products; they are done one after another
//     wgmma_commit();                                     // those begun since the last commit become a group
//     wgmma_wait<0>();                                    // until at most 0 groups are unfinished: now `sum` may be read
//
// Until then nobody may read or write `sum` or write the operands. Thread t of the warpgroup, with w = t / 32, g = t % 32 / 4:
// sum[4 i + j] is the element of row 16 w + g + (j / 2) * 8 and column 8 i + t % 4 * 2 + j % 2. Sums are rounded as by mma.sync
// (tensor_core.cuh).
//
// Operands lie as TMA writes them with a swizzle of 128 bytes (tensor_copy.cuh), and a descriptor says where:
//
//     contiguous along k:   rows of 64 elements along k, one for each row of A (column of B). Eight rows are 1024 bytes. The next 16
//                           elements along k start 32 bytes further on. TRANSPOSED is false.
//     along the extent:     boxes of 64 rows of A (columns of B); in each, rows of 64 elements along the extent, one for each k. Eight
//                           rows are 1024 bytes; the next 16 along k start 2048 bytes further on. TRANSPOSED is true. `box_bytes`: from
//                           box to box.
#ifndef CK_WGMMA_CUH
#define CK_WGMMA_CUH

#include <stdint.h>

#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// True where wgmma can be compiled. (A build for several chips compiles every kernel for each; the variants that use it are refused on others.)
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CK_HAS_WGMMA 1
#else
#define CK_HAS_WGMMA 0
#endif

// `start`: the operand's first element, in a box that starts at a multiple of 1024 bytes.
__device__ __forceinline__ uint64_t wgmma_descriptor(const void *start, int box_bytes) {
    const uint64_t address = __cvta_generic_to_shared(start), eight_rows = 1024, swizzle_128 = 1;
    return (address & 0x3ffff) >> 4 | static_cast<uint64_t>(box_bytes >> 4) << 16 | eight_rows >> 4 << 32 |
           swizzle_128 << 62;
}

__device__ __forceinline__ void wgmma_fence() {
#if CK_HAS_WGMMA
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void wgmma_commit() {
#if CK_HAS_WGMMA
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

template <int GROUPS> __device__ __forceinline__ void wgmma_wait() {
#if CK_HAS_WGMMA
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory");
#endif
}

// The number of registers per thread of this warpgroup becomes COUNT, a multiple of 8 from 24 to 240. What one warpgroup gives up, another
// can get. Every warp of the warpgroup calls it.
template <int COUNT> __device__ __forceinline__ void give_up_registers() {
#if CK_HAS_WGMMA
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}
template <int COUNT> __device__ __forceinline__ void get_registers() {
#if CK_HAS_WGMMA
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}

// A barrier of some warps of the block: `threads` of them, all lanes of whole warps, meet at barrier `number` (1 to 15; 0 is __syncthreads).
__device__ __forceinline__ void sync_threads_of(int number, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// clang-format off
#define CK_REGISTERS_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define CK_REGISTERS_64 CK_REGISTERS_32 ", " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define CK_REGISTERS_128 CK_REGISTERS_64 ", " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define CK_SUMS_8(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]), "+f"(sum[i + 4]), "+f"(sum[i + 5]), "+f"(sum[i + 6]), "+f"(sum[i + 7])
#define CK_SUMS_32_FROM(i) CK_SUMS_8(i), CK_SUMS_8(i + 8), CK_SUMS_8(i + 16), CK_SUMS_8(i + 24)
#define CK_SUMS_32 CK_SUMS_32_FROM(0)
#define CK_SUMS_64 CK_SUMS_32, CK_SUMS_32_FROM(32)
#define CK_SUMS_128 CK_SUMS_64, CK_SUMS_32_FROM(64), CK_SUMS_32_FROM(96)

// sum += a * b, or sum = a * b if not `add`.
template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED>
__device__ __forceinline__ void wgmma(float (&sum)[N / 2], uint64_t a, uint64_t b, bool add) {
    static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>, "half or bfloat16");
    static_assert(N == 64 || N == 128 || N == 256, "64, 128 or 256 columns");
#if CK_HAS_WGMMA
#define CK_WGMMA(columns, type, registers, a, b, add, a_transposed, b_transposed)                                                 \
    "{\n.reg .pred add;\nsetp.ne.b32 add, " add ", 0;\n"                                                                         \
    "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type " {" registers "}, " a ", " b ", add, 1, 1, "              \
    a_transposed ", " b_transposed ";\n}"
    if constexpr (N == 64) {
        if constexpr (std::is_same_v<T, __half>)
            asm volatile(CK_WGMMA("64", "f16", CK_REGISTERS_32, "%32", "%33", "%34", "%35", "%36")
                         : CK_SUMS_32 : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));
        else
            asm volatile(CK_WGMMA("64", "bf16", CK_REGISTERS_32, "%32", "%33", "%34", "%35", "%36")
                         : CK_SUMS_32 : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));
    }
    if constexpr (N == 128) {
        if constexpr (std::is_same_v<T, __half>)
            asm volatile(CK_WGMMA("128", "f16", CK_REGISTERS_64, "%64", "%65", "%66", "%67", "%68")
                         : CK_SUMS_64 : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));
        else
            asm volatile(CK_WGMMA("128", "bf16", CK_REGISTERS_64, "%64", "%65", "%66", "%67", "%68")
                         : CK_SUMS_64 : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));
    }
    if constexpr (N == 256) {
        if constexpr (std::is_same_v<T, __half>)
            asm volatile(CK_WGMMA("256", "f16", CK_REGISTERS_128, "%128", "%129", "%130", "%131", "%132")
                         : CK_SUMS_128 : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));
        else
            asm volatile(CK_WGMMA("256", "bf16", CK_REGISTERS_128, "%128", "%129", "%130", "%131", "%132")
                         : CK_SUMS_128 : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));
    }
#undef CK_WGMMA
#endif
}

#undef CK_REGISTERS_32
#undef CK_REGISTERS_64
#undef CK_REGISTERS_128
#undef CK_SUMS_8
#undef CK_SUMS_32_FROM
#undef CK_SUMS_32
#undef CK_SUMS_64
#undef CK_SUMS_128
// clang-format on

#endif
