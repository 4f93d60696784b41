// Clusters: shared memory of other blocks, their barrier, arrivals at another block's mbarrier, copies to several
// blocks. test_clusters.py has the models.
#include "kernels.h"

#include "cluster.cuh"
#include "mbarrier.cuh"
#include "tensor_copy.cuh"
#include "tensor_map.h"

// Each block's rank, and that of the block in whose memory it finds its own number.
__global__ void ranks(int *out) {
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (threadIdx.x != 0) return;
    out[2 * block] = cluster_rank();
    out[2 * block + 1] = cluster_size();
}
ENTRY run_ranks(const Shape *shape, int *out) {
    return launch(shape, ranks, out);
}

// Every thread writes a static and a dynamic variable of its block, and then reads those of each block of the
// cluster.
__global__ void exchange(int *out) {
    __shared__ int fixed[64];
    DYNAMIC_SHARED(int, dynamic);
    const int t = static_cast<int>(threadIdx.x), size = cluster_size();
    const int own = 1000 * static_cast<int>(blockIdx.x) + t;
    fixed[t] = own;
    dynamic[t] = -own;
    cluster_sync();
    for (int rank = 0; rank < size; ++rank) {
        const int *const theirs = map_shared(fixed, rank), *const others = map_shared(dynamic, rank);
        int *const to = out + ((static_cast<int>(blockIdx.x) * size + rank) * 64 + t) * 2;
        to[0] = theirs[63 - t];
        to[1] = others[63 - t];
    }
    cluster_sync(); // no block ends before the others have read
}
ENTRY run_exchange(const Shape *shape, int *out) {
    return launch(shape, exchange, out);
}

// Rounds of the barrier in two halves; in each, a block adds to a variable of the next one.
__global__ void rounds(int count, int *out) {
    __shared__ int sum;
    const int size = cluster_size(), rank = cluster_rank();
    if (threadIdx.x == 0) sum = 0;
    cluster_sync();
    for (int i = 0; i < count; ++i) {
        atomicAdd(map_shared(&sum, (rank + i) % size), 1 + rank);
        cluster_arrive();
        __syncthreads();
        cluster_wait();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
    if (threadIdx.x >= 32) return; // threads that have ended count as arrived
    cluster_sync();
}
ENTRY run_rounds(const Shape *shape, int count, int *out) {
    return launch(shape, rounds, count, out);
}

// Block 0 passes numbers to the others, one at a time: it writes to their memory, and waits until all have read.
__global__ void pass_on(int count, int *out) {
    __shared__ int slot;
    __shared__ mbarrier written, free;
    const int size = cluster_size(), rank = cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(&written, 1);
        mbarrier_init(&free, size);
        mbarrier_init_fence();
    }
    cluster_sync();
    if (threadIdx.x == 0)
        for (int i = 0; i < count; ++i) {
            if (rank == 0)
                for (int other = 0; other < size; ++other) {
                    *map_shared(&slot, other) = 7 * i + other;
                    __threadfence(); // mbarrier_arrive_at does not publish writes
                    mbarrier_arrive_at(&written, other);
                }
            mbarrier_wait(&written, i & 1);
            out[blockIdx.x * count + i] = *const_cast<volatile int *>(&slot);
            mbarrier_arrive_at(&free, 0);
            if (rank == 0) mbarrier_wait(&free, i & 1);
        }
    cluster_sync();
}
ENTRY run_pass_on(const Shape *shape, int count, int *out) {
    return launch(shape, pass_on, count, out);
}

