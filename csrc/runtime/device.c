// Choice, limits and properties of devices, and the state that the runtime keeps for each device.
//
// No CUDA function is called before the first real use, because CUDA reads CUDA_VISIBLE_DEVICES at its first call,
// and this must not happen during an import.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "state.h"

// The lowest capability that this build has code for: 80 means 8.0. The build defines it.
#ifndef CK_LOWEST_CAPABILITY
#define CK_LOWEST_CAPABILITY 0
#endif
// The capability for which it has code that uses instructions of that capability alone (90: sm_90a); 0: none.
#ifndef CK_EXACT_CAPABILITY
#define CK_EXACT_CAPABILITY 90
#endif

int ck_exact_capability(void) {
    return CK_EXACT_CAPABILITY;
}

// --- state -------------------------------------------------------------------------------------------------------
static int make_device(ck_runtime *runtime, int index, ck_device **result, ck_error *error) {
    ck_device *device = calloc(1, sizeof *device);
    if (device == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the state of a device");
    device->index = index;
    if (runtime->furnish(device, error) != CK_OK) {
        free(device);
        return error->code;
    }
    device->next = atomic_load(&runtime->devices);
    *result = device;
    atomic_store(&runtime->devices, device);
    return CK_OK;
}

void ck_lock(ck_runtime *runtime) {
    if (runtime->bystander == NULL) {
        pthread_mutex_lock(&runtime->lock);
        return;
    }
    // wait_ended must be called without the lock, because it may wait for a thread that waits for the lock.
    while (pthread_mutex_trylock(&runtime->lock) != 0) {
        void *begun = runtime->bystander->wait_begins();
        pthread_mutex_lock(&runtime->lock);
        pthread_mutex_unlock(&runtime->lock);
        runtime->bystander->wait_ended(begun);
    }
}

void ck_unlock(ck_runtime *runtime) {
    pthread_mutex_unlock(&runtime->lock);
}

ck_device *ck_runtime_find(ck_runtime *runtime, int index) {
    ck_device *device = atomic_load(&runtime->devices); // devices are never removed from the list
    while (device != NULL && device->index != index) device = device->next;
    return device;
}

int ck_runtime_device(ck_runtime *runtime, int index, ck_device **device, ck_error *error) {
    *device = ck_runtime_find(runtime, index);
    if (*device != NULL) return CK_OK;
    ck_lock(runtime);
    *device = ck_runtime_find(runtime, index); // another thread may have added it meanwhile
    const int status = *device == NULL ? make_device(runtime, index, device, error) : CK_OK;
    ck_unlock(runtime);
    return status;
}

// --- the thread's current device ---------------------------------------------------------------------------------
int ck_device_current(int *device, ck_error *error) {
    CK_CUDA(error, cudaGetDevice(device));
    return CK_OK;
}

int ck_device_of_pointer(const void *data, int *device, ck_error *error) {
    struct cudaPointerAttributes attributes;
    *device = -1;
    CK_CUDA(error, cudaPointerGetAttributes(&attributes, data));
    if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged)
        *device = attributes.device;
    return CK_OK;
}

int ck_device_enter(int device, int *previous, ck_error *error) {
    CK_CUDA(error, cudaGetDevice(previous));
    // cudaSetDevice creates the context of the device, so it is not called if the device is already current.
    cudaError_t code = cudaSuccess;
    if (*previous == device || CK_CUDA_CODE(code, cudaSetDevice(device)) == cudaSuccess) return CK_OK;
    char call[40];
    snprintf(call, sizeof call, "cudaSetDevice(%d)", device);
    return ck_fail_cuda(error, code, call);
}

void ck_device_leave(int device, int previous, ck_error *error) {
    if (previous != device) CK_RELEASE(error, cudaSetDevice(previous));
}

// --- choice ------------------------------------------------------------------------------------------------------
// Without a driver cudaGetDeviceCount fails with error 35 and leaves the count unwritten.
static int count_devices(int *count, ck_error *error) {
    *count = 0;
    int devices = 0;
    CK_CUDA(error, cudaGetDeviceCount(&devices));
    *count = devices;
    return CK_OK;
}

int ck_device_count(int *count, ck_error *error) {
    ck_error failure = {0};
    const int code = count_devices(count, &failure);
    if (code == CK_OK || code == (int)cudaErrorNoDevice || code == (int)cudaErrorInsufficientDriver) return CK_OK;
    *error = failure;
    return code;
}

