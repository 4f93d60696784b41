// Cooperative groups: block, cluster, grid, tiles, coalesced lanes, and partitions of these.
//
// A group within a warp is a mask of lanes, and its operations are the warp's operations with this mask
// (core/warp.c), so lanes that never arrive are reported in the same way. Ranks are counted within the mask. A tile
// of several warps uses a numbered barrier of the block.
#ifndef EMULATOR_COOPERATIVE_GROUPS_H
#define EMULATOR_COOPERATIVE_GROUPS_H

#include <type_traits>
#include <utility>

#include "cuda_runtime.h"

namespace cooperative_groups {
namespace __v1 { // CUDA's name, by which CCCL declares groups before they are defined

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
__device__ __forceinline__ unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__device__ __forceinline__ unsigned below(unsigned bits) { // a mask of the lowest bits
    return bits >= 32 ? 0xffffffffu : (1u << bits) - 1;
}

// Values of any type are exchanged as words of 8 bytes.
template <typename T> struct words {
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 32,
                  "threads can exchange only trivially copyable types of at most 32 bytes");
    enum : int { COUNT = (sizeof(T) + 7) / 8 };
    uint64_t word[COUNT];

    explicit words(const T &value) : word{} {
        __builtin_memcpy(word, static_cast<const void *>(&value), sizeof value);
    }
    T value(T like) const {
        __builtin_memcpy(static_cast<void *>(&like), word, sizeof like);
        return like;
    }
};
template <typename T>
__device__ T shuffle(emu_warp_kind kind, unsigned mask, const T &value, int argument, int width, const char *file,
                     int line) {
    words<T> exchanged(value);
    for (uint64_t &word : exchanged.word) word = emu_warp(kind, mask, word, argument, width, file, line);
    return exchanged.value(value);
}

enum group_kind : unsigned { LANES = 1, GRID = 3, BLOCK = 4, CLUSTER = 6 };
__device__ __forceinline__ void sync_cluster(const char *file, int line) {
    emu_cluster_arrive(file, line);
    emu_cluster_wait(file, line);
}
} // namespace detail

// Any group, for functions that take all kinds.
class thread_group {
    unsigned kind;

  protected:
    unsigned mask = 0, meta_rank = 0, meta_size = 1; // of lanes

    explicit thread_group(detail::group_kind of) : kind(of) {}
    thread_group(unsigned lanes, unsigned rank, unsigned groups)
        : kind(detail::LANES), mask(lanes), meta_rank(rank), meta_size(groups) {}
    friend __device__ thread_group tiled_partition(const thread_group &, unsigned, const char *, int);

  public:
    __device__ void sync(EMU_SITE) const {
        if (kind == detail::LANES)
            __syncwarp(mask, file, line);
        else if (kind == detail::GRID)
            emu_sync_block_with(EMU_SYNC_GRID, 0, file, line);
        else if (kind == detail::CLUSTER)
            detail::sync_cluster(file, line);
        else
            emu_sync_block(file, line);
    }
    __device__ unsigned long long size() const {
        if (kind == detail::LANES) return static_cast<unsigned>(__popc(mask));
        if (kind == detail::CLUSTER) return static_cast<unsigned>(emu_cluster_size()) * detail::count(blockDim);
        return kind == detail::GRID ? detail::count(gridDim) * detail::count(blockDim) : detail::count(blockDim);
    }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ unsigned long long thread_rank() const {
        if (kind == detail::LANES) return static_cast<unsigned>(__popc(mask & detail::below(detail::lane())));
        const unsigned long long before = kind == detail::GRID      ? detail::block_rank()
                                          : kind == detail::CLUSTER ? static_cast<unsigned>(emu_cluster_rank())
                                                                    : 0;
        return before * detail::count(blockDim) + detail::thread_rank();
    }
    __device__ unsigned get_type() const { return kind; }
};

// What tiles of several warps need on a GPU. The emulator has memory of its own for them.
template <unsigned MaxBlockSize = 1024> struct block_tile_memory { char unused; };

class thread_block : public thread_group {
    thread_block() : thread_group(detail::BLOCK) {}
    friend __device__ thread_block this_thread_block();

  public:
    struct arrival_token {};

