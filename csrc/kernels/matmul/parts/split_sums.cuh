// Long sums of float32 in "split_fp16" and "split_bf16", which lose little to rounding, and the sums of parts of a
// tile, which several clusters compute (split_shares.cuh).
//
// A sum is rounded each time the tensor cores' sums are added to it, and the larger it is, the more it loses. So
// after a group of slabs, a thread adds it to that of the groups before, and may carry on what this addition has
// rounded off, which is known exactly (Knuth's TwoSum). What is left are the roundings within a group.
//
// Where a share begins within a tile, its cluster leaves the sums of that part in the workspace. The cluster that has
// the beginning of the tile computes it at the end of its own share. By then, the other parts are usually there, and
// it adds them to its own. If they are not, it leaves its part, too, and whoever comes last adds all. Nobody waits,
// and the order is that of k in any case, so the bits are the same. This is a matter of warps: warp w of block r of
// each cluster has the same elements of a tile.
#ifndef CK_MATMUL_SPLIT_SUMS_CUH
#define CK_MATMUL_SPLIT_SUMS_CUH

#include <math.h>

#include "split_shares.cuh"

namespace matmul {

// The widest tiles that leave a thread registers for the sum of the groups before. With wider ones, it is in the
// workspace.
enum { SECOND_SUM_COLUMNS = 128 };

// The slabs of a group in those tiles, and in wider ones. There, a sum of 8192 elements of k has a third of the error
// of SGEMM's; shorter ones, of 961 to 1984 elements, are divided once. MOST_ADDED: if a sum has more slabs, what is
// rounded off is carried on.
enum { GROUP_SLABS = 8, WIDE_GROUP_SLABS = 128, MOST_ADDED = 128 };
__host__ __device__ __forceinline__ int wide_group_slabs(int slabs) {
    return slabs >= 16 && slabs < 32 ? (slabs + 1) / 2 : +WIDE_GROUP_SLABS;
}

// Adds `sum` to `before`; `sum` becomes what was rounded off, or 0 if the result is not finite. What has overflowed
// stays infinite.
__device__ __forceinline__ void carry(float &before, float &sum) {
    const float more = fabsf(before) < HUGE_VALF ? sum : 0;
    const float after = before + more, added = after - before;
    const float rest = (before - (after - added)) + (more - added); // NaN if the sum is not finite
    sum = rest == rest ? rest : 0;
    before = after;
}

template <int COUNT> __device__ __forceinline__ void carry_in(float (&before)[COUNT], float (&sum)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) carry(before[i], sum[i]);
}

// The same where what is rounded off need not be carried on.
template <int COUNT> __device__ __forceinline__ void add_in(float (&before)[COUNT], float (&sum)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        if (fabsf(before[i]) < HUGE_VALF) before[i] += sum[i];
        sum[i] = 0;
    }
}

enum { SPLIT_ROWS = 128, SPLIT_WARPS = SPLIT_ROWS / 16 }; // of a tile; the warps that have its sums

// The slabs of the next pair after which a part that has been left is announced: a shorter group.
enum { SLABS_TO_ANNOUNCE = 2 };

