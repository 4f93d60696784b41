// Devices: named chips, their limits, each OS thread's current device.
//
//   settings (chip, devices, memory) --> CHIPS row --> properties, attributes, limits --> checks of a launch
//
// Invariant: a limit is stated once, in CHIPS or LIMITS below; properties, attributes, occupancy and the checks of
// launches read it there. All emulated devices are of the same chip.
#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define KB(n) ((size_t)(n) << 10)
#define MB(n) ((size_t)(n) << 20)

// Published figures: data sheets, architecture white papers, and what the chips report of themselves. Clocks are the
// boost clocks; memory's transfer rate is twice its clock.
static const emu_chip CHIPS[] = {
    // name, full name, capability, SMs, clock, memory clock (kHz), bus, memory, L2,
    //   shared a multiprocessor, a block by opt-in, kept by the system, copy engines, float to double ratio
    {"H200", "NVIDIA H200", 9, 0, 132, 1980000, 3201000, 6016, MB(143156), MB(60), KB(228), KB(227), KB(1), 3, 2},
    {"H100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 1980000, 2619000, 5120, MB(81090), MB(50), KB(228), KB(227), KB(1),
     3, 2},
    {"A100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 1410000, 1593000, 5120, MB(81038), MB(40), KB(164), KB(163), KB(1),
     3, 2},
    {"V100", "Tesla V100-SXM2-16GB", 7, 0, 80, 1530000, 877000, 4096, MB(16151), MB(6), KB(96), KB(96), 0, 5, 2},
    {"P100", "Tesla P100-SXM2-16GB", 6, 0, 56, 1480500, 715000, 4096, MB(16276), MB(4), KB(64), KB(48), 0, 2, 2},
};
enum { CHIP_COUNT = sizeof CHIPS / sizeof *CHIPS };

// The same on all of these chips.
static const struct {
    int warp, block_threads, block_dim[3], multiprocessor_threads, multiprocessor_blocks, registers;
    unsigned grid_dim[3];
    size_t shared_per_block, constant, pitch;
} LIMITS = {EMU_WARP, EMU_MAX_THREADS, {1024, 1024, 64}, 2048, 32, 65536, {2147483647, 65535, 65535},
            KB(48),   KB(64),          2147483647};

static _Thread_local int current_device;

const emu_chip *emu_find_chip(const char *name) {
    for (int i = 0; i < CHIP_COUNT; i++)
        if (!strcasecmp(CHIPS[i].name, name)) return &CHIPS[i];
    return NULL;
}

void emu_list_chips(char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < CHIP_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "one of ", CHIPS[i].name);
}

const emu_chip *emu_chip_now(void) {
    const emu_chip *chip = emu_find_chip(emu_current_config()->chip);
    return chip ? chip : &CHIPS[0];
}

// The chip's memory, as far as the computer affords it: half its own, shared among the devices.
size_t emu_device_memory(void) {
    const emu_config *config = emu_current_config();
    if (config->memory) return config->memory;
    size_t chip = emu_chip_now()->memory;
    size_t host = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 2;
    host = host / (size_t)(config->devices ? config->devices : 1) & ~(MB(1) - 1);
    return host < chip ? host : chip;
}

static int check_any(void) {
    const char *problem = emu_config_problem();
    if (problem) return emu_error(cudaErrorInitializationError, "%s", problem);
    if (!emu_current_config()->devices) return emu_error(cudaErrorNoDevice, "the emulator is set to have 0 devices");
    return cudaSuccess;
}

int emu_check_device(int device, const char *call) {
    int code = check_any();
    if (code) return code;
    int count = emu_current_config()->devices;
    if (device >= 0 && device < count) return cudaSuccess;
    return emu_error(cudaErrorInvalidDevice, "%s: there is no device %d; the emulator has %d (0 to %d)", call, device,
                     count, count - 1);
}

int emu_enter(int *device) {
    *device = current_device;
    return emu_check_device(current_device, "the calling thread's current device");
}

int emu_device_count(int *count) {
    if (!count) return emu_error(cudaErrorInvalidValue, "cudaGetDeviceCount: no place for the result");
    *count = 0;
    int code = check_any();
    if (!code) *count = emu_current_config()->devices;
    return code;
}

int emu_get_device(int *device) {
    if (!device) return emu_error(cudaErrorInvalidValue, "cudaGetDevice: no place for the result");
    int code = check_any();
    if (!code) *device = current_device;
    return code;
}

int emu_set_device(int device) {
    int code = emu_check_device(device, "cudaSetDevice");
    if (!code) current_device = device;
    return code;
}