    __device__ static void sync(EMU_SITE) { emu_sync_block(file, line); }
    // Threads meet in barrier_wait.
    __device__ static arrival_token barrier_arrive() { return {}; }
    __device__ static void barrier_wait(arrival_token &&, EMU_SITE) { emu_sync_block(file, line); }
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
template <unsigned MaxBlockSize> __device__ inline thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) {
    return this_thread_block();
}

class cluster_group : public thread_group {
    cluster_group() : thread_group(detail::CLUSTER) {}
    friend __device__ cluster_group this_cluster();

  public:
    struct arrival_token {};

    __device__ static void sync(EMU_SITE) { detail::sync_cluster(file, line); }
    __device__ static arrival_token barrier_arrive(EMU_SITE) {
        emu_cluster_arrive(file, line);
        return {};
    }
    __device__ static void barrier_wait(EMU_SITE) { emu_cluster_wait(file, line); }
    __device__ static void barrier_wait(arrival_token &&, EMU_SITE) { emu_cluster_wait(file, line); }
    __device__ static unsigned block_rank() { return static_cast<unsigned>(emu_cluster_rank()); }
    __device__ static unsigned num_blocks() { return static_cast<unsigned>(emu_cluster_size()); }
    __device__ static unsigned num_threads() { return num_blocks() * thread_block::size(); }
    __device__ static unsigned size() { return num_threads(); }
    __device__ static unsigned thread_rank() { return block_rank() * thread_block::size() + detail::thread_rank(); }
    template <typename T> __device__ static T *map_shared_rank(T *address, int rank, EMU_SITE) {
        return static_cast<T *>(emu_cluster_map(address, rank, file, line));
    }
};
__device__ inline cluster_group this_cluster() {
    return cluster_group();
}

class grid_group : public thread_group {
    grid_group() : thread_group(detail::GRID) {}
    friend __device__ grid_group this_grid();

  public:
    struct arrival_token {};

    __device__ bool is_valid() const { return emu_is_cooperative() != 0; }
    __device__ void sync(EMU_SITE) const { emu_sync_block_with(EMU_SYNC_GRID, 0, file, line); }
    __device__ arrival_token barrier_arrive() const { return {}; }
    __device__ void barrier_wait(arrival_token &&, EMU_SITE) const { sync(file, line); }
    __device__ static unsigned long long block_rank() { return detail::block_rank(); }
    __device__ static unsigned long long num_blocks() { return detail::count(gridDim); }
    __device__ static unsigned long long thread_rank() {
        return block_rank() * detail::count(blockDim) + detail::thread_rank();
    }
    __device__ static unsigned long long size() { return num_blocks() * detail::count(blockDim); }
    __device__ static unsigned long long num_threads() { return size(); }
    __device__ static dim3 dim_blocks() { return gridDim; }
    __device__ static dim3 group_dim() { return gridDim; }
    __device__ static dim3 block_index() { return dim3(blockIdx); }
    __device__ static dim3 dim_threads() {
        return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
    }
    __device__ static dim3 thread_index() {
        return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                    blockIdx.z * blockDim.z + threadIdx.z);
    }
};
__device__ inline grid_group this_grid() {
    return grid_group();
}

