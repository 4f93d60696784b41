// Devices: their limits, each OS thread's current device.
//
//   settings (chip, devices, memory) --> chips.c --> properties, attributes; launch.c: occupancy, checks
//
// Invariant: each limit is defined once, in emulator/chips.h or in EMU_LIMITS below. Properties, attributes,
// occupancy and the checks of launches read it there. All emulated devices have the same chip.
#define _GNU_SOURCE
#include "host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MB(n) ((size_t)(n) << 20)

// Limits that are the same on all chips.
const emu_limits EMU_LIMITS = {
    .warp = EMU_WARP,
    .block_threads = EMU_MAX_THREADS,
    .block_dim = {1024, 1024, 64},
    .grid_dim = {2147483647, 65535, 65535},
    .shared_per_block = 48 << 10,
    .constant = 64 << 10,
    .pitch = 2147483647,
    .texture_1d = 131072,
    .texture_2d = {131072, 65536},
    .texture_3d = {16384, 16384, 16384},
    .texture_1d_layered = {32768, 2048},
    .texture_2d_layered = {32768, 32768, 2048},
    .texture_alignment = 512,
    .texture_pitch_alignment = 32,
    .surface_alignment = 512,
};

static _Thread_local int current_device;
static atomic_uint device_flags[EMU_MAX_DEVICES];            // cudaSetDeviceFlags: stored without effect
static atomic_uchar peers[EMU_MAX_DEVICES][EMU_MAX_DEVICES]; // [from][to]: whether access is enabled

const emu_chip *emu_chip_now(void) {
    return emu_find_chip(emu_current_config()->chip);
}

size_t emu_half_of_computer(void) {
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 2;
}

// The chip's memory, but at most half of the computer's divided by the number of devices.
size_t emu_device_memory(void) {
    const emu_config *config = emu_current_config();
    if (config->memory) return config->memory;
    size_t chip = emu_chip_now()->memory;
    size_t host = emu_half_of_computer() / (size_t)(config->devices ? config->devices : 1) & ~(MB(1) - 1);
    return host < chip ? host : chip;
}

static int check_any(void) {
    const char *problem = emu_config_problem();
    if (problem) return emu_error(cudaErrorInitializationError, "%s", problem);
    if (!emu_current_config()->devices)
        return emu_error(cudaErrorNoDevice,
                         "the emulator is set to have 0 devices; set CUDAKERN_EMULATOR_DEVICES to 1 or more");
    return cudaSuccess;
}

int emu_check_device(int device, const char *call) {
    int code = check_any();
    if (code) return code;
    int count = emu_current_config()->devices;
    if (device >= 0 && device < count) return cudaSuccess;
    return emu_error(cudaErrorInvalidDevice, "%s: device %d does not exist; the emulator has %d (0 to %d)", call,
                     device, count, count - 1);
}

int emu_device_exists(int device) {
    return emu_check_device(device, "cuDeviceGet");
}

int emu_enter(int *device) {
    *device = current_device;
    const int code = emu_error_of_all_calls();
    return code ? code : emu_check_device(current_device, "the calling thread's current device");
}

int emu_device_count(int *count) {
    if (!count) return emu_error(cudaErrorInvalidValue, "cudaGetDeviceCount: the pointer for the result is NULL");
    *count = 0;
    int code = check_any();
    if (!code) *count = emu_current_config()->devices;
    return code;
}