// The sums of one warp of a tile in the workspace, COUNT for each of its threads.
template <int COUNT> struct split_parts {
    float *const sums;        // of parts of tiles, two for each cluster; and behind them one for each (carry_on)
    unsigned *const arrivals; // of warps that have parts of a tile
    const split_pairs all;
    const int warp; // of the cluster
    // Of the first pair of the share: a part has been left, but not announced; and all others were there before.
    bool unannounced = false, last_to_come = false;

    __device__ __forceinline__ float4 *place(int number) const {
        const int64_t first = (static_cast<int64_t>(number) * SPLIT_PAIR * SPLIT_WARPS + warp) * (32 * COUNT / 4);
        return reinterpret_cast<float4 *>(sums) + first + threadIdx.x % 32;
    }
    // Of a cluster that has a part of a pair: what it computes first, or what it computes last.
    __device__ __forceinline__ float4 *part_of(int cluster, int pair) const {
        return place(2 * cluster + (all.begin_of(cluster) < (pair - all.whole) * all.slabs ? 1 : 0));
    }

    __device__ __forceinline__ void leave(const float (&sum)[COUNT], int cluster, int pair) const {
        float4 *const own = part_of(cluster, pair);
#pragma unroll
        for (int i = 0; i < COUNT / 4; ++i)
            own[i * 32] = make_float4(sum[i * 4], sum[i * 4 + 1], sum[i * 4 + 2], sum[i * 4 + 3]);
    }
    // Says that a part has been left, or only asks (`count` 0). Returns whether all others have been.
    __device__ __forceinline__ bool arrive(int pair, unsigned count) const {
        if (count != 0) __threadfence(), __syncwarp();
        unsigned *const arrived = arrivals + (pair - all.whole) * (SPLIT_PAIR * SPLIT_WARPS) + warp;
        bool complete = false;
        if (threadIdx.x % 32 == 0)
            complete = atomicAdd(arrived, count) == static_cast<unsigned>(all.last_of(pair) - all.first_of(pair));
        return __any_sync(0xffffffffu, complete);
    }
    // Adds the parts of the clusters from `first` on. What an addition rounds off is carried on.
    __device__ __forceinline__ void add_parts(float (&sum)[COUNT], int first, int pair) const {
        if (threadIdx.x % 32 == 0) // for the next kernel
            arrivals[(pair - all.whole) * (SPLIT_PAIR * SPLIT_WARPS) + warp] = 0;
        __threadfence();
        __syncwarp();
        const int last = all.last_of(pair);
        constexpr int EACH = COUNT % 32 == 0 ? 8 : COUNT / 8; // fours at a time
#pragma unroll
        for (int begin = 0; begin < COUNT / 4; begin += EACH) {
            float rest[EACH * 4] = {};
            for (int cluster = first; cluster <= last; ++cluster) {
                const float4 *const part = part_of(cluster, pair) + begin * 32;
#pragma unroll
                for (int i = 0; i < EACH; ++i) {
                    const float4 more = part[i * 32];
                    float *const own = &sum[(begin + i) * 4], *const own_rest = &rest[i * 4];
                    own_rest[0] += more.x, own_rest[1] += more.y, own_rest[2] += more.z, own_rest[3] += more.w;
#pragma unroll
                    for (int j = 0; j < 4; ++j) carry(own[j], own_rest[j]);
                }
            }
        }
    }

    // At the end of the work on a pair. Returns whether `sum` is complete then. Where a part has been left,
    // announce() says so later, when it has been written and the next products are under way.
    __device__ __forceinline__ bool finish(float (&sum)[COUNT], const split_work &work) {
        if (work.begin > 0) {
            leave(sum, work.cluster, work.pair), unannounced = true;
            return false;
        }
        if (work.end == all.slabs) return true;
        bool complete = arrive(work.pair, 0);
        if (!complete) leave(sum, work.cluster, work.pair), complete = arrive(work.pair, 1);
        if (complete) add_parts(sum, work.cluster + 1, work.pair);
        return complete;
    }
    __device__ __forceinline__ void announce(int pair) {
        last_to_come = arrive(pair, 1), unannounced = false;
    }

    // Adds `sum` to that of the groups before; `sum` becomes what was rounded off. `first`: there are none before.
    __device__ __forceinline__ void carry_on(float (&sum)[COUNT], int cluster, bool first) const {
        float4 *const own = place(2 * all.clusters + cluster);
#pragma unroll
        for (int i = 0; i < COUNT / 4; ++i) {
            float4 before = first ? make_float4(0, 0, 0, 0) : own[i * 32];
            carry(before.x, sum[i * 4]), carry(before.y, sum[i * 4 + 1]);
            carry(before.z, sum[i * 4 + 2]), carry(before.w, sum[i * 4 + 3]);
            own[i * 32] = before;
        }
    }
    // Adds those groups to `sum`.
    __device__ __forceinline__ void add_carried(float (&sum)[COUNT], int cluster) const {
        const float4 *const own = place(2 * all.clusters + cluster);
#pragma unroll
        for (int i = 0; i < COUNT / 4; ++i) {
            const float4 before = own[i * 32];
            float result[4] = {before.x, before.y, before.z, before.w};
#pragma unroll
            for (int j = 0; j < 4; ++j) carry(result[j], sum[i * 4 + j]), sum[i * 4 + j] = result[j];
        }
    }
};

} // namespace matmul

#endif
