// Launches: what a kernel may ask for, whether the device has it, and into the stream's queue.
//
//   cudaFuncSetAttribute --> functions[] --.
//   CHIPS, EMU_LIMITS (device.c) ----------+--> check_launch --> emu_launch_kernel --> the stream's queue
#define _GNU_SOURCE
#include "stream.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Dynamic shared memory that cudaFuncSetAttribute allowed beyond the usual 48 KB: a sorted table by address.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opted {
    const void *function;
    size_t bytes;
    char *name;
} * functions;
static size_t function_count, function_room;

void emu_launch_fork(emu_fork stage) {
    if (stage == EMU_FORK_PREPARE)
        pthread_mutex_lock(&lock);
    else
        pthread_mutex_unlock(&lock);
}

// The function's entry (`lock` is held); made where `create` says so. NULL: none, or no memory.
static struct opted *entry(const void *function, int create) {
    size_t low = 0, high = function_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)functions[middle].function < (uintptr_t)function)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < function_count && functions[low].function == function) return &functions[low];
    if (!create) return NULL;
    if (function_count == function_room) {
        size_t room = function_room ? 2 * function_room : 16;
        struct opted *grown = realloc(functions, room * sizeof *grown);
        if (!grown) return NULL;
        functions = grown;
        function_room = room;
    }
    memmove(&functions[low + 1], &functions[low], (function_count++ - low) * sizeof *functions);
    functions[low] = (struct opted){.function = function, .bytes = EMU_LIMITS.shared_per_block};
    return &functions[low];
}

static int check_function(const void *function, const char *call) {
    return function ? cudaSuccess : emu_error(cudaErrorInvalidDeviceFunction, "%s: the kernel is NULL", call);
}

static size_t shared_limit(const void *function) {
    pthread_mutex_lock(&lock);
    struct opted *found = entry(function, 0);
    size_t bytes = found ? found->bytes : EMU_LIMITS.shared_per_block;
    pthread_mutex_unlock(&lock);
    return bytes;
}

int emu_function_set(const void *function, int attribute, int value) {
    int device, code = emu_enter(&device);
    if (!code) code = check_function(function, "cudaFuncSetAttribute");
    if (code) return code;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess; // a hint
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return emu_error(cudaErrorInvalidValue, "cudaFuncSetAttribute: the emulator does not know attribute %d",
                         attribute);
    size_t limit = emu_chip_now()->shared_per_block_optin;
    if (value < 0 || (size_t)value > limit) {
        char name[256];
        emu_kernel_name(function, name, sizeof name);
        return emu_error(cudaErrorInvalidValue,
                         "%s: %d bytes of dynamic shared memory asked for by cudaFuncSetAttribute; a block of this "
                         "device (%s) may have at most %zu",
                         name, value, emu_chip_now()->name, limit);
    }
    pthread_mutex_lock(&lock);
    struct opted *found = entry(function, 1);
    if (found) found->bytes = (size_t)value;
    pthread_mutex_unlock(&lock);
    return found ? cudaSuccess : emu_error(cudaErrorMemoryAllocation, "cudaFuncSetAttribute: no memory left");
}

int emu_function_attributes(void *attributes, size_t size, const void *function) {
    int device, code = emu_enter(&device);
    if (!code) code = check_function(function, "cudaFuncGetAttributes");
    if (code) return code;
    if (!attributes) return emu_error(cudaErrorInvalidValue, "cudaFuncGetAttributes: no place for the result");
    const emu_chip *chip = emu_chip_now();
    // Registers, static shared and local memory are the host compiler's affair here: 0, for "not known".
    struct cudaFuncAttributes a = {.maxThreadsPerBlock = EMU_LIMITS.block_threads,
                                   .ptxVersion = 10 * chip->major + chip->minor,
                                   .binaryVersion = 10 * chip->major + chip->minor,
                                   .maxDynamicSharedSizeBytes = (int)shared_limit(function),
                                   .preferredShmemCarveout = -1};
    memcpy(attributes, &a, size < sizeof a ? size : sizeof a);
    return cudaSuccess;
}