int emu_get_device(int *device) {
    if (!device) return emu_error(cudaErrorInvalidValue, "cudaGetDevice: the pointer for the result is NULL");
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
    const emu_multiprocessor *each = chip->each;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Emulated %s", chip->full_name);
    memcpy(p->uuid.bytes, "cudakern-emulate", sizeof p->uuid.bytes);
    p->uuid.bytes[15] = (char)device;
    p->totalGlobalMem = emu_device_memory();
    p->sharedMemPerBlock = EMU_LIMITS.shared_per_block;
    p->regsPerBlock = each->registers_per_block;
    p->regsPerMultiprocessor = each->registers;
    p->warpSize = EMU_LIMITS.warp;
    p->memPitch = EMU_LIMITS.pitch;
    p->maxThreadsPerBlock = EMU_LIMITS.block_threads;
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = EMU_LIMITS.block_dim[i];
        p->maxGridSize[i] = (int)EMU_LIMITS.grid_dim[i];
    }
    p->totalConstMem = EMU_LIMITS.constant;
    p->major = each->capability / 10;
    p->minor = each->capability % 10;
    p->maxTexture1D = EMU_LIMITS.texture_1d;
    memcpy(p->maxTexture2D, EMU_LIMITS.texture_2d, sizeof p->maxTexture2D);
    memcpy(p->maxTexture3D, EMU_LIMITS.texture_3d, sizeof p->maxTexture3D);
    memcpy(p->maxTexture1DLayered, EMU_LIMITS.texture_1d_layered, sizeof p->maxTexture1DLayered);
    memcpy(p->maxTexture2DLayered, EMU_LIMITS.texture_2d_layered, sizeof p->maxTexture2DLayered);
    p->textureAlignment = (size_t)EMU_LIMITS.texture_alignment;
    p->texturePitchAlignment = (size_t)EMU_LIMITS.texture_pitch_alignment;
    p->surfaceAlignment = (size_t)EMU_LIMITS.surface_alignment;
    p->multiProcessorCount = chip->multiprocessors;
    p->canMapHostMemory = p->concurrentKernels = p->ECCEnabled = p->unifiedAddressing = 1;
    p->pciBusID = device + 1;
    p->asyncEngineCount = chip->async_engines;
    p->memoryBusWidth = chip->bus_bits;
    p->l2CacheSize = (int)chip->l2;
    p->maxThreadsPerMultiProcessor = each->warps * EMU_LIMITS.warp;
    p->streamPrioritiesSupported = 1; // (they have no effect)
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->sharedMemPerMultiprocessor = each->shared;
    p->computePreemptionSupported = 1;
    p->canUseHostPointerForRegisteredMem = 1;
    p->cooperativeLaunch = 1;
    p->sharedMemPerBlockOptin = each->shared_per_block;
    p->maxBlocksPerMultiProcessor = each->blocks;
    p->reservedSharedMemPerBlock = each->shared_reserved;
    p->hostRegisterSupported = 1;
    p->memoryPoolsSupported = 1;
    p->clusterLaunch = each->capability >= 90;
    p->unifiedFunctionPointers = 0;
    p->managedMemory = p->concurrentManagedAccess = 1;
    p->clockRate = chip->clock_khz;
    p->memoryClockRate = chip->memory_clock_khz;
    p->deviceOverlap = 1;
    p->computeMode = cudaComputeModeDefault;
    p->singleToDoublePrecisionPerfRatio = each->double_rate ? each->float_rate / each->double_rate : 0;
    if (each->capability >= 80) { // hints about the L2 cache are accepted but have no effect
        p->persistingL2CacheMaxSize = (int)(each->capability >= 90 ? chip->l2 / 8 * 5 : chip->l2 / 4 * 3);
        p->accessPolicyMaxWindowSize = 128 << 20;
    }
    // The guide's table of technical specifications; the linear ones are those of texture.c.
    p->maxTexture1DMipmap = 32768;
    p->maxTexture1DLinear = 1 << 28;
    p->maxTexture2DMipmap[0] = p->maxTexture2DMipmap[1] = 32768;
    p->maxTexture2DLinear[0] = EMU_LIMITS.texture_1d;
    p->maxTexture2DLinear[1] = 65000;
    p->maxTexture2DLinear[2] = 2097120;
    p->maxTexture2DGather[0] = p->maxTexture2DGather[1] = 32768;
    p->maxTexture3DAlt[0] = p->maxTexture3DAlt[1] = 8192;
    p->maxTexture3DAlt[2] = 32768;
    p->maxTextureCubemap = p->maxTextureCubemapLayered[0] = 32768;
    p->maxTextureCubemapLayered[1] = 2046;
    p->maxSurface1D = 32768;
    memcpy(p->maxSurface2D, EMU_LIMITS.texture_2d, sizeof p->maxSurface2D);
    memcpy(p->maxSurface3D, EMU_LIMITS.texture_3d, sizeof p->maxSurface3D);
    memcpy(p->maxSurface1DLayered, EMU_LIMITS.texture_1d_layered, sizeof p->maxSurface1DLayered);
    memcpy(p->maxSurface2DLayered, EMU_LIMITS.texture_2d_layered, sizeof p->maxSurface2DLayered);
    p->maxSurfaceCubemap = p->maxSurfaceCubemapLayered[0] = 32768;
    p->maxSurfaceCubemapLayered[1] = 2046;
    p->hostRegisterReadOnlySupported = 1;
}

int emu_device_properties(void *properties, size_t size, int device) {
    int code = emu_check_device(device, "cudaGetDeviceProperties");
    if (code) return code;
    if (!properties)
        return emu_error(cudaErrorInvalidValue, "cudaGetDeviceProperties: the pointer for the result is NULL");
    struct cudaDeviceProp p;
    fill(&p, device);
    memcpy(properties, &p, size < sizeof p ? size : sizeof p);
    return cudaSuccess;
}