// Block r loads rows 8 r ... 8 r + 7 of an array for all blocks of the cluster. Thus each gets all rows.
__global__ void share_rows(const __grid_constant__ tensor_map map, int *out) {
    DYNAMIC_SHARED(unsigned char, bytes);
    int *const rows = reinterpret_cast<int *>(bytes + (1024 - reinterpret_cast<size_t>(bytes) % 1024) % 1024);
    __shared__ mbarrier full;
    const int size = cluster_size(), rank = cluster_rank(), row = 8 * rank;
    if (threadIdx.x == 0) mbarrier_init(&full, 1), mbarrier_init_fence();
    cluster_sync();
    if (threadIdx.x == 0) {
        mbarrier_expect(&full, size * 8 * 32 * 4);
        tensor_load_multicast<3>(rows + row * 32, &map, &full, {0, row, 0}, (1u << size) - 1);
    }
    mbarrier_wait(&full, 0);
    for (int i = static_cast<int>(threadIdx.x); i < size * 8 * 32; i += static_cast<int>(blockDim.x)) {
        const int y = i / 32, chunk = i % 32 / 4; // stored with a swizzle of 128 bytes
        out[static_cast<int>(blockIdx.x) * size * 8 * 32 + i] = rows[y * 32 + (chunk ^ y % 8) * 4 + i % 4];
    }
    cluster_sync();
}
static int map_of_rows(tensor_map *map, const int *in, int height) {
    tensor_map_shape box = {};
    box.element_bytes = 4, box.axes = 3, box.swizzle = 128;
    box.lengths[0] = 32, box.lengths[1] = static_cast<uint64_t>(height), box.lengths[2] = 1;
    box.strides[1] = 128, box.strides[2] = static_cast<uint64_t>(height) * 128;
    box.box[0] = 32, box.box[1] = 8, box.box[2] = 1;
    return tensor_map_make(map, in, &box);
}
ENTRY run_share_rows(const Shape *shape, const int *in, int height, int *out) {
    tensor_map map;
    const int code = map_of_rows(&map, in, height);
    return code ? code : launch(shape, share_rows, map, out);
}

// Block r loads rows 8 r ... 8 r + 7 for the blocks in masks[r] alone. A block waits for `expected[r]` boxes; others
// keep its -1.
__global__ void share_with(const __grid_constant__ tensor_map map, const int *masks, const int *expected, int *out) {
    DYNAMIC_SHARED(unsigned char, bytes);
    int *const rows = reinterpret_cast<int *>(bytes + (1024 - reinterpret_cast<size_t>(bytes) % 1024) % 1024);
    __shared__ mbarrier full;
    const int size = cluster_size(), rank = cluster_rank(), t = static_cast<int>(threadIdx.x);
    for (int i = t; i < size * 256; i += static_cast<int>(blockDim.x)) rows[i] = -1;
    fence_async_proxy();
    if (t == 0) mbarrier_init(&full, 1), mbarrier_init_fence();
    cluster_sync();
    if (t == 0) {
        mbarrier_expect(&full, expected[rank] * 1024);
        if (masks[rank])
            tensor_load_multicast<3>(rows + rank * 256, &map, &full, {0, 8 * rank, 0},
                                     static_cast<unsigned>(masks[rank]));
    }
    mbarrier_wait(&full, 0); // HERE: share_with
    for (int i = t; i < size * 256; i += static_cast<int>(blockDim.x)) {
        const int y = i / 32, chunk = i % 32 / 4; // stored with a swizzle of 128 bytes
        out[static_cast<int>(blockIdx.x) * size * 256 + i] = rows[y * 32 + (chunk ^ y % 8) * 4 + i % 4];
    }
    cluster_sync();
}
ENTRY run_share_with(const Shape *shape, const int *in, int height, const int *masks, const int *expected, int *out) {
    tensor_map map;
    const int code = map_of_rows(&map, in, height);
    return code ? code : launch(shape, share_with, map, masks, expected, out);
}

// The barrier in two branches: unlike __syncthreads, it may be reached on different lines.
__global__ void two_branches(int *out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    cluster_sync();
    if (threadIdx.x % 2 == 0) {
        atomicAdd(&sum, 1);
        cluster_sync();
    } else {
        cluster_sync();
        if (threadIdx.x == 1) out[blockIdx.x] = sum;
    }
}
ENTRY run_two_branches(const Shape *shape, int *out) {
    return launch(shape, two_branches, out);
}

