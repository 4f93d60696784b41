// Operations of a warp: shuffles, votes, match, reduce. All lanes in the mask take part; see core/warp.c.
#ifndef EMULATOR_DEVICE_WARP_H
#define EMULATOR_DEVICE_WARP_H

#include <string.h>

#include <type_traits>

#include "device_core.h"
#include "device_qualifiers.h"

namespace emu {
template <typename T> __forceinline__ uint64_t to_bits(T value) {
    static_assert(std::is_arithmetic<T>::value && sizeof(T) <= 8,
                  "lanes can exchange only numbers of at most 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <typename T> __forceinline__ T from_bits(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
__forceinline__ uint64_t warp(emu_warp_kind kind, unsigned mask, uint64_t value, const char *file, int line) {
    return emu_warp(kind, mask, value, 0, 32, file, line);
}
} // namespace emu

__device__ __forceinline__ void __syncwarp(unsigned mask = 0xffffffff, EMU_SITE) {
    emu::warp(EMU_SYNCWARP, mask, 0, file, line);
}
__device__ __forceinline__ unsigned __activemask(EMU_SITE) {
    return emu_activemask(file, line);
}

template <typename T>
__device__ __forceinline__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32, EMU_SITE) {
    return emu::from_bits<T>(emu_warp(EMU_SHFL, mask, emu::to_bits(value), lane, width, file, line));
}
template <typename T>
__device__ __forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, EMU_SITE) {
    return emu::from_bits<T>(
        emu_warp(EMU_SHFL_UP, mask, emu::to_bits(value), static_cast<int>(by), width, file, line));
}
template <typename T>
__device__ __forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, EMU_SITE) {
    return emu::from_bits<T>(
        emu_warp(EMU_SHFL_DOWN, mask, emu::to_bits(value), static_cast<int>(by), width, file, line));
}
template <typename T>
__device__ __forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, EMU_SITE) {
    return emu::from_bits<T>(emu_warp(EMU_SHFL_XOR, mask, emu::to_bits(value), lanes, width, file, line));
}

__device__ __forceinline__ int __all_sync(unsigned mask, int predicate, EMU_SITE) {
    return static_cast<int>(emu::warp(EMU_ALL, mask, predicate != 0, file, line));
}
__device__ __forceinline__ int __any_sync(unsigned mask, int predicate, EMU_SITE) {
    return static_cast<int>(emu::warp(EMU_ANY, mask, predicate != 0, file, line));
}
__device__ __forceinline__ unsigned __ballot_sync(unsigned mask, int predicate, EMU_SITE) {
    return static_cast<unsigned>(emu::warp(EMU_BALLOT, mask, predicate != 0, file, line));
}
template <typename T> __device__ __forceinline__ unsigned __match_any_sync(unsigned mask, T value, EMU_SITE) {
    return static_cast<unsigned>(emu::warp(EMU_MATCH_ANY, mask, emu::to_bits(value), file, line));
}
template <typename T>
__device__ __forceinline__ unsigned __match_all_sync(unsigned mask, T value, int *same, EMU_SITE) {
    const unsigned lanes = static_cast<unsigned>(emu::warp(EMU_MATCH_ALL, mask, emu::to_bits(value), file, line));
    *same = lanes != 0;
    return lanes;
}

#define EMU_REDUCE(name, type, kind)                                                                                 \
    __device__ __forceinline__ type __reduce_##name##_sync(unsigned mask, type value, EMU_SITE) {                    \
        return static_cast<type>(emu::warp(kind, mask, static_cast<unsigned>(value), file, line));                   \
    }
EMU_REDUCE(add, unsigned, EMU_REDUCE_ADD)
EMU_REDUCE(add, int, EMU_REDUCE_ADD)
EMU_REDUCE(min, unsigned, EMU_REDUCE_MIN)
EMU_REDUCE(min, int, EMU_REDUCE_MIN_SIGNED)
EMU_REDUCE(max, unsigned, EMU_REDUCE_MAX)
EMU_REDUCE(max, int, EMU_REDUCE_MAX_SIGNED)
EMU_REDUCE(and, unsigned, EMU_REDUCE_AND)
EMU_REDUCE(or, unsigned, EMU_REDUCE_OR)
EMU_REDUCE(xor, unsigned, EMU_REDUCE_XOR)
#undef EMU_REDUCE

// What programs call that were written before Volta: the lanes that run together take part.
#define EMU_SHUFFLE(name, Lanes)                                                                                     \
    template <typename T> __device__ __forceinline__ T name(T value, Lanes lanes, int width = 32, EMU_SITE) {        \
        return name##_sync(emu_activemask(file, line), value, lanes, width, file, line);                             \
    }
EMU_SHUFFLE(__shfl, int)
EMU_SHUFFLE(__shfl_up, unsigned)
EMU_SHUFFLE(__shfl_down, unsigned)
EMU_SHUFFLE(__shfl_xor, int)
#undef EMU_SHUFFLE
#define EMU_VOTE(name, Result)                                                                                       \
    __device__ __forceinline__ Result name(int predicate, EMU_SITE) {                                                \
        return name##_sync(emu_activemask(file, line), predicate, file, line);                                       \
    }
EMU_VOTE(__all, int)
EMU_VOTE(__any, int)
EMU_VOTE(__ballot, unsigned)
#undef EMU_VOTE

#endif