int emu_device_attribute(int *value, int attribute, int device) {
    int code = emu_check_device(device, "cudaDeviceGetAttribute");
    if (code) return code;
    if (!value) return emu_error(cudaErrorInvalidValue, "cudaDeviceGetAttribute: the pointer for the result is NULL");
    struct cudaDeviceProp p;
    fill(&p, device);
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
    case cudaDevAttrClockRate: answer = p.clockRate; break;
    case cudaDevAttrMaxTexture1DWidth: answer = p.maxTexture1D; break;
    case cudaDevAttrMaxTexture2DWidth: answer = p.maxTexture2D[0]; break;
    case cudaDevAttrMaxTexture2DHeight: answer = p.maxTexture2D[1]; break;
    case cudaDevAttrMaxTexture3DWidth: answer = p.maxTexture3D[0]; break;
    case cudaDevAttrMaxTexture3DHeight: answer = p.maxTexture3D[1]; break;
    case cudaDevAttrMaxTexture3DDepth: answer = p.maxTexture3D[2]; break;
    case cudaDevAttrMaxTexture1DLayeredWidth: answer = p.maxTexture1DLayered[0]; break;
    case cudaDevAttrMaxTexture1DLayeredLayers: answer = p.maxTexture1DLayered[1]; break;
    case cudaDevAttrMaxTexture2DLayeredWidth: answer = p.maxTexture2DLayered[0]; break;
    case cudaDevAttrMaxTexture2DLayeredHeight: answer = p.maxTexture2DLayered[1]; break;
    case cudaDevAttrMaxTexture2DLayeredLayers: answer = p.maxTexture2DLayered[2]; break;
    case cudaDevAttrSurfaceAlignment: answer = (long long)p.surfaceAlignment; break;
    case cudaDevAttrTextureAlignment: answer = (long long)p.textureAlignment; break;
    case cudaDevAttrGpuOverlap: answer = p.deviceOverlap; break;
    case cudaDevAttrMultiProcessorCount: answer = p.multiProcessorCount; break;
    case cudaDevAttrKernelExecTimeout: answer = p.kernelExecTimeoutEnabled; break;
    case cudaDevAttrIntegrated: answer = p.integrated; break;
    case cudaDevAttrCanMapHostMemory: answer = p.canMapHostMemory; break;
    case cudaDevAttrComputeMode: answer = p.computeMode; break;
    case cudaDevAttrConcurrentKernels: answer = p.concurrentKernels; break;
    case cudaDevAttrEccEnabled: answer = p.ECCEnabled; break;
    case cudaDevAttrPciBusId: answer = p.pciBusID; break;
    case cudaDevAttrPciDeviceId: answer = p.pciDeviceID; break;
    case cudaDevAttrTccDriver: answer = p.tccDriver; break;
    case cudaDevAttrMemoryClockRate: answer = p.memoryClockRate; break;
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
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: answer = p.singleToDoublePrecisionPerfRatio; break;
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
    case cudaDevAttrMaxTexture1DLinearWidth: answer = p.maxTexture1DLinear; break;
    case cudaDevAttrMaxTexture2DLinearWidth: answer = p.maxTexture2DLinear[0]; break;
    case cudaDevAttrMaxTexture2DLinearHeight: answer = p.maxTexture2DLinear[1]; break;
    case cudaDevAttrMaxTexture2DLinearPitch: answer = p.maxTexture2DLinear[2]; break;
    case cudaDevAttrMaxTextureCubemapWidth: answer = p.maxTextureCubemap; break;
    case cudaDevAttrMaxTextureCubemapLayeredWidth: answer = p.maxTextureCubemapLayered[0]; break;
    case cudaDevAttrMaxTextureCubemapLayeredLayers: answer = p.maxTextureCubemapLayered[1]; break;
    case cudaDevAttrMaxSurface1DWidth: answer = p.maxSurface1D; break;
    case cudaDevAttrMaxSurface2DWidth: answer = p.maxSurface2D[0]; break;
    case cudaDevAttrMaxSurface2DHeight: answer = p.maxSurface2D[1]; break;
    case cudaDevAttrHostRegisterReadOnlySupported: answer = p.hostRegisterReadOnlySupported; break;
    case cudaDevAttrCooperativeMultiDeviceLaunch:
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrSparseCudaArraySupported:
    case cudaDevAttrDeferredMappingCudaArraySupported:
    case cudaDevAttrTimelineSemaphoreInteropSupported:
    case cudaDevAttrGPUDirectRDMASupported:
    case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
    case cudaDevAttrIpcEventSupport:
    case cudaDevAttrMpsEnabled: answer = 0; break; // what the emulator does not have
    default:
        return emu_error(cudaErrorInvalidValue, "cudaDeviceGetAttribute: the emulator does not support attribute %d",
                         attribute);
    }
    *value = (int)answer;
    return cudaSuccess;
}