// 1: the device can be used. 0: it cannot, for the reason that is written to `reason`.
static int is_suitable(int device, char *reason, size_t size) {
    int mode = 0, major = 0, minor = 0;
    cudaError_t code;
    if (CK_CUDA_CODE(code, cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device)) != cudaSuccess ||
        CK_CUDA_CODE(code, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device)) !=
            cudaSuccess ||
        CK_CUDA_CODE(code, cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device)) !=
            cudaSuccess) {
        snprintf(reason, size, "device %d does not respond: %s", device, cudaGetErrorName(code));
        (void)cudaGetLastError();
        return 0;
    }
    if (mode == cudaComputeModeProhibited) {
        snprintf(reason, size, "device %d has compute mode 'prohibited' (nvidia-smi -c 0 allows it)", device);
        return 0;
    }
    if (10 * major + minor < CK_LOWEST_CAPABILITY) {
        snprintf(reason, size,
                 "device %d has capability %d.%d, but this build supports only %d.%d and later "
                 "(set CUDAKERN_CUDA_ARCHS and rebuild)",
                 device, major, minor, CK_LOWEST_CAPABILITY / 10, CK_LOWEST_CAPABILITY % 10);
        return 0;
    }
    return 1;
}

// "cudaErrorNoDevice (100): why. ..." becomes "There is no device: why. ...".
static void say_there_is_none(ck_error *error) {
    char why[sizeof error->message];
    const char *colon = strchr(error->message, ':');
    snprintf(why, sizeof why, "%s", colon ? colon : "");
    snprintf(error->message, sizeof error->message, "There is no device%.900s", why);
}

int ck_device_choose(int *device, ck_error *error) {
    int count = 0, current = 0;
    int status = count_devices(&count, error);
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) say_there_is_none(error);
    if (status != CK_OK) return status;
    if (count == 0) return ck_fail(error, cudaErrorNoDevice, "There is no device: CUDA reports 0 devices");
    CK_TRY(ck_device_current(&current, error));
    char reasons[700] = "";
    size_t used = 0;
    for (int i = -1; i < count; i++) { // the current device first
        int candidate = i < 0 ? current : i;
        char reason[200];
        if (i == current || candidate >= count) continue;
        if (is_suitable(candidate, reason, sizeof reason)) {
            *device = candidate;
            return CK_OK;
        }
        if (used < sizeof reasons)
            used += (size_t)snprintf(reasons + used, sizeof reasons - used, "%s%s", used ? "; " : "", reason);
    }
    return ck_fail(error, cudaErrorNoDevice, "There is no usable device: %s", reasons);
}

// --- limits and properties ---------------------------------------------------------------------------------------
static int attribute(int device, enum cudaDeviceAttr which, int *value, ck_error *error) {
    CK_CUDA(error, cudaDeviceGetAttribute(value, which, device));
    return CK_OK;
}

int ck_device_limits(int device, ck_limits *limits, ck_error *error) {
    int major, minor, shared, optin, grid[3];
    *limits = (ck_limits){.device = device};
    CK_TRY(attribute(device, cudaDevAttrComputeCapabilityMajor, &major, error));
    CK_TRY(attribute(device, cudaDevAttrComputeCapabilityMinor, &minor, error));
    CK_TRY(attribute(device, cudaDevAttrMultiProcessorCount, &limits->multiprocessors, error));
    CK_TRY(attribute(device, cudaDevAttrWarpSize, &limits->warp_size, error));
    CK_TRY(attribute(device, cudaDevAttrMaxThreadsPerBlock, &limits->max_threads_per_block, error));
    CK_TRY(attribute(device, cudaDevAttrMaxSharedMemoryPerBlock, &shared, error));
    CK_TRY(attribute(device, cudaDevAttrMaxSharedMemoryPerBlockOptin, &optin, error));
    CK_TRY(attribute(device, cudaDevAttrMaxGridDimX, &grid[0], error));
    CK_TRY(attribute(device, cudaDevAttrMaxGridDimY, &grid[1], error));
    CK_TRY(attribute(device, cudaDevAttrMaxGridDimZ, &grid[2], error));
    CK_TRY(attribute(device, cudaDevAttrCooperativeLaunch, &limits->cooperative, error));
    limits->capability = 10 * major + minor;
    limits->exact = limits->capability == CK_EXACT_CAPABILITY;
    limits->shared_per_block = (size_t)shared;
    limits->shared_per_block_optin = (size_t)optin;
    for (int i = 0; i < 3; i++) limits->max_grid[i] = grid[i];
    return CK_OK;
}