static void fill(struct cudaDeviceProp *p, int device) {
    const emu_chip *chip = emu_chip_now();
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Emulated %s", chip->full_name);
    memcpy(p->uuid.bytes, "cudakern-emulate", sizeof p->uuid.bytes);
    p->uuid.bytes[15] = (char)device;
    p->totalGlobalMem = emu_device_memory();
    p->sharedMemPerBlock = LIMITS.shared_per_block;
    p->regsPerBlock = p->regsPerMultiprocessor = LIMITS.registers;
    p->warpSize = LIMITS.warp;
    p->memPitch = LIMITS.pitch;
    p->maxThreadsPerBlock = LIMITS.block_threads;
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = LIMITS.block_dim[i];
        p->maxGridSize[i] = (int)LIMITS.grid_dim[i];
    }
    p->totalConstMem = LIMITS.constant;
    p->major = chip->major;
    p->minor = chip->minor;
    p->textureAlignment = 512;
    p->texturePitchAlignment = 32;
    p->multiProcessorCount = chip->multiprocessors;
    p->canMapHostMemory = p->concurrentKernels = p->ECCEnabled = p->unifiedAddressing = 1;
    p->pciBusID = device + 1;
    p->asyncEngineCount = chip->async_engines;
    p->memoryBusWidth = chip->bus_bits;
    p->l2CacheSize = (int)chip->l2;
    p->maxThreadsPerMultiProcessor = LIMITS.multiprocessor_threads;
    p->streamPrioritiesSupported = 0; // accepted, but all streams are alike
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->sharedMemPerMultiprocessor = chip->shared_per_multiprocessor;
    p->computePreemptionSupported = 1;
    p->canUseHostPointerForRegisteredMem = 1;
    p->cooperativeLaunch = 1;
    p->sharedMemPerBlockOptin = chip->shared_per_block_optin;
    p->maxBlocksPerMultiProcessor = LIMITS.multiprocessor_blocks;
    p->reservedSharedMemPerBlock = chip->shared_reserved;
    p->hostRegisterSupported = 1;
    p->memoryPoolsSupported = 1;
    p->clusterLaunch = 0; // the emulator has no clusters yet, whatever the chip has
    p->unifiedFunctionPointers = 0;
}

int emu_device_properties(void *properties, size_t size, int device) {
    int code = emu_check_device(device, "cudaGetDeviceProperties");
    if (code) return code;
    if (!properties) return emu_error(cudaErrorInvalidValue, "cudaGetDeviceProperties: no place for the result");
    struct cudaDeviceProp p;
    fill(&p, device);
    memcpy(properties, &p, size < sizeof p ? size : sizeof p);
    return cudaSuccess;
}

