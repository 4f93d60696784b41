// Launches: checks a launch against the limits of kernel and device, and adds it to the stream's queue.
//
//   cudaFuncSetAttribute --> emu_kernel (kernel.c) --.
//   emulator/chips.h, EMU_LIMITS (device.c) ---------+--> check_launch --> emu_launch_kernel --> the stream's queue
//                                                                                |
//   arguments[0], [1], ...: pointers  ------------- copied, by the signature ----'
//
// A launch may name its kernel by the handle or the host function; both are treated alike.
#define _GNU_SOURCE
#include "stream.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

// The number of blocks that a multiprocessor of the chip holds at once, by threads and shared memory (registers are
// unknown). The rules are those of cudakern/measure/occupancy.py; tests compare both. Shared memory is allocated in
// pieces.
static int chip_occupancy(int threads, size_t dynamic_shared) {
    const emu_multiprocessor *has = emu_chip_now()->each;
    if (threads < 1 || threads > EMU_LIMITS.block_threads || dynamic_shared > has->shared_per_block) return 0;
    int warps = (threads + EMU_LIMITS.warp - 1) / EMU_LIMITS.warp;
    int blocks = has->warps / warps;
    const size_t piece = has->shared_piece;
    const size_t shared = (dynamic_shared + has->shared_reserved + piece - 1) / piece * piece;
    if (shared && has->shared / shared < (size_t)blocks) blocks = (int)(has->shared / shared);
    return blocks < has->blocks ? blocks : has->blocks;
}

// The computer's memory that a resident block uses, and each of its threads: two pages of its stack.
enum { BLOCK_BYTES = 512 << 10, THREAD_BYTES = 8 << 10 };

static long cooperative_limit(int threads, size_t dynamic_shared) {
    return (long)chip_occupancy(threads, dynamic_shared) * emu_chip_now()->multiprocessors;
}

// Programs compute the size of a cooperative grid as this number times the number of multiprocessors, which is the
// most that such a launch may have.
int emu_occupancy(int *blocks, const void *function, int block_size, size_t dynamic_shared) {
    const char *call = "cudaOccupancyMaxActiveBlocksPerMultiprocessor";
    emu_kernel *kernel;
    int device, code = emu_enter(&device);
    if (!code) code = emu_find_kernel(function, call, &kernel);
    if (code) return code;
    if (!blocks || block_size < 1)
        return emu_error(cudaErrorInvalidValue, "%s: %d threads per block; at least 1 is needed", call, block_size);
    const int fits = dynamic_shared <= emu_kernel_shared(kernel) && block_size <= emu_kernel_threads(kernel);
    *blocks = fits ? chip_occupancy(block_size, dynamic_shared) : 0;
    return cudaSuccess;
}

// The same search as in CUDA's header: in whole warps from the largest block down. The block size with the most
// resident threads wins, and among equals the largest.
int emu_occupancy_block(int *grid, int *block, const void *function, size_t dynamic_shared, int limit) {
    if (!grid || !block || limit < 0)
        return emu_error(
            cudaErrorInvalidValue,
            "cudaOccupancyMaxPotentialBlockSize: a pointer for the results is NULL, or the limit of %d is negative",
            limit);
    const int warp = EMU_LIMITS.warp, most = EMU_LIMITS.block_threads;
    int best = 0;
    *grid = *block = 0;
    if (!limit || limit > most) limit = most;
    for (int aligned = (limit + warp - 1) / warp * warp; aligned > 0; aligned -= warp) {
        const int threads = aligned < limit ? aligned : limit;
        int blocks;
        const int code = emu_occupancy(&blocks, function, threads, dynamic_shared);
        if (code) return code;
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        *block = threads;
        *grid = blocks * emu_chip_now()->multiprocessors;
        if (best == emu_chip_now()->each->warps * warp) break;
    }
    return cudaSuccess;
}

