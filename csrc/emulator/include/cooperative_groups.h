// Cooperative groups: block, grid, tiles of a warp, and coalesced lanes.
//
// The operations of a tile or coalesced group are the warp's operations with the group's mask. Ranks are counted within
// this mask.
#ifndef EMULATOR_COOPERATIVE_GROUPS_H
#define EMULATOR_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups {

namespace detail {
__device__ __forceinline__ unsigned long long count(dim3 d) {
    return static_cast<unsigned long long>(d.x) * d.y * d.z;
}
__device__ __forceinline__ unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ unsigned lane() {
    return thread_rank() % 32;
}
} // namespace detail

class thread_block {
    thread_block() = default;
    friend __device__ thread_block this_thread_block();

  public:
    __device__ void sync(EMU_SITE) const { emu_sync_block(file, line); }
    __device__ static unsigned thread_rank() { return detail::thread_rank(); }
    __device__ static unsigned size() { return static_cast<unsigned>(detail::count(blockDim)); }
    __device__ static unsigned num_threads() { return size(); }
    __device__ static dim3 group_index() { return dim3(blockIdx); }
    __device__ static dim3 thread_index() { return dim3(threadIdx); }
    __device__ static dim3 group_dim() { return blockDim; }
    __device__ static dim3 dim_threads() { return blockDim; }
};
__device__ inline thread_block this_thread_block() {
    return thread_block();
}

class grid_group {
    grid_group() = default;
    friend __device__ grid_group this_grid();

  public:
    __device__ bool is_valid() const { return emu_is_cooperative() != 0; }
    __device__ void sync(EMU_SITE) const { emu_sync_block_with(EMU_SYNC_GRID, 0, file, line); }
    __device__ unsigned long long block_rank() const {
        return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    __device__ unsigned long long num_blocks() const { return detail::count(gridDim); }
    __device__ unsigned long long thread_rank() const {
        return block_rank() * detail::count(blockDim) + detail::thread_rank();
    }
    __device__ unsigned long long size() const { return num_blocks() * detail::count(blockDim); }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ dim3 dim_blocks() const { return gridDim; }
    __device__ dim3 group_dim() const { return gridDim; }
    __device__ dim3 block_index() const { return dim3(blockIdx); }
};
__device__ inline grid_group this_grid() {
    return grid_group();
}

// `Size` consecutive lanes of one warp.
template <unsigned Size, typename Parent = void> class thread_block_tile {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile must have 1, 2, 4, 8, 16 or 32 lanes");
    unsigned mask = (Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1) << (detail::lane() & ~(Size - 1));

  public:
    __device__ void sync(EMU_SITE) const { __syncwarp(mask, file, line); }
    __device__ static unsigned thread_rank() { return detail::lane() % Size; }
    __device__ static constexpr unsigned size() { return Size; }
    __device__ static constexpr unsigned num_threads() { return Size; }
    __device__ static unsigned meta_group_rank() { return detail::thread_rank() / Size; }
    __device__ static unsigned meta_group_size() {
        return (static_cast<unsigned>(detail::count(blockDim)) + Size - 1) / Size;
    }
    template <typename T> __device__ T shfl(T value, int rank, EMU_SITE) const {
        return __shfl_sync(mask, value, rank, static_cast<int>(Size), file, line);
    }
    template <typename T> __device__ T shfl_up(T value, unsigned by, EMU_SITE) const {
        return __shfl_up_sync(mask, value, by, static_cast<int>(Size), file, line);
    }
    template <typename T> __device__ T shfl_down(T value, unsigned by, EMU_SITE) const {
        return __shfl_down_sync(mask, value, by, static_cast<int>(Size), file, line);
    }
    template <typename T> __device__ T shfl_xor(T value, unsigned with, EMU_SITE) const {
        return __shfl_xor_sync(mask, value, static_cast<int>(with), static_cast<int>(Size), file, line);
    }
    __device__ int any(int predicate, EMU_SITE) const { return __any_sync(mask, predicate, file, line); }
    __device__ int all(int predicate, EMU_SITE) const { return __all_sync(mask, predicate, file, line); }
    __device__ unsigned ballot(int predicate, EMU_SITE) const {
        return __ballot_sync(mask, predicate, file, line) >> (detail::lane() & ~(Size - 1));
    }
    template <typename T> __device__ unsigned match_any(T value, EMU_SITE) const {
        return __match_any_sync(mask, value, file, line) >> (detail::lane() & ~(Size - 1));
    }
    template <typename T> __device__ unsigned match_all(T value, int &same, EMU_SITE) const {
        return __match_all_sync(mask, value, &same, file, line) >> (detail::lane() & ~(Size - 1));
    }
};
template <unsigned Size, typename Parent>
__device__ inline thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
    return {};
}

// The lanes of a warp that called coalesced_threads() together: see emu_activemask.
class coalesced_group {
    unsigned mask;
    explicit coalesced_group(unsigned lanes) : mask(lanes) {}
    friend __device__ __forceinline__ coalesced_group coalesced_threads(const char *file, int line);

    __device__ int lane_of(unsigned rank) const { // the rank-th lane in the mask
        unsigned left = mask;
        while (rank--) left &= left - 1;
        return left ? __builtin_ctz(left) : static_cast<int>(detail::lane());
    }
    __device__ unsigned packed(unsigned lanes) const { // a mask of lanes as a mask of ranks
        unsigned result = 0, rank = 0;
        for (unsigned left = mask; left; left &= left - 1, ++rank)
            result |= (lanes >> __builtin_ctz(left) & 1) << rank;
        return result;
    }

  public:
    __device__ void sync(EMU_SITE) const { __syncwarp(mask, file, line); }
    __device__ unsigned size() const { return static_cast<unsigned>(__popc(mask)); }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const {
        return static_cast<unsigned>(__popc(mask & ((1u << detail::lane()) - 1)));
    }
    template <typename T> __device__ T shfl(T value, unsigned rank, EMU_SITE) const {
        return __shfl_sync(mask, value, lane_of(rank % size()), 32, file, line);
    }
    template <typename T> __device__ T shfl_up(T value, unsigned by, EMU_SITE) const {
        const unsigned rank = thread_rank();
        return __shfl_sync(mask, value, lane_of(rank >= by ? rank - by : rank), 32, file, line);
    }
    template <typename T> __device__ T shfl_down(T value, unsigned by, EMU_SITE) const {
        const unsigned rank = thread_rank();
        return __shfl_sync(mask, value, lane_of(rank + by < size() ? rank + by : rank), 32, file, line);
    }
    __device__ int any(int predicate, EMU_SITE) const { return __any_sync(mask, predicate, file, line); }
    __device__ int all(int predicate, EMU_SITE) const { return __all_sync(mask, predicate, file, line); }
    __device__ unsigned ballot(int predicate, EMU_SITE) const {
        return packed(__ballot_sync(mask, predicate, file, line));
    }
    template <typename T> __device__ unsigned match_any(T value, EMU_SITE) const {
        return packed(__match_any_sync(mask, value, file, line));
    }
};
// Always inlined, because the core distinguishes calls by their instruction.
__device__ __forceinline__ coalesced_group coalesced_threads(EMU_SITE) {
    return coalesced_group(emu_activemask(file, line));
}

template <typename Group> __device__ inline void sync(const Group &group, EMU_SITE) {
    group.sync(file, line);
}
template <typename Group> __device__ inline auto thread_rank(const Group &group) {
    return group.thread_rank();
}
template <typename Group> __device__ inline auto group_size(const Group &group) {
    return group.size();
}

} // namespace cooperative_groups

#endif