int emu_function_name(const char **name, const void *function) {
    int code = check_function(function, "cudaFuncGetName");
    if (code) return code;
    if (!name) return emu_error(cudaErrorInvalidValue, "cudaFuncGetName: no place for the result");
    // CUDA gives the linker's name, mangled; our own messages give the source's.
    char text[1024];
    Dl_info info;
    if (dladdr(function, &info) && info.dli_sname)
        snprintf(text, sizeof text, "%s", info.dli_sname);
    else
        emu_kernel_name(function, text, sizeof text);
    pthread_mutex_lock(&lock);
    struct opted *found = entry(function, 1);
    if (found && !found->name) found->name = strdup(text); // callers keep the pointer: it lives as long as we do
    *name = found ? found->name : NULL;
    pthread_mutex_unlock(&lock);
    return *name ? cudaSuccess : emu_error(cudaErrorMemoryAllocation, "cudaFuncGetName: no memory left");
}

// Blocks that a multiprocessor of the chip holds at once, by threads and shared memory (registers are not known): the
// rules of cudakern/_occupancy.py, which tests hold against this. Shared memory is given out in pieces.
static int chip_occupancy(int threads, size_t dynamic_shared) {
    const emu_chip *chip = emu_chip_now();
    if (threads < 1 || threads > EMU_LIMITS.block_threads || dynamic_shared > chip->shared_per_block_optin) return 0;
    int warps = (threads + EMU_LIMITS.warp - 1) / EMU_LIMITS.warp;
    int blocks = EMU_LIMITS.multiprocessor_threads / EMU_LIMITS.warp / warps;
    const size_t piece = chip->major >= 8 ? 128 : 256;
    const size_t shared = (dynamic_shared + chip->shared_reserved + piece - 1) / piece * piece;
    if (shared && chip->shared_per_multiprocessor / shared < (size_t)blocks)
        blocks = (int)(chip->shared_per_multiprocessor / shared);
    return blocks < EMU_LIMITS.multiprocessor_blocks ? blocks : EMU_LIMITS.multiprocessor_blocks;
}

static long cooperative_limit(int threads, size_t dynamic_shared) {
    long chip = (long)chip_occupancy(threads, dynamic_shared) * emu_chip_now()->multiprocessors;
    return chip < EMU_COOPERATIVE_MOST ? chip : EMU_COOPERATIVE_MOST;
}

// Programs size a cooperative grid as this answer times the multiprocessors. Where the emulator holds a block for
// each multiprocessor at once, but fewer blocks than the chip, the answer is lowered so that such a grid runs; where
// it does not even hold one a multiprocessor, the answer is the chip's, and the launch says what the limit is.
int emu_occupancy(int *blocks, const void *function, int block_size, size_t dynamic_shared) {
    int device, code = emu_enter(&device);
    if (!code) code = check_function(function, "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    if (code) return code;
    if (!blocks || block_size < 1)
        return emu_error(cudaErrorInvalidValue,
                         "cudaOccupancyMaxActiveBlocksPerMultiprocessor: %d threads a block; at least 1 is needed",
                         block_size);
    int chip = dynamic_shared <= shared_limit(function) ? chip_occupancy(block_size, dynamic_shared) : 0;
    int emulator = EMU_COOPERATIVE_MOST / emu_chip_now()->multiprocessors;
    *blocks = emulator < 1 || chip < emulator ? chip : emulator;
    return cudaSuccess;
}

// As CUDA's header does it: whole warps from the largest block down; most threads resident win, and of those that have
// as many the largest block.
int emu_occupancy_block(int *grid, int *block, const void *function, size_t dynamic_shared, int limit) {
    if (!grid || !block || limit < 0)
        return emu_error(cudaErrorInvalidValue,
                         "cudaOccupancyMaxPotentialBlockSize: no place for the result, or a limit of %d", limit);
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
        if (best == EMU_LIMITS.multiprocessor_threads) break;
    }
    return cudaSuccess;
}