int ck_runtime_limits(ck_runtime *runtime, int index, ck_limits *limits, ck_error *error) {
    ck_device *device = ck_runtime_find(runtime, index);
    if (device == NULL)
        return ck_device_limits(index, limits,
                                error); // the device is not used yet, so it has no state to keep them in
    ck_lock(runtime);
    const int known = device->limits_known, version = device->limits_version;
    if (known) *limits = device->limits;
    ck_unlock(runtime);
    if (known) return CK_OK;
    CK_TRY(ck_device_limits(index, limits, error));
    ck_lock(runtime);
    device->limits = *limits;
    device->limits_known = device->limits_version == version;
    ck_unlock(runtime);
    return CK_OK;
}

void ck_runtime_forget_limits(ck_runtime *runtime) {
    ck_lock(runtime);
    for (ck_device *device = runtime->devices; device != NULL; device = device->next) {
        device->limits_known = 0;
        device->limits_version++;
    }
    ck_unlock(runtime);
}

// The limits of an H100 (SXM5, with 132 multiprocessors), the chip that is assumed if no device is available.
void ck_device_nominal_limits(ck_limits *limits) {
    *limits = (ck_limits){.capability = 90,
                          .multiprocessors = 132,
                          .warp_size = 32,
                          .max_threads_per_block = 1024,
                          .shared_per_block = 48 * 1024,
                          .shared_per_block_optin = 227 * 1024,
                          .max_grid = {2147483647, 65535, 65535},
                          .cooperative = 1,
                          .exact = 1};
}

// One list, which is expanded twice: to names and to attributes.
#define PROPERTIES(ITEM)                                                                                             \
    ITEM("capability.0", cudaDevAttrComputeCapabilityMajor)                                                          \
    ITEM("capability.1", cudaDevAttrComputeCapabilityMinor)                                                          \
    ITEM("multiprocessors", cudaDevAttrMultiProcessorCount)                                                          \
    ITEM("clock_khz", cudaDevAttrClockRate)                                                                          \
    ITEM("memory_clock_khz", cudaDevAttrMemoryClockRate)                                                             \
    ITEM("memory_bus_bits", cudaDevAttrGlobalMemoryBusWidth)                                                         \
    ITEM("l2_bytes", cudaDevAttrL2CacheSize)                                                                         \
    ITEM("shared_per_block", cudaDevAttrMaxSharedMemoryPerBlock)                                                     \
    ITEM("shared_per_block_optin", cudaDevAttrMaxSharedMemoryPerBlockOptin)                                          \
    ITEM("shared_per_multiprocessor", cudaDevAttrMaxSharedMemoryPerMultiprocessor)                                   \
    ITEM("registers_per_block", cudaDevAttrMaxRegistersPerBlock)                                                     \
    ITEM("registers_per_multiprocessor", cudaDevAttrMaxRegistersPerMultiprocessor)                                   \
    ITEM("warp_size", cudaDevAttrWarpSize)                                                                           \
    ITEM("max_threads_per_block", cudaDevAttrMaxThreadsPerBlock)                                                     \
    ITEM("max_threads_per_multiprocessor", cudaDevAttrMaxThreadsPerMultiProcessor)                                   \
    ITEM("max_blocks_per_multiprocessor", cudaDevAttrMaxBlocksPerMultiprocessor)                                     \
    ITEM("max_block_dims.0", cudaDevAttrMaxBlockDimX)                                                                \
    ITEM("max_block_dims.1", cudaDevAttrMaxBlockDimY)                                                                \
    ITEM("max_block_dims.2", cudaDevAttrMaxBlockDimZ)                                                                \
    ITEM("max_grid.0", cudaDevAttrMaxGridDimX)                                                                       \
    ITEM("max_grid.1", cudaDevAttrMaxGridDimY)                                                                       \
    ITEM("max_grid.2", cudaDevAttrMaxGridDimZ)                                                                       \
    ITEM("cooperative", cudaDevAttrCooperativeLaunch)                                                                \
    ITEM("concurrent_kernels", cudaDevAttrConcurrentKernels)                                                         \
    ITEM("async_engines", cudaDevAttrAsyncEngineCount)                                                               \
    ITEM("unified_addressing", cudaDevAttrUnifiedAddressing)                                                         \
    ITEM("ecc", cudaDevAttrEccEnabled)                                                                               \
    ITEM("total_constant", cudaDevAttrTotalConstantMemory)                                                           \
    ITEM("memory_pools", cudaDevAttrMemoryPoolsSupported)                                                            \
    ITEM("compute_mode", cudaDevAttrComputeMode)                                                                     \
    ITEM("integrated", cudaDevAttrIntegrated)                                                                        \
    ITEM("managed_memory", cudaDevAttrManagedMemory)                                                                 \
    ITEM("copies_overlap", cudaDevAttrGpuOverlap)                                                                    \
    ITEM("kernel_timeout", cudaDevAttrKernelExecTimeout)                                                             \
    ITEM("maps_host_memory", cudaDevAttrCanMapHostMemory)                                                            \
    ITEM("compute_preemption", cudaDevAttrComputePreemptionSupported)                                                \
    ITEM("tcc_driver", cudaDevAttrTccDriver)                                                                         \
    ITEM("max_pitch", cudaDevAttrMaxPitch)                                                                           \
    ITEM("texture_alignment", cudaDevAttrTextureAlignment)                                                           \
    ITEM("texture_pitch_alignment", cudaDevAttrTexturePitchAlignment)                                                \
    ITEM("surface_alignment", cudaDevAttrSurfaceAlignment)                                                           \
    ITEM("texture_1d", cudaDevAttrMaxTexture1DWidth)                                                                 \
    ITEM("texture_2d.0", cudaDevAttrMaxTexture2DWidth)                                                               \
    ITEM("texture_2d.1", cudaDevAttrMaxTexture2DHeight)                                                              \
    ITEM("texture_3d.0", cudaDevAttrMaxTexture3DWidth)                                                               \
    ITEM("texture_3d.1", cudaDevAttrMaxTexture3DHeight)                                                              \
    ITEM("texture_3d.2", cudaDevAttrMaxTexture3DDepth)                                                               \
    ITEM("texture_1d_layered.0", cudaDevAttrMaxTexture1DLayeredWidth)                                                \
    ITEM("texture_1d_layered.1", cudaDevAttrMaxTexture1DLayeredLayers)                                               \
    ITEM("texture_2d_layered.0", cudaDevAttrMaxTexture2DLayeredWidth)                                                \
    ITEM("texture_2d_layered.1", cudaDevAttrMaxTexture2DLayeredHeight)                                               \
    ITEM("texture_2d_layered.2", cudaDevAttrMaxTexture2DLayeredLayers)                                               \
    ITEM("shared_reserved", cudaDevAttrReservedSharedMemoryPerBlock)                                                 \
    ITEM("pci.0", cudaDevAttrPciDomainId)                                                                            \
    ITEM("pci.1", cudaDevAttrPciBusId)                                                                               \
    ITEM("pci.2", cudaDevAttrPciDeviceId)