static int read_attributes(emu_grid_launch *to, const cudaLaunchAttribute *attributes, unsigned count) {
    if (count && !attributes)
        return emu_error(cudaErrorInvalidValue, "the launch has %u attributes, but the pointer to them is NULL",
                         count);
    for (unsigned i = 0; i < count; i++) {
        const cudaLaunchAttribute *a = &attributes[i];
        if (a->id == cudaLaunchAttributeCooperative) to->cooperative = a->val.cooperative != 0;
        if (a->id == cudaLaunchAttributeClusterDimension)
            to->cluster = (emu_dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
    }
    return cudaSuccess;
}

// Clusters of the configuration's size that run at once; the largest portable size. (All multiprocessors are alike.)
int emu_occupancy_clusters(int *clusters, int *size, const void *function, const void *configuration) {
    const char *call = size ? "cudaOccupancyMaxPotentialClusterSize" : "cudaOccupancyMaxActiveClusters";
    const cudaLaunchConfig_t *config = configuration;
    if (!(size || (clusters && config))) return emu_error(cudaErrorInvalidValue, "%s: a pointer is NULL", call);
    const int has_clusters = emu_chip_now()->each->capability >= 90;
    if (size) {
        emu_kernel *kernel;
        *size = has_clusters ? EMU_MAX_CLUSTER : 1;
        return emu_find_kernel(function, call, &kernel);
    }
    emu_grid_launch launch = {.cluster = {1, 1, 1}};
    int blocks, code = read_attributes(&launch, config->attrs, config->numAttrs);
    const unsigned threads = config->blockDim.x * config->blockDim.y * config->blockDim.z;
    if (!code) code = emu_occupancy(&blocks, function, (int)threads, config->dynamicSmemBytes);
    const unsigned each = launch.cluster.x * launch.cluster.y * launch.cluster.z;
    if (!code && (!each || each > EMU_MAX_CLUSTER || !has_clusters))
        code = emu_error(cudaErrorInvalidClusterSize, "%s: clusters of %u blocks; 1 to %d are allowed", call, each,
                         has_clusters ? EMU_MAX_CLUSTER : 1);
    if (!code) *clusters = blocks * emu_chip_now()->multiprocessors / (int)each;
    return code;
}

int emu_occupancy_shared(size_t *bytes, const void *function, int blocks, int block_size) {
    const char *call = "cudaOccupancyAvailableDynamicSMemPerBlock";
    emu_kernel *kernel;
    int device, code = emu_enter(&device);
    if (!code) code = emu_find_kernel(function, call, &kernel);
    if (code) return code;
    if (!bytes || blocks < 1 || blocks > chip_occupancy(block_size, 0))
        return emu_error(cudaErrorInvalidValue,
                         "%s: %d blocks of %d threads; a multiprocessor holds 1 to %d such blocks", call, blocks,
                         block_size, chip_occupancy(block_size, 0));
    const emu_multiprocessor *has = emu_chip_now()->each;
    size_t share = has->shared / (size_t)blocks / has->shared_piece * has->shared_piece - has->shared_reserved;
    *bytes = share < has->shared_per_block ? share : has->shared_per_block;
    return cudaSuccess;
}

// Checks every limit of a launch. The codes are those of a GPU (an H200 with CUDA 13, for <<<>>> as for
// cudaLaunchKernelEx; older versions returned error 9 for a wrong grid or block); the messages contain the value and
// the limit.
static int check_launch(const emu_grid_launch *launch, const emu_kernel *kernel) {
    char name[256];
    const emu_dim3 *grid = &launch->grid, *block = &launch->block;
    const unsigned g[3] = {grid->x, grid->y, grid->z}, b[3] = {block->x, block->y, block->z};
    unsigned long long threads = 1ull * b[0] * b[1]; // three factors could overflow
    threads = threads > UINT32_MAX ? threads : threads * b[2];
#define REFUSE(code, ...) return emu_kernel_name(launch->function, name, sizeof name), emu_error(code, __VA_ARGS__)
    for (int i = 0; i < 3; i++) {
        if (g[i] < 1 || g[i] > EMU_LIMITS.grid_dim[i])
            REFUSE(cudaErrorInvalidValue, "kernel %s: a grid of (%u,%u,%u) blocks; %c must be from 1 to %u", name,
                   g[0], g[1], g[2], 'x' + i, EMU_LIMITS.grid_dim[i]);
        if (b[i] < 1 || b[i] > (unsigned)EMU_LIMITS.block_dim[i])
            REFUSE(cudaErrorInvalidValue, "kernel %s: a block of (%u,%u,%u) threads; %c must be from 1 to %d", name,
                   b[0], b[1], b[2], 'x' + i, EMU_LIMITS.block_dim[i]);
    }
    if (threads > (unsigned long long)EMU_LIMITS.block_threads)
        REFUSE(cudaErrorInvalidValue, "kernel %s: a block of (%u,%u,%u) = %llu threads; at most %d are allowed", name,
               b[0], b[1], b[2], threads, EMU_LIMITS.block_threads);
    if (threads > (unsigned)emu_kernel_threads(kernel))
        REFUSE(cudaErrorInvalidValue,
               "kernel %s: a block of (%u,%u,%u) = %llu threads; its __launch_bounds__ allow at most %d", name, b[0],
               b[1], b[2], threads, emu_kernel_threads(kernel));
    size_t allowed = emu_kernel_shared(kernel), most = emu_chip_now()->each->shared_per_block;
    if (launch->dynamic_shared > allowed || launch->dynamic_shared > most)
        REFUSE(cudaErrorInvalidValue,
               "kernel %s: %zu bytes of dynamic shared memory; at most %zu are allowed, or %zu on this device (%s) "
               "after "
               "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
               name, launch->dynamic_shared, allowed < most ? allowed : most, most, emu_chip_now()->name);
    const emu_dim3 *cluster = &launch->cluster;
    const unsigned c[3] = {cluster->x, cluster->y, cluster->z};
    const unsigned long long blocks_of_cluster = 1ull * c[0] * c[1];
    if (!c[0] || !c[1] || !c[2] || blocks_of_cluster > EMU_MAX_CLUSTER || blocks_of_cluster * c[2] > EMU_MAX_CLUSTER)
        REFUSE(cudaErrorInvalidClusterSize, "kernel %s: a cluster of (%u,%u,%u) blocks; it must have 1 to %d", name,
               c[0], c[1], c[2], EMU_MAX_CLUSTER);
    for (int i = 0; i < 3; i++)
        if (g[i] % c[i])
            REFUSE(cudaErrorInvalidClusterSize,
                   "kernel %s: a grid of (%u,%u,%u) blocks in clusters of (%u,%u,%u); the grid must be a multiple of "
                   "the "
                   "cluster along %c",
                   name, g[0], g[1], g[2], c[0], c[1], c[2], 'x' + i);
    if (blocks_of_cluster * c[2] > 1 && emu_chip_now()->each->capability < 90)
        REFUSE(cudaErrorNotSupported, "kernel %s: clusters need compute capability 9.0; this device (%s) has none",
               name, emu_chip_now()->name);
    if (blocks_of_cluster * c[2] > 1 && launch->cooperative)
        REFUSE(cudaErrorNotSupported, "kernel %s: the emulator does not run cooperative launches with clusters",
               name);
    if (launch->cooperative) {
        long limit = cooperative_limit((int)threads, launch->dynamic_shared);
        double blocks = (double)g[0] * g[1] * g[2];
        if (blocks > (double)limit)
            REFUSE(
                cudaErrorCooperativeLaunchTooLarge,
                "kernel %s: a cooperative grid of %.0f blocks of %llu threads; all blocks must be resident at once, "
                "and this device holds at most %ld",
                name, blocks, threads, limit);
        const double bytes = blocks * (BLOCK_BYTES + (double)threads * THREAD_BYTES);
        if (blocks > 1 && bytes > (double)emu_half_of_computer())
            REFUSE(cudaErrorMemoryAllocation,
                   "kernel %s: a cooperative grid of %.0f blocks of %llu threads, all resident at once, needs about "
                   "%.1f GB, more than half of this computer's memory; launch fewer blocks",
                   name, blocks, threads, bytes / 1e9);
    }
    return cudaSuccess;
#undef REFUSE
}

static int copy_arguments(char *to, const emu_signature *signature, void *const *arguments, const void *function) {
    for (uint32_t i = 0; i < signature->count; i++) {
        const emu_parameter at = signature->parameters[i];
        const void *from = arguments ? arguments[i] : NULL;
        if (!from) {
            char name[256];
            emu_kernel_name(function, name, sizeof name);
            return emu_error(cudaErrorInvalidValue, "kernel %s: the pointer to argument %u of %u is NULL", name, i,
                             signature->count);
        }
        if (at.size == 8) // the usual sizes, without a call of memcpy
            memcpy(to + at.offset, from, 8);
        else if (at.size == 4)
            memcpy(to + at.offset, from, 4);
        else
            memcpy(to + at.offset, from, at.size);
    }
    return cudaSuccess;
}

int emu_launch_request(const emu_launch *request, uintptr_t call) {
    emu_kernel *kernel;
    int device, code = emu_enter(&device);
    if (!code) code = emu_check_version(request->interface_version);
    if (!code) code = emu_find_typed_kernel(request->kernel, "the launch", &kernel);
    if (code) return code;
    const emu_grid_launch *parent = emu_grid_running();
    const emu_capture_calls *capture = parent ? NULL : emu_capturing();
    if (capture) {
        struct cudaGraphNodeParams node = {.type = cudaGraphNodeTypeKernel};
        node.kernel.func = (void *)(uintptr_t)kernel->function;
        node.kernel.gridDim = (dim3){request->grid.x, request->grid.y, request->grid.z};
        node.kernel.blockDim = (dim3){request->block.x, request->block.y, request->block.z};
        node.kernel.sharedMemBytes = (unsigned)request->dynamic_shared;
        node.kernel.kernelParams = (void **)(uintptr_t)request->arguments;
        if (capture->node(request->stream, &node, request->attributes, request->attribute_count, &code)) return code;
    }
    const emu_signature *signature = emu_kernel_signature(kernel);
    emu_grid_launch launch = {.trampoline = signature->trampoline,
                              .function = kernel->function,
                              .argument_bytes = signature->bytes,
                              .parameters = signature->parameters,
                              .parameter_count = signature->count,
                              .code = kernel->code,
                              .module = &kernel->module,
                              .grid = request->grid,
                              .block = request->block,
                              .dynamic_shared = request->dynamic_shared,
                              .cluster = {1, 1, 1},
                              .device = device,
                              .call = call};
    if (kernel->bounds.cluster.x) launch.cluster = kernel->bounds.cluster;
    code = read_attributes(&launch, request->attributes, request->attribute_count);
    if (!code) code = check_launch(&launch, kernel);
    if (code) return code;
    const size_t align = signature->align > alignof(emu_op) ? signature->align : alignof(emu_op);
    size_t offset = (sizeof(emu_op) + align - 1) / align * align;
    void *memory;
    if (posix_memalign(&memory, align, offset + signature->bytes))
        return emu_error(cudaErrorMemoryAllocation, "out of host memory for a launch");
    launch.arguments = (char *)memory + offset;
    launch.operation = memory;
    emu_op *later = memory;
    *later = (emu_op){.kind = OP_KERNEL, .launch = launch};
    code = copy_arguments((char *)memory + offset, signature, request->arguments, kernel->function);
    if (code) {
        free(later);
        return code;
    }
    if (parent) { // it runs after the kernel that launches it, in any stream
        emu_op *of = parent->operation;
        later->launch.device = parent->device;
        later->launch.stream = parent->stream;
        pthread_mutex_lock(&emu_queues.lock);
        const int is_tail = request->stream == cudaStreamTailLaunch;
        emu_op **first = is_tail ? &of->tail : &of->children, **last = is_tail ? &of->last_of_tail : &of->last_child;
        *(*first ? &(*last)->next : first) = later;
        *last = later;
        pthread_mutex_unlock(&emu_queues.lock);
        return cudaSuccess;
    }
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(request->stream, device, &s);
    if (!code && s->device != device)
        code =
            emu_error(cudaErrorInvalidResourceHandle,
                      "the stream belongs to device %d, but the current device is %d; call cudaSetDevice(%d) first",
                      s->device, device, s->device);
    if (!code) {
        later->launch.stream = s->id;
        code = emu_queue_later(s, later);
    }
    pthread_mutex_unlock(&emu_queues.lock);
    if (code) free(later);
    return code;
}