namespace detail {
// `Size` consecutive lanes of one warp.
template <unsigned Size> class tile {
    static_assert((Size & (Size - 1)) == 0, "the size of a tile must be a power of two");
    static_assert(Size >= 1 && Size <= 32, "");

  public:
    __device__ static unsigned lanes() { return below(Size) << first(); } // (not in CUDA)
    __device__ static unsigned first() { return lane() & ~(Size - 1); }

    __device__ static void sync(EMU_SITE) { __syncwarp(lanes(), file, line); }
    __device__ static unsigned thread_rank() { return lane() % Size; }
    __device__ static constexpr unsigned size() { return Size; }
    __device__ static constexpr unsigned num_threads() { return Size; }
    template <typename T> __device__ T shfl(T value, int rank, EMU_SITE) const {
        return shuffle(EMU_SHFL, lanes(), value, rank, Size, file, line);
    }
    template <typename T> __device__ T shfl_up(T value, unsigned by, EMU_SITE) const {
        return shuffle(EMU_SHFL_UP, lanes(), value, static_cast<int>(by), Size, file, line);
    }
    template <typename T> __device__ T shfl_down(T value, unsigned by, EMU_SITE) const {
        return shuffle(EMU_SHFL_DOWN, lanes(), value, static_cast<int>(by), Size, file, line);
    }
    template <typename T> __device__ T shfl_xor(T value, unsigned with, EMU_SITE) const {
        return shuffle(EMU_SHFL_XOR, lanes(), value, static_cast<int>(with), Size, file, line);
    }
    __device__ int any(int predicate, EMU_SITE) const { return __any_sync(lanes(), predicate, file, line); }
    __device__ int all(int predicate, EMU_SITE) const { return __all_sync(lanes(), predicate, file, line); }
    __device__ unsigned ballot(int predicate, EMU_SITE) const {
        return __ballot_sync(lanes(), predicate, file, line) >> first();
    }
    template <typename T> __device__ unsigned match_any(T value, EMU_SITE) const {
        return __match_any_sync(lanes(), value, file, line) >> first();
    }
    template <typename T> __device__ unsigned match_all(T value, int &same, EMU_SITE) const {
        return __match_all_sync(lanes(), value, &same, file, line) >> first();
    }
};
// `Size` consecutive threads of a block, in several warps. What they exchange goes through shared memory.
template <unsigned Size> class wide_tile {
    static_assert((Size & (Size - 1)) == 0 && Size <= 1024, "the size of a tile must be a power of two up to 1024");

    __device__ static unsigned first() { return detail::thread_rank() & ~(Size - 1); }
    // The value that the thread of that rank passes.
    template <typename T> __device__ static T exchanged(T value, unsigned rank, const char *file, int line) {
        static __thread uint64_t words[1024 * detail::words<T>::COUNT];
        uint64_t *const mine = &words[first() * detail::words<T>::COUNT];
        detail::words<T> moved(value);
        for (unsigned i = 0; i < detail::words<T>::COUNT; ++i)
            mine[thread_rank() * detail::words<T>::COUNT + i] = moved.word[i];
        sync(file, line);
        for (unsigned i = 0; i < detail::words<T>::COUNT; ++i)
            moved.word[i] = mine[rank % Size * detail::words<T>::COUNT + i];
        sync(file, line);
        return moved.value(value);
    }

  public:
    __device__ static void sync(EMU_SITE) { // (barrier 0 is that of __syncthreads)
        if (thread_block::size() == Size)
            emu_sync_block(file, line);
        else
            emu_sync_part(static_cast<int>(1 + first() / Size % 15), Size, file, line);
    }
    __device__ static unsigned thread_rank() { return detail::thread_rank() % Size; }
    __device__ static constexpr unsigned size() { return Size; }
    __device__ static constexpr unsigned num_threads() { return Size; }
    template <typename T> __device__ T shfl(T value, int rank, EMU_SITE) const {
        return exchanged(value, static_cast<unsigned>(rank), file, line);
    }
    template <typename T> __device__ T shfl_xor(T value, unsigned with, EMU_SITE) const { // (not in CUDA)
        return exchanged(value, thread_rank() ^ with, file, line);
    }
    __device__ int any(int predicate, EMU_SITE) const {
        int result = predicate != 0;
        for (unsigned with = 1; with < Size; with *= 2) result |= shfl_xor(result, with, file, line);
        return result;
    }
    __device__ int all(int predicate, EMU_SITE) const { return !any(!predicate, file, line); }
};
template <unsigned Size>
using tile_of_size = std::conditional_t<(Size <= 32), tile<Size <= 32 ? Size : 1>, wide_tile<Size>>;
} // namespace detail

