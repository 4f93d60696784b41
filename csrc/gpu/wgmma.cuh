// Below the seam, GPU side: products by a warpgroup, four warps (PTX: wgmma), on compute capability 9.0 alone. The
// emulator has a file of the same name and meaning.
//
// A warpgroup multiplies 64 x K by K x N elements, both in shared memory, and adds to sums in registers. N is 32, 40,
// 56, 64, 80, 112, 128, 192, 208 (only contiguous along k) or 256; with A in registers 32, 64, 128 or 256. K elements
// are 32 bytes:
//
//     T                          K     sums, wgmma_total<T>
//     __half, __nv_bfloat16      16    float, rounded as by mma.sync (tensor_core.cuh)
//     float (tf32)               8     likewise; the low 13 bits of an element are ignored, 11 significant ones count
//     int8_t                     32    int, exact modulo 2^32
//
// It does so asynchronously:
//
//     wgmma_fence();                                      // what registers and shared memory have is final
//     for (...) wgmma<T, N, ...>(sum, a, b, add);         // begins products; they are done one after another
//     wgmma_commit();                                     // those begun since the last commit become a group
//     wgmma_wait<0>();                                    // until no group is unfinished: now `sum` may be read
//
// Until then nobody may read or write `sum` or write the operands. Thread t of the warpgroup, with w = t / 32, g = t
// % 32 / 4: sum[4 i + j] is the element of row 16 w + g + (j / 2) * 8 and column 8 i + t % 4 * 2 + j % 2.
//
// Operands lie as TMA writes them with a swizzle of 128 bytes (tensor_copy.cuh), and a descriptor says where:
//
//     contiguous along k:   rows of 128 bytes along k, one for each row of A (column of B). Eight rows are 1024
//                           bytes. The next K elements along k start 32 bytes further on. TRANSPOSED is false.
//     along the extent:     boxes of 64 rows of A (columns of B); in each, rows of 64 elements along the extent, one
//                           for each k. Eight rows are 1024 bytes; the next 16 along k start 2048 bytes further on.
//                           TRANSPOSED is true, which only 16-bit types allow. `box_bytes`: from box to box. (Numbers
//                           that are no multiples of 64 need a part of the last box.)
#ifndef CK_WGMMA_CUH
#define CK_WGMMA_CUH

#include <stdint.h>

#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// True where wgmma can be compiled. A build for several chips compiles every kernel for each chip, but variants that
// use wgmma are refused on the others. There, such a kernel returns at once, so that the compiler has hardly anything
// to compile.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CK_HAS_WGMMA 1
#else
#define CK_HAS_WGMMA 0
#endif

// The type of the sums of products of T.
template <typename T> using wgmma_total = std::conditional_t<std::is_same_v<T, int8_t>, int, float>;

// `start`: the operand's first element, in a box that starts at a multiple of 1024 bytes.
__device__ __forceinline__ uint64_t wgmma_descriptor(const void *start, int box_bytes) {
    const uint64_t address = __cvta_generic_to_shared(start), eight_rows = 1024, swizzle_128 = 1;
    return (address & 0x3ffff) >> 4 | static_cast<uint64_t>(box_bytes >> 4) << 16 | eight_rows >> 4 << 32 |
           swizzle_128 << 62;
}

// The descriptor of what lies `bytes`, a multiple of 16, after that. (The sum of addresses in shared memory has no
// carry, and an addition of 32 bits takes one instruction instead of two.)
__device__ __forceinline__ uint64_t wgmma_descriptor_after(uint64_t descriptor, int bytes) {
    return (descriptor & ~uint64_t{0xffffffff}) | static_cast<uint32_t>(descriptor + bytes / 16);
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

// The number of registers per thread of this warpgroup becomes COUNT, a multiple of 8 from 24 to 256. What one
// warpgroup gives up, another can get. Every warp of the warpgroup calls it.
template <int COUNT> __device__ __forceinline__ void give_up_registers() {
    static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "a multiple of 8 from 24 to 256");
#if CK_HAS_WGMMA
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}
template <int COUNT> __device__ __forceinline__ void get_registers() {
    static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "a multiple of 8 from 24 to 256");
#if CK_HAS_WGMMA
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}

