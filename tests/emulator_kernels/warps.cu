// Warp collectives. Each lane brings its own mask, so one launch shows a whole warp, a part of one, or several groups
// of lanes side by side; a lane whose mask is 0 takes no part. The model they are held to is in test_warps.py.
#include "kernels.h"

enum { SHUFFLE, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR };

template <typename T>
__global__ void shuffle(int kind, const unsigned *masks, const T *in, const int *lanes, int width, T *out) {
    int t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
    unsigned mask = masks[at];
    if (mask == 0) return;
    T value = in[at], got = value;
    if (kind == SHUFFLE) got = __shfl_sync(mask, value, lanes[at], width);
    if (kind == SHUFFLE_UP) got = __shfl_up_sync(mask, value, (unsigned)lanes[at], width);
    if (kind == SHUFFLE_DOWN) got = __shfl_down_sync(mask, value, (unsigned)lanes[at], width);
    if (kind == SHUFFLE_XOR) got = __shfl_xor_sync(mask, value, lanes[at], width);
    out[at] = got;
}
#define SHUFFLE_ENTRY(name, T)                                                                                       \
    ENTRY run_shuffle_##name(const Shape *shape, int kind, const unsigned *masks, const T *in, const int *lanes,     \
                             int width, T *out) {                                                                    \
        return launch(shape, shuffle<T>, kind, masks, in, lanes, width, out);                                        \
    }
SHUFFLE_ENTRY(int, int)
SHUFFLE_ENTRY(unsigned, unsigned)
SHUFFLE_ENTRY(long, long)
SHUFFLE_ENTRY(long_long, long long)
SHUFFLE_ENTRY(unsigned_long_long, unsigned long long)
SHUFFLE_ENTRY(float, float)
SHUFFLE_ENTRY(double, double)

// Columns: all, any, ballot, match_any, match_all, match_all's verdict, reduce add/min/max (signed), add/min/max
// (unsigned), and/or/xor.
enum { VOTE_COLUMNS = 15 };
__global__ void votes(const unsigned *masks, const int *in, unsigned *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = masks[at];
    if (mask == 0) return;
    unsigned *mine = out + VOTE_COLUMNS * at;
    int value = in[at], same = 0;
    unsigned bits = (unsigned)value;
    mine[0] = __all_sync(mask, value) != 0;
    mine[1] = __any_sync(mask, value) != 0;
    mine[2] = __ballot_sync(mask, value);
    mine[3] = __match_any_sync(mask, value);
    mine[4] = __match_all_sync(mask, value, &same);
    mine[5] = same != 0;
    mine[6] = (unsigned)__reduce_add_sync(mask, value);
    mine[7] = (unsigned)__reduce_min_sync(mask, value);
    mine[8] = (unsigned)__reduce_max_sync(mask, value);
    mine[9] = __reduce_add_sync(mask, bits);
    mine[10] = __reduce_min_sync(mask, bits);
    mine[11] = __reduce_max_sync(mask, bits);
    mine[12] = __reduce_and_sync(mask, bits);
    mine[13] = __reduce_or_sync(mask, bits);
    mine[14] = __reduce_xor_sync(mask, bits);
}
ENTRY run_votes(const Shape *shape, const unsigned *masks, const int *in, unsigned *out) {
    return launch(shape, votes, masks, in, out);
}

// Values pass from lane to lane through shared memory, with only a warp's barrier between.
__global__ void warp_barrier(int *out, int rounds) {
    __shared__ int tile[1024];
    int t = threadIdx.x, lane = t % warpSize, first = t - lane;
    tile[t] = t;
    for (int i = 0; i < rounds; ++i) {
        __syncwarp();
        int next = tile[first + (lane + 1) % warpSize];
        __syncwarp();
        tile[t] = next;
    }
    out[t] = tile[t];
}
ENTRY run_warp_barrier(const Shape *shape, int *out, int rounds) {
    return launch(shape, warp_barrier, out, rounds);
}

// The lanes of the last warp of a block whose size is no multiple of 32 are all there is of it.
__global__ void active(unsigned *out) {
    __syncwarp(__activemask());
    out[threadIdx.x] = __activemask();
}
ENTRY run_active(const Shape *shape, unsigned *out) {
    return launch(shape, active, out);
}

// A loop that lanes leave one after another, with a vote among those still in it.
__global__ void shrinking_votes(unsigned *out) {
    unsigned lane = threadIdx.x, votes = 0;
    for (unsigned i = 0; i < 32; ++i) {
        unsigned mask = 0xffffffffu << i;
        if (lane < i) break;
        votes += (unsigned)__popc(__ballot_sync(mask, lane & 1));
    }
    out[lane] = votes;
}
ENTRY run_shrinking_votes(const Shape *shape, unsigned *out) {
    return launch(shape, shrinking_votes, out);
}