int emu_occupancy_shared(size_t *bytes, const void *function, int blocks, int block_size) {
    int device, code = emu_enter(&device);
    if (!code) code = check_function(function, "cudaOccupancyAvailableDynamicSMemPerBlock");
    if (code) return code;
    if (!bytes || blocks < 1 || blocks > chip_occupancy(block_size, 0))
        return emu_error(cudaErrorInvalidValue,
                         "cudaOccupancyAvailableDynamicSMemPerBlock: %d blocks of %d threads do not fit a "
                         "multiprocessor; at most %d do",
                         blocks, block_size, chip_occupancy(block_size, 0));
    const emu_chip *chip = emu_chip_now();
    const size_t piece = chip->major >= 8 ? 128 : 256;
    size_t share = chip->shared_per_multiprocessor / (size_t)blocks / piece * piece - chip->shared_reserved;
    *bytes = share < chip->shared_per_block_optin ? share : chip->shared_per_block_optin;
    return cudaSuccess;
}

// Every limit of a launch, each with the code that cudaLaunchKernelEx gives on a GPU (error 9 is that of <<<>>>,
// which is not offered here), and words that give value and limit.
static int check_launch(const emu_launch *launch) {
    char name[256];
    int code = check_function(launch->function, "the launch");
    if (code) return code;
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
        REFUSE(cudaErrorInvalidValue, "kernel %s: a block of (%u,%u,%u) = %llu threads; a block may have at most %d",
               name, b[0], b[1], b[2], threads, EMU_LIMITS.block_threads);
    size_t allowed = shared_limit(launch->function), most = emu_chip_now()->shared_per_block_optin;
    if (launch->dynamic_shared > allowed || launch->dynamic_shared > most)
        REFUSE(
            cudaErrorInvalidValue,
            "kernel %s: %zu bytes of dynamic shared memory; allowed are %zu, and up to %zu on this device (%s) after "
            "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
            name, launch->dynamic_shared, allowed < most ? allowed : most, most, emu_chip_now()->name);
    if (launch->cooperative) {
        long limit = cooperative_limit((int)threads, launch->dynamic_shared);
        double blocks = (double)g[0] * g[1] * g[2];
        if (blocks > (double)limit)
            REFUSE(
                cudaErrorCooperativeLaunchTooLarge,
                "kernel %s: a cooperative grid of %.0f blocks of %llu threads; all blocks must be resident at once, "
                "and here at most %ld can be (the emulated device: %ld; the emulator, an OS thread a block: %d)",
                name, blocks, threads, limit,
                (long)chip_occupancy((int)threads, launch->dynamic_shared) * emu_chip_now()->multiprocessors,
                EMU_COOPERATIVE_MOST);
    }
    return cudaSuccess;
#undef REFUSE
}

int emu_launch_kernel(const emu_launch *launch) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (launch->interface_version != EMU_INTERFACE_VERSION)
        return emu_error(cudaErrorInvalidKernelImage,
                         "the kernel was built against version %u of the emulator's interface; this is version %d: "
                         "build it again",
                         launch->interface_version, EMU_INTERFACE_VERSION);
    code = check_launch(launch);
    if (code) return code;
    size_t align = launch->argument_align > 64 ? launch->argument_align : 64;
    size_t offset = (sizeof(emu_op) + align - 1) / align * align;
    void *memory;
    if (posix_memalign(&memory, align, offset + launch->argument_bytes))
        return emu_error(cudaErrorMemoryAllocation, "no memory left for a launch");
    emu_op *later = memory;
    *later = (emu_op){.kind = OP_KERNEL, .launch = *launch};
    later->launch.arguments = (char *)memory + offset;
    if (launch->argument_bytes) memcpy((char *)memory + offset, launch->arguments, launch->argument_bytes);
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(launch->stream, device, &s);
    if (!code && s->device != device)
        code = emu_error(
            cudaErrorInvalidResourceHandle,
            "a kernel on a stream of device %d, while the current device is %d: call cudaSetDevice(%d) first",
            s->device, device, s->device);
    const int held = !code && s->held;
    if (!code && !held) code = emu_queue_later(s, later);
    pthread_mutex_unlock(&emu_queues.lock);
    if (code || held) free(later);
    return code;
}