// A barrier of some warps of the block: `threads` of them, all lanes of whole warps, meet at barrier `number` (1 to
// 15; 0 is __syncthreads).
__device__ __forceinline__ void sync_threads_of(int number, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
// The calling threads count as if they had come there, and go on.
__device__ __forceinline__ void arrive_threads_of(int number, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// clang-format off
#define CK_REGISTERS_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define CK_REGISTERS_20 CK_REGISTERS_16 ", %16, %17, %18, %19"
#define CK_REGISTERS_28 CK_REGISTERS_20 ", %20, %21, %22, %23, %24, %25, %26, %27"
#define CK_REGISTERS_32 CK_REGISTERS_28 ", %28, %29, %30, %31"
#define CK_REGISTERS_40 CK_REGISTERS_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define CK_REGISTERS_56 CK_REGISTERS_40 ", " \
    "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55"
#define CK_REGISTERS_64 CK_REGISTERS_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define CK_REGISTERS_96 CK_REGISTERS_64 ", " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define CK_REGISTERS_104 CK_REGISTERS_96 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define CK_REGISTERS_128 CK_REGISTERS_104 ", " \
    "%104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define CK_SUMS_4(kind, i) kind(sum[i]), kind(sum[i + 1]), kind(sum[i + 2]), kind(sum[i + 3])
#define CK_SUMS_8(kind, i) CK_SUMS_4(kind, i), CK_SUMS_4(kind, i + 4)
#define CK_SUMS_16_FROM(kind, i) CK_SUMS_8(kind, i), CK_SUMS_8(kind, i + 8)
#define CK_SUMS_16(kind) CK_SUMS_16_FROM(kind, 0)
#define CK_SUMS_20(kind) CK_SUMS_16(kind), CK_SUMS_4(kind, 16)
#define CK_SUMS_28(kind) CK_SUMS_20(kind), CK_SUMS_8(kind, 20)
#define CK_SUMS_32_FROM(kind, i) CK_SUMS_8(kind, i), CK_SUMS_8(kind, i + 8), CK_SUMS_8(kind, i + 16), CK_SUMS_8(kind, i + 24)
#define CK_SUMS_32(kind) CK_SUMS_32_FROM(kind, 0)
#define CK_SUMS_40(kind) CK_SUMS_32(kind), CK_SUMS_8(kind, 32)
#define CK_SUMS_56(kind) CK_SUMS_40(kind), CK_SUMS_16_FROM(kind, 40)
#define CK_SUMS_64(kind) CK_SUMS_32(kind), CK_SUMS_32_FROM(kind, 32)
#define CK_SUMS_96(kind) CK_SUMS_64(kind), CK_SUMS_32_FROM(kind, 64)
#define CK_SUMS_104(kind) CK_SUMS_96(kind), CK_SUMS_8(kind, 96)
#define CK_SUMS_128(kind) CK_SUMS_96(kind), CK_SUMS_32_FROM(kind, 96)

// sum += a * b, or sum = a * b if not `add`. float and int8_t have no TRANSPOSED operands.
template <typename T, int N, bool A_TRANSPOSED, bool B_TRANSPOSED>
__device__ __forceinline__ void wgmma(wgmma_total<T> (&sum)[N / 2], uint64_t a, uint64_t b, bool add) {
    constexpr bool halves = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;
    static_assert(halves || std::is_same_v<T, float> || std::is_same_v<T, int8_t>, "half, bfloat16, float or int8_t");
    static_assert(halves || (!A_TRANSPOSED && !B_TRANSPOSED), "operands of this type are contiguous along k");
    static_assert(N != 208 || !B_TRANSPOSED, "208 columns are contiguous along k");
    static_assert(N == 32 || N == 40 || N == 56 || N == 64 || N == 80 || N == 112 || N == 128 || N == 192 || N == 208 || N == 256,
                  "32, 40, 56, 64, 80, 112, 128, 192, 208 or 256 columns");
#if CK_HAS_WGMMA
// `rest` follows the operand `add`: factors 1 (not for integers), and the directions of 16-bit operands.
#define CK_WGMMA(shape_and_types, registers, a, b, add, rest)                                                                     \
    "{\n.reg .pred add;\nsetp.ne.b32 add, " add ", 0;\n"                                                                         \
    "wgmma.mma_async.sync.aligned.m64n" shape_and_types " {" registers "}, " a ", " b ", add" rest ";\n}"
#define CK_OPERANDS "l"(a), "l"(b), "r"(static_cast<int>(add))
#define CK_WGMMA_OF_EVERY_TYPE(columns, registers, sums, a_, b_, add_, rest)                                                      \
    if constexpr (std::is_same_v<T, __half>)                                                                                     \
        asm volatile(CK_WGMMA(columns "k16.f32.f16.f16", registers, a_, b_, add_, rest)                                          \
                     : sums("+f") : CK_OPERANDS, "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));                                          \
    else if constexpr (std::is_same_v<T, __nv_bfloat16>)                                                                         \
        asm volatile(CK_WGMMA(columns "k16.f32.bf16.bf16", registers, a_, b_, add_, rest)                                        \
                     : sums("+f") : CK_OPERANDS, "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));                                          \
    else if constexpr (std::is_same_v<T, float>)                                                                                 \
        asm volatile(CK_WGMMA(columns "k8.f32.tf32.tf32", registers, a_, b_, add_, ", 1, 1") : sums("+f") : CK_OPERANDS);        \
    else                                                                                                                         \
        asm volatile(CK_WGMMA(columns "k32.s32.s8.s8", registers, a_, b_, add_, "") : sums("+r") : CK_OPERANDS)
    if constexpr (N == 32) {
        CK_WGMMA_OF_EVERY_TYPE("32", CK_REGISTERS_16, CK_SUMS_16, "%16", "%17", "%18", ", 1, 1, %19, %20");
    } else if constexpr (N == 40) {
        CK_WGMMA_OF_EVERY_TYPE("40", CK_REGISTERS_20, CK_SUMS_20, "%20", "%21", "%22", ", 1, 1, %23, %24");
    } else if constexpr (N == 56) {
        CK_WGMMA_OF_EVERY_TYPE("56", CK_REGISTERS_28, CK_SUMS_28, "%28", "%29", "%30", ", 1, 1, %31, %32");
    } else if constexpr (N == 64) {
        CK_WGMMA_OF_EVERY_TYPE("64", CK_REGISTERS_32, CK_SUMS_32, "%32", "%33", "%34", ", 1, 1, %35, %36");
    } else if constexpr (N == 80) {
        CK_WGMMA_OF_EVERY_TYPE("80", CK_REGISTERS_40, CK_SUMS_40, "%40", "%41", "%42", ", 1, 1, %43, %44");
    } else if constexpr (N == 112) {
        CK_WGMMA_OF_EVERY_TYPE("112", CK_REGISTERS_56, CK_SUMS_56, "%56", "%57", "%58", ", 1, 1, %59, %60");
    } else if constexpr (N == 128) {
        CK_WGMMA_OF_EVERY_TYPE("128", CK_REGISTERS_64, CK_SUMS_64, "%64", "%65", "%66", ", 1, 1, %67, %68");
    } else if constexpr (N == 192) {
        CK_WGMMA_OF_EVERY_TYPE("192", CK_REGISTERS_96, CK_SUMS_96, "%96", "%97", "%98", ", 1, 1, %99, %100");
    } else if constexpr (N == 208) {
        CK_WGMMA_OF_EVERY_TYPE("208", CK_REGISTERS_104, CK_SUMS_104, "%104", "%105", "%106", ", 1, 1, %107, %108");
    } else {
        CK_WGMMA_OF_EVERY_TYPE("256", CK_REGISTERS_128, CK_SUMS_128, "%128", "%129", "%130", ", 1, 1, %131, %132");
    }
#undef CK_OPERANDS
#undef CK_WGMMA_OF_EVERY_TYPE
#endif
}

// The same with A in registers, for half and bfloat16: a warp has its 16 rows as mma_m16n8k16 takes them
// (tensor_core.cuh). They are read until the wait.
template <typename T, int N, bool B_TRANSPOSED>
__device__ __forceinline__ void wgmma(float (&sum)[N / 2], const unsigned (&a)[4], uint64_t b, bool add) {
    static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>, "half or bfloat16");
    static_assert(N == 32 || N == 64 || N == 128 || N == 256, "32, 64, 128 or 256 columns");
#if CK_HAS_WGMMA
#define CK_OPERANDS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)), "n"(B_TRANSPOSED)
#define CK_WGMMA_OF_BOTH_TYPES(columns, registers, sums, a_, b_, add_, rest)                                                      \
    if constexpr (std::is_same_v<T, __half>)                                                                                     \
        asm volatile(CK_WGMMA(columns "k16.f32.f16.f16", registers, a_, b_, add_, rest) : sums("+f") : CK_OPERANDS);             \
    else                                                                                                                         \
        asm volatile(CK_WGMMA(columns "k16.f32.bf16.bf16", registers, a_, b_, add_, rest) : sums("+f") : CK_OPERANDS)
    if constexpr (N == 32) {
        CK_WGMMA_OF_BOTH_TYPES("32", CK_REGISTERS_16, CK_SUMS_16, "{%16, %17, %18, %19}", "%20", "%21", ", 1, 1, %22");
    } else if constexpr (N == 64) {
        CK_WGMMA_OF_BOTH_TYPES("64", CK_REGISTERS_32, CK_SUMS_32, "{%32, %33, %34, %35}", "%36", "%37", ", 1, 1, %38");
    } else if constexpr (N == 128) {
        CK_WGMMA_OF_BOTH_TYPES("128", CK_REGISTERS_64, CK_SUMS_64, "{%64, %65, %66, %67}", "%68", "%69", ", 1, 1, %70");
    } else {
        CK_WGMMA_OF_BOTH_TYPES("256", CK_REGISTERS_128, CK_SUMS_128, "{%128, %129, %130, %131}", "%132", "%133", ", 1, 1, %134");
    }
#undef CK_WGMMA
#undef CK_OPERANDS
#undef CK_WGMMA_OF_BOTH_TYPES
#endif
}

#undef CK_REGISTERS_16
#undef CK_REGISTERS_20
#undef CK_REGISTERS_28
#undef CK_REGISTERS_32
#undef CK_REGISTERS_40
#undef CK_REGISTERS_56
#undef CK_REGISTERS_64
#undef CK_REGISTERS_96
#undef CK_REGISTERS_104
#undef CK_REGISTERS_128
#undef CK_SUMS_4
#undef CK_SUMS_8
#undef CK_SUMS_16_FROM
#undef CK_SUMS_16
#undef CK_SUMS_20
#undef CK_SUMS_28
#undef CK_SUMS_32_FROM
#undef CK_SUMS_32
#undef CK_SUMS_40
#undef CK_SUMS_56
#undef CK_SUMS_64
#undef CK_SUMS_96
#undef CK_SUMS_104
#undef CK_SUMS_128
// clang-format on

#endif
