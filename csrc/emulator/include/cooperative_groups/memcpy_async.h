// Copies by a group to shared memory, which its threads wait for later. Each thread copies pieces of up to 16 bytes
// by cp.async: until the wait, the destination contains NaN.
#ifndef EMULATOR_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define EMULATOR_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename Group, typename T>
__device__ void memcpy_async(const Group &group, T *to, const T *from, size_t bytes, EMU_SITE) {
    char *target = reinterpret_cast<char *>(to);
    const char *source = reinterpret_cast<const char *>(from);
    const size_t both = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
    const size_t piece = both % 16 == 0 ? 16 : both % 8 == 0 ? 8 : both % 4 == 0 ? 4 : 1;
    for (size_t at = group.thread_rank() * piece; at < bytes; at += group.size() * piece) {
        if (piece > 1 && emu_is_shared(target))
            emu_copy_async(target + at, source + at, static_cast<int>(piece), static_cast<int>(piece), file, line);
        else
            __builtin_memcpy(target + at, source + at, piece);
    }
    emu_copy_async_commit();
}
// The lengths are those of both arrays, in elements.
template <typename Group, typename T, typename ToLength, typename FromLength>
__device__ void memcpy_async(const Group &group, T *to, const ToLength &to_length, const T *from,
                             const FromLength &from_length, EMU_SITE) {
    const size_t most = to_length, available = from_length;
    memcpy_async(group, to, from, (available < most ? available : most) * sizeof(T), file, line);
}

// Waits until at most the group's last `Copies` copies are unfinished.
template <unsigned Copies, typename Group> __device__ void wait_prior(const Group &group, EMU_SITE) {
    emu_copy_async_wait(static_cast<int>(Copies));
    group.sync(file, line);
}
template <typename Group> __device__ void wait(const Group &group, EMU_SITE) {
    wait_prior<0>(group, file, line);
}

} // namespace cooperative_groups

#endif
