// How the clusters of "split_fp16" and "split_bf16" share the tiles of C, so that all have the same work (Stream-K:
// Osama et al. 2023).
//
// If each cluster computed whole tiles only, 80 tiles would take 66 clusters the time of 132. So the last tiles, one
// to two for each cluster, or all, if there are fewer than clusters, are taken as one long row of slabs, and the row
// is cut into equal shares. (With twice as many clusters as tiles, say, these are two equal parts of each tile.) Five
// tiles of six slabs, four clusters:
//
//     tile       0           1           2           3           4
//     slab       0 1 2 3 4 5 0 1 2 3 4 5 0 1 2 3 4 5 0 1 2 3 4 5 0 1 2 3 4 5
//     cluster    0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 3 3 3 3 3 3 3 3
//
// Where a share begins within a tile, its cluster leaves the sums of that part in the workspace. The cluster that has
// the beginning of the tile computes it at the end of its own share. By then, the other parts are usually there, and
// it adds them to its own. If they are not, it leaves its part, too, and whoever comes last adds all. Nobody waits,
// and the order is that of k in any case, so the bits are the same.
//
// This is a matter of warps: warp w of block r of each cluster has the same elements of a tile.
#ifndef CK_MATMUL_SPLIT_SHARES_CUH
#define CK_MATMUL_SPLIT_SHARES_CUH

#include "carried_sums.cuh"
#include "split_pieces.cuh"

namespace matmul {

// The blocks of a cluster, whose tiles are stacked vertically and share B; the rows of a tile, and the warps that
// have its sums.
enum { SPLIT_PAIR = 2, SPLIT_ROWS = 128, SPLIT_WARPS = SPLIT_ROWS / 16 };

// The pairs of tiles of all products: clusters visit the first `whole` of them in turn, and share the others.
struct split_pairs {
    int clusters, pairs, whole, slabs;
    unsigned row; // the number of slabs that are shared

    // In the row: the first slab of a cluster's share, and the cluster that has a slab.
    __device__ __forceinline__ int begin_of(int cluster) const {
        return static_cast<int>(static_cast<unsigned>(cluster) * row / static_cast<unsigned>(clusters));
    }
    __device__ __forceinline__ int cluster_of(int slab) const {
        return static_cast<int>((static_cast<unsigned>(slab + 1) * static_cast<unsigned>(clusters) - 1) / row);
    }
    // The clusters that have the beginning and the end of a pair that is shared.
    __device__ __forceinline__ int first_of(int pair) const { return cluster_of((pair - whole) * slabs); }
    __device__ __forceinline__ int last_of(int pair) const { return cluster_of((pair + 1 - whole) * slabs - 1); }
};

// What a cluster computes, one pair of tiles after another: slabs `begin` to `end` of `pair`.
struct split_work {
    const split_pairs all;
    const int cluster;
    int pair, begin = 0, end;
    int first, next_pair, next_begin; // of the share: where it begins; and the next part
    int left;                         // slabs of the share

    __device__ __forceinline__ explicit split_work(const split_pairs &all_)
        : all(all_), cluster(static_cast<int>(blockIdx.x) / SPLIT_PAIR), pair(cluster - all_.clusters),
          end(all_.slabs) {
        const int at = all.begin_of(cluster);
        next_pair = first = all.whole + at / all.slabs, next_begin = at % all.slabs;
        left = all.begin_of(cluster + 1) - at;
    }

    // (No branches here: with them, the compiler would not see that all threads of a warp agree, and the loop over
    // slabs would be slower.)
    __device__ __forceinline__ bool next() {
        pair += all.clusters;
        const bool shared = pair >= all.whole;
        const int most = next_begin + left < all.slabs ? next_begin + left : all.slabs;
        pair = shared ? next_pair : pair, begin = shared ? next_begin : 0, end = shared ? most : all.slabs;
        next_pair += shared ? 1 : 0, next_begin = shared ? 0 : next_begin, left -= shared ? end - begin : 0;
        return begin < end;
    }
    // Whether every cluster has a pair of its own now.
    __device__ __forceinline__ bool all_begin() const { return pair - cluster + all.clusters <= all.whole; }
};

struct split_product_operands {
    output_matrix<float, false> c;
    int m, n, k, products;
    split_pairs all;
    const unsigned *findings;           // as in split_operands
    unsigned *arrivals;                 // in_step.cuh; and behind that, of warps that have parts of a tile
    const float *a_factors, *b_factors; // as in split_operands
    // Of parts of tiles, two for each cluster; and behind them, one for each, if sums are carried on there
    // (carried_sums.cuh).
    float *sums;
    int axes; // of the stack
    stack_axis axis[STACK_AXES];

    __device__ __forceinline__ output_matrix<float, false> c_of(int product) const {
        output_matrix<float, false> own = c;
#pragma unroll 1 // rarely entered
        for (int i = 0; i < axes; ++i) {
            const int length = static_cast<int>(axis[i].length);
            own.data += product % length * axis[i].c;
            product /= length;
        }
        return own;
    }
};

// Four sums of a thread at a time.
__device__ __forceinline__ void add_four(float *sum, const float4 &more) { // what has overflowed stays infinite
    const float x[4] = {more.x, more.y, more.z, more.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
        if (fabsf(sum[i]) < HUGE_VALF)
            sum[i] += x[i] + 0.0f; // -0 becomes 0, as it does where several parts are added
}

// The sums of one warp of a tile in the workspace, COUNT for each of its threads.
template <int COUNT> struct split_sums_of_warp {
    float *const sums;
    unsigned *const arrivals;
    const split_pairs all;
    const int warp; // of the cluster

    __device__ __forceinline__ split_sums_of_warp(const split_product_operands &op, int rank)
        : sums(op.sums), arrivals(op.arrivals + 1), all(op.all),
          warp(rank * SPLIT_WARPS + static_cast<int>(threadIdx.x) / 32 - 4) {} // (four warps copy)

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
    // Adds the parts of the clusters from `first` on. What several additions round off is carried on.
    __device__ __forceinline__ void add_parts(float (&sum)[COUNT], int first, int pair) const {
        if (threadIdx.x % 32 == 0) // for the next kernel
            arrivals[(pair - all.whole) * (SPLIT_PAIR * SPLIT_WARPS) + warp] = 0;
        __threadfence();
        __syncwarp();
        const int last = all.last_of(pair);
        if (first == last) {
            const float4 *const part = part_of(first, pair);
#pragma unroll
            for (int i = 0; i < COUNT / 4; ++i) add_four(&sum[i * 4], part[i * 32]);
            return;
        }
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

    // At the end of the work on a pair. Returns whether `sum` is complete then. `left` becomes true where nobody has
    // been told yet that a part has been left: that is for later, when it has been written and the next products are
    // under way.
    __device__ __forceinline__ bool finish(float (&sum)[COUNT], const split_work &work, bool &left) const {
        if (work.begin > 0) {
            leave(sum, work.cluster, work.pair), left = true;
            return false;
        }
        if (work.end == all.slabs) return true;
        bool complete = arrive(work.pair, 0);
        if (!complete) leave(sum, work.cluster, work.pair), complete = arrive(work.pair, 1);
        if (complete) add_parts(sum, work.cluster + 1, work.pair);
        return complete;
    }

    // Adds `sum` to that of the slabs before; `sum` becomes what was rounded off. `first`: there are none before.
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
    // Adds those slabs to `sum`.
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
