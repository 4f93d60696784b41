// exclusive_scan, inclusive_scan "lookback": comes after "blocks".
//
// Change  One launch. A block keeps its tile in registers, publishes the sum of the tile, and looks back at what
//         earlier blocks have published (decoupled look-back: Merrill and Garland, 2016). Accesses are 16 bytes wide.
// Why     The input is read once: only the array itself moves.
// Claim   words of global memory per element: 1 read and 1 written (before: 2 and 1)
// Price   192 bytes of the tile (sums of 64 bits: 128) in the registers of each thread; a few words of workspace per
//         tile, cleared beforehand
// Edges   Packs that are incomplete or not aligned are processed element by element. Nothing beyond the array is
//         written.
// Map     tile t: the block that took number t from a counter. Earlier tiles have therefore started, in whatever
//         order blocks start, and every wait ends.
// Limit   Memory, and the waits: 2^28 float32 take 556 us on an H200, and a copy 503 us.
//
// In the paper, a block adds whatever sums it finds, back to the first one that counts from the beginning of the
// array, so the order of the additions depends on timing. Here the order is fixed, so that float results have the
// same bits in every run. Sums are published on three levels, and the sum before tile t is
//
//     upto[t / 1024]  +  the sums of whole groups of 32 tiles since there  +  the sums of single tiles since there
//
// each of them added by the 32 lanes of one warp, as a tree. The last tile of a group publishes the sum of the group,
// and the last of 1024 tiles the next `upto`: one dependency from block to block per 1024 tiles, where a simple chain
// would have one per tile.
#ifndef CK_EXCLUSIVE_SCAN_LOOKBACK_CUH
#define CK_EXCLUSIVE_SCAN_LOOKBACK_CUH

#include "../../published.cuh"
#include "../parts/packed_tile.cuh"

namespace scan {

using namespace publishing;

enum { GROUP = WARP };

// The workspace: the counter in the first word, then three arrays.
template <typename Acc> struct lookback_sums {
    unsigned *counter;
    published<Acc> *tiles, *groups, *upto; // upto[s]: the sum of all tiles before tile s * GROUP * GROUP

    static __host__ __device__ constexpr int64_t groups_of(int64_t tiles) { return tiles / GROUP + 1; }
    static __host__ __device__ constexpr int64_t words(int64_t tiles) {
        return 1 + published<Acc>::WORDS * (tiles + 2 * groups_of(tiles));
    }
    static lookback_sums in(void *workspace, int64_t tiles) {
        word *const words = static_cast<word *>(workspace);
        auto *const sums = reinterpret_cast<published<Acc> *>(words + 1);
        return {reinterpret_cast<unsigned *>(words), sums, sums + tiles, sums + tiles + groups_of(tiles)};
    }
};

// The sum of the values of all lanes, in every lane.
template <typename Acc> __device__ __forceinline__ Acc all_lanes_sum(Acc sum) {
    for (int by = WARP / 2; by > 0; by /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, by);
    return sum;
}

// For one warp: publishes the sum of the tile, and returns the sum before the tile.
template <typename Acc>
__device__ __forceinline__ Acc look_back(const lookback_sums<Acc> &sums, unsigned tile, Acc of_tile, Acc none) {
    const unsigned lane = threadIdx.x % WARP;
    const unsigned group = tile / GROUP, in_group = tile % GROUP;
    const unsigned many = group / GROUP, in_many = group % GROUP;
    const published<Acc> *const tile_at = &sums.tiles[tile - in_group + lane];
    const published<Acc> *const group_at = &sums.groups[group - in_many + lane];
    const published<Acc> *const upto_at = &sums.upto[many];
    const bool of_tiles = lane < in_group;
    const bool of_groups = lane < in_many;
    const bool of_upto = many != 0;

    if (lane == 0) publish(&sums.tiles[tile], of_tile);
    published<Acc> seen_tile{}, seen_group{}, seen_upto{};
    if (of_tiles) seen_tile = look(tile_at);
    if (of_groups) seen_group = look(group_at);
    if (of_upto) seen_upto = look(upto_at);

    Acc in_tiles = none, in_groups = none, upto = none;
    if (of_tiles) in_tiles = wait_for(tile_at, seen_tile);
    __syncwarp();
    in_tiles = all_lanes_sum(in_tiles);
    const Acc of_group = in_tiles + of_tile;
    if (in_group == GROUP - 1 && lane == 0) publish(&sums.groups[group], of_group);

    if (of_groups) in_groups = wait_for(group_at, seen_group);
    __syncwarp();
    in_groups = all_lanes_sum(in_groups);
    if (of_upto) upto = wait_for(upto_at, seen_upto);
    __syncwarp();
    const Acc before_group = upto + in_groups;
    if (in_group == GROUP - 1 && in_many == GROUP - 1 && lane == 0)
        publish(&sums.upto[many + 1], before_group + of_group);
    return before_group + in_tiles;
}

template <typename In, typename Acc, bool EXCLUSIVE>
__global__ void __launch_bounds__(TILE_THREADS, TILES_A_MULTIPROCESSOR)
    lookback(const In *__restrict__ x, Acc *__restrict__ result, int64_t n, lookback_sums<Acc> sums) {
    __shared__ unsigned next_tile;
    __shared__ Acc before_warps[MOST_WARPS];
    const Acc none = nothing<Acc, EXCLUSIVE>();
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    if (threadIdx.x == 0) next_tile = atomicAdd(sums.counter, 1u);
    __syncthreads();
    const unsigned tile = next_tile;
    const int64_t warp_first = (static_cast<int64_t>(tile) * warps + warp) * packed_tile<In, Acc>::A_WARP;

    packed_tile<In, Acc> mine;
    const Acc of_warp = mine.load(x, n, warp_first, none);
    if (lane == 0) before_warps[warp] = of_warp;
    __syncthreads();
    if (warp == 0) {
        const Acc scanned = warp_scan(lane < warps ? before_warps[lane] : none);
        const Acc before = before_lane(scanned, none);
        const Acc before_tile = look_back(sums, tile, __shfl_sync(ALL_LANES, scanned, WARP - 1), none);
        before_warps[lane] = before_tile + before;
    }
    __syncthreads();
    mine.template store<EXCLUSIVE>(result, n, warp_first, before_warps[warp]);
}

} // namespace scan

#endif