int emu_device_attribute(int *value, int attribute, int device) {
    int code = emu_check_device(device, "cudaDeviceGetAttribute");
    if (code) return code;
    if (!value) return emu_error(cudaErrorInvalidValue, "cudaDeviceGetAttribute: no place for the result");
    struct cudaDeviceProp p;
    fill(&p, device);
    const emu_chip *chip = emu_chip_now();
    long long answer = 0;
    switch ((enum cudaDeviceAttr)attribute) {
    case cudaDevAttrMaxThreadsPerBlock: answer = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: answer = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: answer = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: answer = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: answer = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: answer = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: answer = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: answer = (long long)p.sharedMemPerBlock; break;
    case cudaDevAttrTotalConstantMemory: answer = (long long)p.totalConstMem; break;
    case cudaDevAttrWarpSize: answer = p.warpSize; break;
    case cudaDevAttrMaxPitch: answer = (long long)p.memPitch; break;
    case cudaDevAttrMaxRegistersPerBlock: answer = p.regsPerBlock; break;
    case cudaDevAttrClockRate: answer = chip->clock_khz; break;
    case cudaDevAttrTextureAlignment: answer = (long long)p.textureAlignment; break;
    case cudaDevAttrGpuOverlap: answer = 1; break;
    case cudaDevAttrMultiProcessorCount: answer = p.multiProcessorCount; break;
    case cudaDevAttrKernelExecTimeout: answer = 0; break;
    case cudaDevAttrIntegrated: answer = p.integrated; break;
    case cudaDevAttrCanMapHostMemory: answer = p.canMapHostMemory; break;
    case cudaDevAttrComputeMode: answer = cudaComputeModeDefault; break;
    case cudaDevAttrConcurrentKernels: answer = p.concurrentKernels; break;
    case cudaDevAttrEccEnabled: answer = p.ECCEnabled; break;
    case cudaDevAttrPciBusId: answer = p.pciBusID; break;
    case cudaDevAttrPciDeviceId: answer = p.pciDeviceID; break;
    case cudaDevAttrTccDriver: answer = p.tccDriver; break;
    case cudaDevAttrMemoryClockRate: answer = chip->memory_clock_khz; break;
    case cudaDevAttrGlobalMemoryBusWidth: answer = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: answer = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: answer = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrAsyncEngineCount: answer = p.asyncEngineCount; break;
    case cudaDevAttrUnifiedAddressing: answer = p.unifiedAddressing; break;
    case cudaDevAttrPciDomainId: answer = p.pciDomainID; break;
    case cudaDevAttrTexturePitchAlignment: answer = (long long)p.texturePitchAlignment; break;
    case cudaDevAttrComputeCapabilityMajor: answer = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: answer = p.minor; break;
    case cudaDevAttrStreamPrioritiesSupported: answer = p.streamPrioritiesSupported; break;
    case cudaDevAttrGlobalL1CacheSupported: answer = p.globalL1CacheSupported; break;
    case cudaDevAttrLocalL1CacheSupported: answer = p.localL1CacheSupported; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: answer = (long long)p.sharedMemPerMultiprocessor; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: answer = p.regsPerMultiprocessor; break;
    case cudaDevAttrManagedMemory: answer = p.managedMemory; break;
    case cudaDevAttrIsMultiGpuBoard: answer = p.isMultiGpuBoard; break;
    case cudaDevAttrMultiGpuBoardGroupID: answer = device; break;
    case cudaDevAttrHostNativeAtomicSupported: answer = p.hostNativeAtomicSupported; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: answer = chip->double_ratio; break;
    case cudaDevAttrPageableMemoryAccess: answer = p.pageableMemoryAccess; break;
    case cudaDevAttrConcurrentManagedAccess: answer = p.concurrentManagedAccess; break;
    case cudaDevAttrComputePreemptionSupported: answer = p.computePreemptionSupported; break;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: answer = p.canUseHostPointerForRegisteredMem; break;
    case cudaDevAttrCooperativeLaunch: answer = p.cooperativeLaunch; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: answer = (long long)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrHostRegisterSupported: answer = p.hostRegisterSupported; break;
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables: answer = 0; break;
    case cudaDevAttrDirectManagedMemAccessFromHost: answer = 0; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: answer = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrMaxPersistingL2CacheSize: answer = p.persistingL2CacheMaxSize; break;
    case cudaDevAttrMaxAccessPolicyWindowSize: answer = p.accessPolicyMaxWindowSize; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: answer = (long long)p.reservedSharedMemPerBlock; break;
    case cudaDevAttrMemoryPoolsSupported: answer = p.memoryPoolsSupported; break;
    case cudaDevAttrClusterLaunch: answer = p.clusterLaunch; break;
    default:
        return emu_error(cudaErrorInvalidValue, "cudaDeviceGetAttribute: the emulator does not know attribute %d",
                         attribute);
    }
    *value = (int)answer;
    return cudaSuccess;
}

int emu_device_bus_id(char *text, int size, int device) {
    int code = emu_check_device(device, "cudaDeviceGetPCIBusId");
    if (code) return code;
    if (!text || size < 13) return emu_error(cudaErrorInvalidValue, "cudaDeviceGetPCIBusId: 13 bytes are needed");
    snprintf(text, (size_t)size, "0000:%02X:00.0", (unsigned)(device + 1) & 0xff);
    return cudaSuccess;
}

int emu_versions(int *driver, int *runtime) {
    if (driver) *driver = CUDART_VERSION;
    if (runtime) *runtime = CUDART_VERSION;
    if (driver || runtime) return cudaSuccess;
    return emu_error(cudaErrorInvalidValue, "cudaDriverGetVersion: no place for the result");
}

int emu_device_synchronize(void) {
    int device, code = emu_enter(&device);
    if (code) return code;
    return emu_wait_device(device);
}

int emu_device_reset(void) {
    int device, code = emu_enter(&device);
    if (code) return code;
    code = emu_wait_device(device);
    emu_drop_streams(device);
    emu_release_device(device);
    return code;
}

// --- kernels: what a launch may ask for ---------------------------------------------------------------------------
// Dynamic shared memory that cudaFuncSetAttribute allowed beyond the usual 48 KB: a sorted table by address.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opted {
    const void *function;
    size_t bytes;
    char *name;
} * functions;
static size_t function_count, function_room;

void emu_device_fork(emu_fork stage) {
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
    functions[low] = (struct opted){.function = function, .bytes = LIMITS.shared_per_block};
    return &functions[low];
}

static int check_function(const void *function, const char *call) {
    return function ? cudaSuccess : emu_error(cudaErrorInvalidDeviceFunction, "%s: the kernel is NULL", call);
}