// A tile that knows its parent: another tile, or the block.
template <unsigned Size, typename Parent = void> class thread_block_tile : public detail::tile_of_size<Size> {
    thread_block_tile() = default;
    template <unsigned Tile, typename Of>
    friend __device__ thread_block_tile<Tile, Of> tiled_partition(const Of &parent);

  public:
    __device__ static unsigned meta_group_rank() { return Parent::thread_rank() / Size; }
    __device__ static unsigned meta_group_size() { return (Parent::size() + Size - 1) / Size; }
};
// A tile of any parent.
template <unsigned Size> class thread_block_tile<Size, void> : public detail::tile<Size>, public thread_group {
    using tile = detail::tile<Size>;

  public:
    template <typename Parent>
    __device__ thread_block_tile(const thread_block_tile<Size, Parent> &of)
        : thread_group(tile::lanes(), of.meta_group_rank(), of.meta_group_size()) {}

    using tile::num_threads;
    using tile::size;
    using tile::sync;
    using tile::thread_rank;
    __device__ unsigned meta_group_rank() const { return meta_rank; }
    __device__ unsigned meta_group_size() const { return meta_size; }
};

// Any lanes of one warp, such as those that called coalesced_threads() together: see emu_activemask.
class coalesced_group : public thread_group {
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
    // (Not in CUDA, where only the functions below make groups.)
    explicit coalesced_group(unsigned lanes, unsigned rank = 0, unsigned groups = 1)
        : thread_group(lanes, rank, groups) {}
    __device__ unsigned lanes() const { return mask; }

    __device__ void sync(EMU_SITE) const { __syncwarp(mask, file, line); }
    __device__ unsigned size() const { return static_cast<unsigned>(__popc(mask)); }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const {
        return static_cast<unsigned>(__popc(mask & detail::below(detail::lane())));
    }
    __device__ unsigned meta_group_rank() const { return meta_rank; }
    __device__ unsigned meta_group_size() const { return meta_size; }
    template <typename T> __device__ T shfl(T value, int rank, EMU_SITE) const {
        const int lane = lane_of(static_cast<unsigned>(rank) % size());
        return detail::shuffle(EMU_SHFL, mask, value, lane, 32, file, line);
    }
    template <typename T> __device__ T shfl_up(T value, int by, EMU_SITE) const {
        const unsigned rank = thread_rank(), step = static_cast<unsigned>(by);
        return shfl(value, static_cast<int>(rank >= step ? rank - step : rank), file, line);
    }
    template <typename T> __device__ T shfl_down(T value, unsigned by, EMU_SITE) const {
        const unsigned rank = thread_rank();
        return shfl(value, static_cast<int>(by < size() - rank ? rank + by : rank), file, line);
    }
    __device__ int any(int predicate, EMU_SITE) const { return __any_sync(mask, predicate, file, line); }
    __device__ int all(int predicate, EMU_SITE) const { return __all_sync(mask, predicate, file, line); }
    __device__ unsigned ballot(int predicate, EMU_SITE) const {
        return packed(__ballot_sync(mask, predicate, file, line));
    }
    template <typename T> __device__ unsigned match_any(T value, EMU_SITE) const {
        return packed(__match_any_sync(mask, value, file, line));
    }
    template <typename T> __device__ unsigned match_all(T value, int &same, EMU_SITE) const {
        return packed(__match_all_sync(mask, value, &same, file, line));
    }
};
// Always inlined, because the core distinguishes calls by their instruction.
__device__ __forceinline__ coalesced_group coalesced_threads(EMU_SITE) {
    return coalesced_group(emu_activemask(file, line));
}

// --- partitions ---------------------------------------------------------------------------------------------------
template <unsigned Size, typename Parent>
__device__ inline thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
    return {};
}

namespace detail {
// The caller's tile of at most `size` lanes of the mask.
__device__ inline coalesced_group tile_of(unsigned lanes, unsigned size, const char *file, int line) {
    if (size == 0 || size > 32 || (size & (size - 1)) != 0)
        emu_fail("the size of tiled_partition must be 1, 2, 4, 8, 16 or 32", file, line);
    const unsigned count = static_cast<unsigned>(__popc(lanes));
    const unsigned rank = static_cast<unsigned>(__popc(lanes & below(lane()))) / size;
    unsigned left = lanes, tile = 0;
    for (unsigned i = 0; i < rank * size; ++i) left &= left - 1;
    for (unsigned i = 0; i < size && left; ++i, left &= left - 1) tile |= left & -left;
    return coalesced_group(tile, rank, (count + size - 1) / size);
}
} // namespace detail
__device__ inline coalesced_group tiled_partition(const coalesced_group &parent, unsigned size, EMU_SITE) {
    const coalesced_group tile = detail::tile_of(parent.lanes(), size, file, line);
    return parent.size() <= size ? parent : tile; // as in CUDA: also the rank among other groups is the parent's
}
__device__ inline thread_group tiled_partition(const thread_group &parent, unsigned size, EMU_SITE) {
    if (parent.kind == detail::GRID)
        emu_fail("tiled_partition takes a block, a tile or coalesced threads", file, line);
    if (parent.kind == detail::LANES) return detail::tile_of(parent.mask, size, file, line);
    const unsigned warp = detail::thread_rank() - detail::lane(), threads = thread_block::size();
    return detail::tile_of(detail::below(threads - warp), size, file, line);
}