#define NAME(name, attribute) name,
const char *const ck_property_names[CK_PROPERTY_COUNT] = {PROPERTIES(NAME)};
#undef NAME

int ck_device_properties(int device, ck_properties *properties, ck_error *error) {
#define ATTRIBUTE(name, attribute) attribute,
    static const enum cudaDeviceAttr attributes[] = {PROPERTIES(ATTRIBUTE)};
#undef ATTRIBUTE
    _Static_assert(sizeof attributes / sizeof *attributes == CK_PROPERTY_COUNT, "one value a name");
    memset(properties, 0, sizeof *properties);
    int count = 0, previous = 0;
    CK_TRY(count_devices(&count, error));
    if (device < 0 || device >= count)
        return ck_fail(error, CK_BAD_VALUE, "There is no device %d: CUDA reports %d, numbered from 0", device, count);
    for (int i = 0; i < CK_PROPERTY_COUNT; i++)
        CK_TRY(attribute(device, attributes[i], &properties->values[i], error));
    struct cudaDeviceProp described;
    CK_CUDA(error, cudaGetDeviceProperties(&described, device));
    memcpy(properties->name, described.name, sizeof properties->name - 1);
    const int *pci = &properties->values[CK_PROPERTY_COUNT - 3];
    snprintf(properties->pci_bus_id, sizeof properties->pci_bus_id, "%04x:%02x:%02x.0", pci[0], pci[1], pci[2]);
    CK_CUDA(error, cudaDriverGetVersion(&properties->driver_version));
    CK_CUDA(error, cudaRuntimeGetVersion(&properties->runtime_version));
    CK_TRY(ck_device_enter(device, &previous, error));
    cudaError_t code;
    if (CK_CUDA_CODE(code, cudaMemGetInfo(&properties->memory_free, &properties->memory_bytes)) != cudaSuccess)
        ck_fail_cuda(error, code, "cudaMemGetInfo(&free, &total)");
    ck_device_leave(device, previous, error);
    return error->code;
}