// --- mistakes -----------------------------------------------------------------------------------------------------

// what: see test_clusters.py
__global__ void mistake(int what, int *out) {
    __shared__ int value;
    __shared__ mbarrier barrier;
    const int rank = cluster_rank();
    value = rank;
    if (what == 0 && rank == 0) cluster_wait();        // HERE: wait alone
    if (what == 1) cluster_arrive(), cluster_arrive(); // HERE: arrive twice
    if (what == 2) out[0] = *map_shared(&value, 5);    // HERE: no such rank
    if (what == 3) out[0] = *map_shared(out, 1);       // HERE: not shared
    if (what == 4) {
        if (rank == 0) mbarrier_init(&barrier, 2);
        cluster_sync();
        if (rank == 1) mbarrier_arrive_at(&barrier, 0);
        if (rank == 0) mbarrier_wait(&barrier, 0); // HERE: one arrival too few
    }
    if (what == 5) {
        if (rank == 1) mbarrier_arrive_at(&barrier, 0); // HERE: not initialized
        cluster_sync();
    }
    if (what == 6) {
        if (rank == 0) __syncthreads(), cluster_sync();
        if (rank == 1) {
            mbarrier_init(&barrier, 1);
            mbarrier_wait(&barrier, 0); // HERE: block 0 waits at the cluster
        }
    }
    if (what == 7 && rank == 1) value = *map_shared(&value, 0); // HERE: block 0 has ended
    out[rank] = value;
}
ENTRY run_mistake(const Shape *shape, int what, int *out) {
    return launch(shape, mistake, what, out);
}

// A thread of block 0 waits for a flag that block 1 sets in block 0's memory.
__global__ void spin(int *out) {
    __shared__ int flag;
    flag = 0;
    cluster_sync();
    if (cluster_rank() == 0) {
        while (atomicAdd(&flag, 0) == 0) {}
        out[0] = 1;
    } else {
        atomicExch(map_shared(&flag, 0), 1);
    }
    cluster_sync();
}
ENTRY run_spin(const Shape *shape, int *out) {
    return launch(shape, spin, out);
}

// The same, where block 1 waits for a box before it sets the flag.
__global__ void spin_for_box(const __grid_constant__ tensor_map map, int *out) {
    DYNAMIC_SHARED(unsigned char, bytes);
    int *const rows = reinterpret_cast<int *>(bytes + (1024 - reinterpret_cast<size_t>(bytes) % 1024) % 1024);
    __shared__ int flag;
    __shared__ mbarrier full;
    flag = 0;
    mbarrier_init(&full, 1), mbarrier_init_fence();
    cluster_sync();
    if (cluster_rank() == 0) {
        int value = 0;
        while (value == 0) value = atomicAdd(&flag, 0);
        out[0] = value;
    } else {
        mbarrier_expect(&full, 1024);
        tensor_load<3>(rows, &map, &full, {0, 0, 0});
        mbarrier_wait(&full, 0);
        atomicExch(map_shared(&flag, 0), rows[0]);
    }
    cluster_sync();
}
ENTRY run_spin_for_box(const Shape *shape, const int *in, int *out) {
    tensor_map map;
    const int code = map_of_rows(&map, in, 8);
    return code ? code : launch(shape, spin_for_box, map, out);
}

// All threads wait at the cluster's barrier but one, which waits for the rest of its block.
__global__ void half_a_barrier(int *out) {
    if (cluster_rank() == 1 && threadIdx.x == 1) __syncthreads();
    cluster_arrive();
    cluster_wait(); // HERE: never opens
    out[0] = 1;
}
ENTRY run_half_a_barrier(const Shape *shape, int *out) {
    return launch(shape, half_a_barrier, out);
}