int emu_device_bus_id(char *text, int size, int device) {
    int code = emu_check_device(device, "cudaDeviceGetPCIBusId");
    if (code) return code;
    if (!text || size < 13)
        return emu_error(cudaErrorInvalidValue, "cudaDeviceGetPCIBusId: the text needs a buffer of 13 bytes");
    snprintf(text, (size_t)size, "0000:%02X:00.0", (unsigned)(device + 1) & 0xff);
    return cudaSuccess;
}

int emu_device_by_bus_id(int *device, const char *text) {
    const char *call = "cudaDeviceGetByPCIBusId";
    unsigned domain = 0, bus, slot, function = 0;
    if (!device || !text) return emu_error(cudaErrorInvalidValue, "%s: a pointer is NULL", call);
    int ok = sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4;
    if (!ok) domain = 0, ok = sscanf(text, "%x:%x.%x", &bus, &slot, &function) == 3;
    if (!ok) return emu_error(cudaErrorInvalidValue, "%s: \"%s\" is not an address such as 0000:01:00.0", call, text);
    int code = domain || slot || function || !bus
                   ? emu_error(cudaErrorInvalidDevice, "%s: no device at %s", call, text)
                   : emu_check_device((int)bus - 1, call);
    if (!code) *device = (int)bus - 1;
    return code;
}

// Of the current device. What they ask for concerns how a thread waits, so they have no effect here.
int emu_device_flags(unsigned *flags, int set) {
    int device, code = emu_enter(&device);
    if (code) return code;
    const unsigned schedule = flags ? *flags & cudaDeviceScheduleMask : 0;
    if (!flags || (set && (*flags & ~(unsigned)cudaDeviceMask || (schedule & (schedule - 1)))))
        return emu_error(cudaErrorInvalidValue, "cudaSetDeviceFlags: %s",
                         flags ? "there are flags that do not exist, or more than one cudaDeviceSchedule*"
                               : "the pointer for the result is NULL");
    if (set)
        atomic_store(&device_flags[device], *flags);
    else
        *flags = atomic_load(&device_flags[device]) | cudaDeviceMapHost; // as on a GPU, always
    return cudaSuccess;
}

int emu_versions(int *driver, int *runtime) {
    if (driver) *driver = CUDART_VERSION;
    if (runtime) *runtime = CUDART_VERSION;
    if (driver || runtime) return cudaSuccess;
    return emu_error(cudaErrorInvalidValue, "cudaDriverGetVersion: the pointer for the result is NULL");
}

// --- peers: the memory of all emulated devices is host memory, so each device can access the others'
// -----------------
int emu_device_peers(int *can, int device, int peer) {
    int code = emu_check_device(device, "cudaDeviceCanAccessPeer");
    if (!code) code = emu_check_device(peer, "cudaDeviceCanAccessPeer");
    if (code) return code;
    if (!can) return emu_error(cudaErrorInvalidValue, "cudaDeviceCanAccessPeer: the pointer for the result is NULL");
    *can = device != peer;
    return cudaSuccess;
}

int emu_device_enable_peer(int peer, unsigned flags, int enable) {
    const char *call = enable ? "cudaDeviceEnablePeerAccess" : "cudaDeviceDisablePeerAccess";
    int device, code = emu_enter(&device);
    if (!code) code = emu_check_device(peer, call);
    if (code) return code;
    if (flags) return emu_error(cudaErrorInvalidValue, "%s: flags %u; only 0 is allowed", call, flags);
    if (peer == device)
        return emu_error(enable ? cudaErrorPeerAccessUnsupported : cudaErrorPeerAccessNotEnabled,
                         "%s: device %d is the current device; name another device", call, peer);
    if (atomic_exchange(&peers[device][peer], (unsigned char)enable) != enable) return cudaSuccess;
    return emu_error(enable ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled,
                     "%s: access from device %d to device %d is %s", call, device, peer,
                     enable ? "already enabled" : "not enabled");
}

void emu_drop_peers(int device) {
    for (int peer = 0; peer < EMU_MAX_DEVICES; peer++) atomic_store(&peers[device][peer], 0);
}