static size_t shared_limit(const void *function) {
    pthread_mutex_lock(&lock);
    struct opted *found = entry(function, 0);
    size_t bytes = found ? found->bytes : LIMITS.shared_per_block;
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
    struct cudaFuncAttributes a = {.maxThreadsPerBlock = LIMITS.block_threads,
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

// Blocks that a multiprocessor of the chip holds at once, by threads and shared memory (registers are not known).
static int chip_occupancy(int threads, size_t dynamic_shared) {
    const emu_chip *chip = emu_chip_now();
    if (threads < 1 || threads > LIMITS.block_threads || dynamic_shared > chip->shared_per_block_optin) return 0;
    int warps = (threads + LIMITS.warp - 1) / LIMITS.warp;
    int blocks = LIMITS.multiprocessor_threads / LIMITS.warp / warps;
    size_t shared = dynamic_shared + chip->shared_reserved;
    if (shared && chip->shared_per_multiprocessor / shared < (size_t)blocks)
        blocks = (int)(chip->shared_per_multiprocessor / shared);
    return blocks < LIMITS.multiprocessor_blocks ? blocks : LIMITS.multiprocessor_blocks;
}

static long cooperative_limit(int threads, size_t dynamic_shared) {
    long chip = (long)chip_occupancy(threads, dynamic_shared) * emu_chip_now()->multiprocessors;
    long computer = emu_grid_cooperative_limit();
    return chip < computer ? chip : computer;
}

// Programs size a cooperative grid as this answer times the multiprocessors. Where the computer holds that many
// multiprocessors' blocks at once, but fewer blocks than the chip, the answer is lowered so that such a grid runs;
// where it does not even hold one a multiprocessor, the answer is the chip's, and the launch says what the limit is.
int emu_occupancy(int *blocks, const void *function, int block_size, size_t dynamic_shared) {
    int device, code = emu_enter(&device);
    if (!code) code = check_function(function, "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    if (code) return code;
    if (!blocks || block_size < 1)
        return emu_error(cudaErrorInvalidValue,
                         "cudaOccupancyMaxActiveBlocksPerMultiprocessor: %d threads a block; at least 1 is needed",
                         block_size);
    int chip = chip_occupancy(block_size, dynamic_shared);
    int computer = emu_grid_cooperative_limit() / emu_chip_now()->multiprocessors;
    *blocks = computer < 1 || chip < computer ? chip : computer;
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
    size_t share = chip->shared_per_multiprocessor / (size_t)blocks - chip->shared_reserved;
    *bytes = share < chip->shared_per_block_optin ? share : chip->shared_per_block_optin;
    return cudaSuccess;
}

// Every limit of a launch, each with the code that cudaLaunchKernelEx gives on a GPU (error 9 is that of <<<>>>, which
// is not offered here), and words that give value and limit.
int emu_check_launch(const emu_launch *launch) {
    char name[256];
    int code = check_function(launch->function, "the launch");
    if (code) return code;
    const emu_dim3 *grid = &launch->grid, *block = &launch->block;
    const unsigned g[3] = {grid->x, grid->y, grid->z}, b[3] = {block->x, block->y, block->z};
    unsigned long long threads = 1ull * b[0] * b[1]; // three factors could overflow
    threads = threads > UINT32_MAX ? threads : threads * b[2];
#define REFUSE(code, ...) return emu_kernel_name(launch->function, name, sizeof name), emu_error(code, __VA_ARGS__)
    for (int i = 0; i < 3; i++) {
        if (g[i] < 1 || g[i] > LIMITS.grid_dim[i])
            REFUSE(cudaErrorInvalidValue, "kernel %s: a grid of (%u,%u,%u) blocks; %c must be from 1 to %u", name,
                   g[0], g[1], g[2], 'x' + i, LIMITS.grid_dim[i]);
        if (b[i] < 1 || b[i] > (unsigned)LIMITS.block_dim[i])
            REFUSE(cudaErrorInvalidValue, "kernel %s: a block of (%u,%u,%u) threads; %c must be from 1 to %d", name,
                   b[0], b[1], b[2], 'x' + i, LIMITS.block_dim[i]);
    }
    if (threads > (unsigned long long)LIMITS.block_threads)
        REFUSE(cudaErrorInvalidValue, "kernel %s: a block of (%u,%u,%u) = %llu threads; a block may have at most %d",
               name, b[0], b[1], b[2], threads, LIMITS.block_threads);
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
                "and here at most %ld can be (the emulated device: %ld; this computer, a thread a block: %d)",
                name, blocks, threads, limit,
                (long)chip_occupancy((int)threads, launch->dynamic_shared) * emu_chip_now()->multiprocessors,
                emu_grid_cooperative_limit());
    }
    return cudaSuccess;
#undef REFUSE
}