namespace detail {
template <typename Group>
__device__ coalesced_group labeled(const Group &group, uint64_t label, const char *file, int line) {
    const unsigned same = static_cast<unsigned>(emu::warp(EMU_MATCH_ANY, group.lanes(), label, file, line));
    const unsigned first = same & -same;
    const unsigned leaders = __ballot_sync(group.lanes(), first >> lane() & 1, file, line);
    return coalesced_group(same, static_cast<unsigned>(__popc(leaders & (first - 1))),
                           static_cast<unsigned>(__popc(leaders)));
}
template <typename Group>
__device__ coalesced_group halved(const Group &group, bool predicate, const char *file, int line) {
    const unsigned all = group.lanes(), yes = __ballot_sync(all, predicate, file, line);
    if (yes == all || yes == 0) return coalesced_group(all);
    return coalesced_group(predicate ? yes : all & ~yes, predicate, 2);
}
template <typename Label> __device__ uint64_t bits_of(Label label) {
    static_assert(std::is_integral<Label>::value || std::is_pointer<Label>::value,
                  "a label must be an integer or a pointer");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &label, sizeof label);
    return bits;
}
} // namespace detail
__device__ inline coalesced_group binary_partition(const coalesced_group &group, bool predicate, EMU_SITE) {
    return detail::halved(group, predicate, file, line);
}
template <unsigned Size, typename Parent>
__device__ coalesced_group binary_partition(const thread_block_tile<Size, Parent> &group, bool predicate, EMU_SITE) {
    return detail::halved(group, predicate, file, line);
}
__device__ inline coalesced_group labeled_partition(const coalesced_group &group, bool label, EMU_SITE) {
    return detail::halved(group, label, file, line);
}
template <unsigned Size, typename Parent>
__device__ coalesced_group labeled_partition(const thread_block_tile<Size, Parent> &group, bool label, EMU_SITE) {
    return detail::halved(group, label, file, line);
}
template <typename Label>
__device__ coalesced_group labeled_partition(const coalesced_group &group, Label label, EMU_SITE) {
    return detail::labeled(group, detail::bits_of(label), file, line);
}
template <typename Label, unsigned Size, typename Parent>
__device__ coalesced_group labeled_partition(const thread_block_tile<Size, Parent> &group, Label label, EMU_SITE) {
    return detail::labeled(group, detail::bits_of(label), file, line);
}

// --- functions of any group
// -----------------------------------------------------------------------------------------
template <typename Group> __device__ inline void sync(const Group &group, EMU_SITE) {
    group.sync(file, line);
}
template <typename Group> __device__ inline auto thread_rank(const Group &group) {
    return group.thread_rank();
}
template <typename Group> __device__ inline auto group_size(const Group &group) {
    return group.size();
}

// One thread of the group calls the function: here the first.
template <typename Group, typename Function, typename... Arguments>
__device__ void invoke_one(const Group &group, Function &&function, Arguments &&...arguments) {
    if (group.thread_rank() == 0) std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
}
// The same, and all threads of the group return the result.
template <typename Group, typename Function, typename... Arguments>
__device__ auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments) ->
    typename std::decay<decltype(function(std::forward<Arguments>(arguments)...))>::type {
    typename std::decay<decltype(function(std::forward<Arguments>(arguments)...))>::type result{};
    if (group.thread_rank() == 0) result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
    return group.shfl(result, 0);
}

} // namespace __v1
using namespace __v1;
} // namespace cooperative_groups

#endif
