// CUDA's driver API on the emulator, as far as programs share it with the runtime API: devices, contexts, memory,
// copies, streams, events, launches. Also for C.
//
// Each function is a thin wrapper of the core's function. A device pointer is an address as a number. Modules of PTX
// or machine code cannot be loaded, so a call of cuModuleLoad is refused when it is compiled; cudaGetFuncBySymbol
// gives the CUfunction of a kernel that is compiled with the program.
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__

#include "cuda_runtime_api.h"
#include "emulator/driver_codes.h"

#define CUDA_VERSION CUDART_VERSION
#define CUDAAPI
#define CUDA_CB

#define EMU_DRIVER_ENUM(name, number) name = number,
typedef enum cudaError_enum { EMU_DRIVER_ERRORS(EMU_DRIVER_ENUM) } CUresult; // the runtime's numbers
#undef EMU_DRIVER_ENUM

typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef cudaGraph_t CUgraph;
typedef cudaGraphNode_t CUgraphNode;
typedef cudaGraphExec_t CUgraphExec;
typedef cudaMemPool_t CUmemoryPool;
typedef cudaHostFn_t CUhostFn;
typedef struct CUctxCreateParams_st CUctxCreateParams;

#define CU_STREAM_LEGACY     ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
    CU_DEVICE_ATTRIBUTE_REGISTERS_PER_BLOCK = 12,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
    CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH = 21,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH = 22,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT = 23,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH = 24,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT = 25,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH = 26,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH = 27,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT = 28,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS = 29,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_WIDTH = 27,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_HEIGHT = 28,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES = 29,
    CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT = 30,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
    CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH = 42,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS = 43,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH = 45,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT = 46,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE = 47,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE = 48,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE = 49,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT = 51,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH = 52,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH = 53,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS = 54,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH = 55,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH = 56,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT = 57,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH = 58,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT = 59,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH = 60,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH = 61,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS = 62,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH = 63,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT = 64,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS = 65,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH = 66,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH = 67,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS = 68,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH = 69,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH = 70,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT = 71,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH = 72,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH = 73,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT = 74,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH = 77,
    CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
    CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED = 79,
    CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED = 80,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = 84,
    CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID = 85,
    CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
    CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 87,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
    CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90,
    CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH = 96,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES = 98,
    CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100,
    CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
    CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE = 108,
    CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE = 109,
    CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
    CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED = 112,
    CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113,
    CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED = 114,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 116,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING = 118,
    CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES = 119,
    CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
    CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED = 121,
    CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED = 125,
    CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT = 126,
    CU_DEVICE_ATTRIBUTE_NUMA_CONFIG = 130,
    CU_DEVICE_ATTRIBUTE_NUMA_ID = 131,
    CU_DEVICE_ATTRIBUTE_MPS_ENABLED = 133,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID = 134,
    CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED = 135,
    CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED = 138,
    CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID = 139,
    CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID = 140,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED = 142,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED = 143,
    CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED = 144,
    CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED = 147,
} CUdevice_attribute;

typedef enum CUfunction_attribute_enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
} CUfunction_attribute;

typedef enum CUlimit_enum {
    CU_LIMIT_STACK_SIZE = 0,
    CU_LIMIT_PRINTF_FIFO_SIZE = 1,
    CU_LIMIT_MALLOC_HEAP_SIZE = 2,
} CUlimit;
typedef enum CUfunc_cache_enum {
    CU_FUNC_CACHE_PREFER_NONE,
    CU_FUNC_CACHE_PREFER_SHARED,
    CU_FUNC_CACHE_PREFER_L1,
    CU_FUNC_CACHE_PREFER_EQUAL
} CUfunc_cache;
typedef enum CUmemorytype_enum {
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMORYTYPE_ARRAY = 3,
    CU_MEMORYTYPE_UNIFIED = 4
} CUmemorytype;
typedef enum CUpointer_attribute_enum {
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
} CUpointer_attribute;
typedef enum CUjit_option_enum {
    CU_JIT_MAX_REGISTERS = 0,
    CU_JIT_THREADS_PER_BLOCK = 1,
    CU_JIT_WALL_TIME = 2,
    CU_JIT_INFO_LOG_BUFFER = 3,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
    CU_JIT_OPTIMIZATION_LEVEL = 7,
    CU_JIT_LOG_VERBOSE = 12,
} CUjit_option;

enum {
    CU_CTX_SCHED_AUTO = 0,
    CU_CTX_SCHED_SPIN = 1,
    CU_CTX_SCHED_YIELD = 2,
    CU_CTX_SCHED_BLOCKING_SYNC = 4,
    CU_CTX_MAP_HOST = 8,
    CU_CTX_LMEM_RESIZE_TO_MAX = 16,
    CU_STREAM_DEFAULT = 0,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DEFAULT = 0,
    CU_EVENT_BLOCKING_SYNC = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_MEM_ATTACH_GLOBAL = 1,
    CU_MEM_ATTACH_HOST = 2,
    CU_MEM_ATTACH_SINGLE = 4,
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEMHOSTALLOC_DEVICEMAP = 2,
    CU_MEMHOSTALLOC_WRITECOMBINED = 4,
    CU_MEMHOSTREGISTER_PORTABLE = 1,
    CU_MEMHOSTREGISTER_DEVICEMAP = 2,
};

#ifdef __cplusplus
extern "C" {
#endif
#define EMU_DRIVER(name, parameters, call)                                                                           \
    static inline __attribute__((unused)) CUresult name parameters {                                                 \
        return (CUresult)(call);                                                                                     \
    }
#define EMU_AT(address) ((void *)(uintptr_t)(address)) // a CUdeviceptr as an address

// Errors
static inline __attribute__((unused)) CUresult cuGetErrorName(CUresult code, const char **name) {
#define EMU_DRIVER_NAME(each, number)                                                                                \
    if (number == (int)code) return *name = #each, CUDA_SUCCESS;
    EMU_DRIVER_ERRORS(EMU_DRIVER_NAME)
#undef EMU_DRIVER_NAME
    *name = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}
EMU_DRIVER(cuGetErrorString, (CUresult code, const char **text), (*text = emu_error_text((int)code), 0))

// Devices and contexts
EMU_DRIVER(cuInit, (unsigned flags),
           flags ? emu_note_error(cudaErrorInvalidValue, "cuInit: flags must be 0") : emu_device_exists(0))
EMU_DRIVER(cuDriverGetVersion, (int *version), emu_versions(version, NULL))
EMU_DRIVER(cuDeviceGetCount, (int *count), emu_device_count(count))
EMU_DRIVER(cuDeviceGet, (CUdevice * device, int ordinal),
           emu_device_exists(ordinal) ? emu_last_error(0) : (*device = ordinal, 0))
EMU_DRIVER(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device),
           emu_device_attribute(value, (int)attribute, device))
static inline __attribute__((unused)) CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    struct cudaDeviceProp properties;
    const int code = emu_device_properties(&properties, sizeof properties, device);
    for (int i = 0; !code && i < size; i++)
        if (!(name[i] = i + 1 < size ? properties.name[i] : 0)) break;
    return (CUresult)code;
}
static inline __attribute__((unused)) CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    struct cudaDeviceProp properties;
    const int code = emu_device_properties(&properties, sizeof properties, device);
    if (!code) *bytes = properties.totalGlobalMem;
    return (CUresult)code;
}
static inline __attribute__((unused)) CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    struct cudaDeviceProp properties;
    const int code = emu_device_properties(&properties, sizeof properties, device);
    if (!code) *uuid = properties.uuid;
    return (CUresult)code;
}
EMU_DRIVER(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device),
           emu_device_attribute(major, cudaDevAttrComputeCapabilityMajor, device)
               ? emu_last_error(0)
               : emu_device_attribute(minor, cudaDevAttrComputeCapabilityMinor, device))
EMU_DRIVER(cuDeviceGetPCIBusId, (char *text, int size, CUdevice device), emu_device_bus_id(text, size, device))
EMU_DRIVER(cuDeviceGetByPCIBusId, (CUdevice * device, const char *text), emu_device_by_bus_id(device, text))
EMU_DRIVER(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer), emu_device_peers(can, device, peer))
EMU_DRIVER(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), emu_context_of((void **)context, device))
EMU_DRIVER(cuDevicePrimaryCtxRelease, (CUdevice device), emu_device_exists(device))
EMU_DRIVER(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned flags), ((void)flags, emu_device_exists(device)))
EMU_DRIVER(cuCtxPushCurrent, (CUcontext context), emu_context_push(context))
EMU_DRIVER(cuCtxPopCurrent, (CUcontext * context), emu_context_pop((void **)context))
EMU_DRIVER(cuCtxSetCurrent, (CUcontext context), emu_context_set(context))
EMU_DRIVER(cuCtxGetCurrent, (CUcontext * context), emu_context_current((void **)context))
EMU_DRIVER(cuCtxDestroy, (CUcontext context), emu_context_destroy(context))
EMU_DRIVER(cuCtxGetDevice, (CUdevice * device), emu_get_device(device))
EMU_DRIVER(cuCtxSynchronize, (void), emu_device_wait(NULL, NULL))
EMU_DRIVER(cuCtxSetLimit, (CUlimit limit, size_t value), emu_limit((int)limit, &value, 1))
EMU_DRIVER(cuCtxGetLimit, (size_t * value, CUlimit limit), emu_limit((int)limit, value, 0))
EMU_DRIVER(cuCtxSetCacheConfig, (CUfunc_cache config), ((void)config, 0))
EMU_DRIVER(cuCtxGetStreamPriorityRange, (int *least, int *greatest),
           cudaDeviceGetStreamPriorityRange(least, greatest))
EMU_DRIVER(cuCtxGetApiVersion, (CUcontext context, unsigned *version), ((void)context, *version = 3020, 0))
EMU_DRIVER(cuCtxCreate, (CUcontext * context, CUctxCreateParams *parameters, unsigned flags, CUdevice device),
           ((void)parameters, (void)flags,
            emu_context_of((void **)context, device) ? emu_last_error(0) : emu_context_push(*context)))

// Memory
EMU_DRIVER(cuMemGetInfo, (size_t * free_bytes, size_t *total), emu_memory_info(free_bytes, total))
EMU_DRIVER(cuMemAlloc, (CUdeviceptr * pointer, size_t bytes),
           !bytes ? emu_note_error(cudaErrorInvalidValue, "cuMemAlloc: 0 bytes")
                  : emu_malloc((void **)pointer, bytes))
EMU_DRIVER(cuMemAllocPitch, (CUdeviceptr * pointer, size_t *pitch, size_t width, size_t height, unsigned element),
           ((void)element, emu_malloc_pitch((void **)pointer, pitch, width, height)))
EMU_DRIVER(cuMemAllocManaged, (CUdeviceptr * pointer, size_t bytes, unsigned flags),
           emu_malloc_managed((void **)pointer, bytes, flags))
EMU_DRIVER(cuMemAllocAsync, (CUdeviceptr * pointer, size_t bytes, CUstream stream),
           emu_malloc_async((void **)pointer, bytes, NULL, stream))
EMU_DRIVER(cuMemFree, (CUdeviceptr pointer), emu_free(EMU_AT(pointer)))
EMU_DRIVER(cuMemFreeAsync, (CUdeviceptr pointer, CUstream stream), emu_free_async(EMU_AT(pointer), stream))
EMU_DRIVER(cuMemAllocHost, (void **pointer, size_t bytes), emu_malloc_host(pointer, bytes, 0))
EMU_DRIVER(cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags), emu_malloc_host(pointer, bytes, flags))
EMU_DRIVER(cuMemFreeHost, (void *pointer), emu_free_host(pointer))
EMU_DRIVER(cuMemHostGetDevicePointer, (CUdeviceptr * device, void *host, unsigned flags),
           emu_host_device_pointer((void **)device, host, flags))
EMU_DRIVER(cuMemHostRegister, (void *pointer, size_t bytes, unsigned flags),
           ((void)flags, emu_register(pointer, bytes, 0)))
EMU_DRIVER(cuMemHostUnregister, (void *pointer), emu_unregister(pointer))
EMU_DRIVER(cuMemGetAddressRange, (CUdeviceptr * begin, size_t *bytes, CUdeviceptr pointer),
           emu_address_range((void **)begin, bytes, EMU_AT(pointer)))
static inline __attribute__((unused)) CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
                                                                     CUdeviceptr pointer) {
    struct cudaPointerAttributes a;
    const int code = emu_pointer_attributes(&a, sizeof a, EMU_AT(pointer));
    if (code) return (CUresult)code;
    if (!data || a.type == cudaMemoryTypeUnregistered)
        return (CUresult)emu_note_error(cudaErrorInvalidValue,
                                        "cuPointerGetAttribute: CUDA does not know the pointer");
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)data = a.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = (uintptr_t)a.devicePointer; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: *(void **)data = a.hostPointer; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data = a.type == cudaMemoryTypeManaged; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = a.device; break;
    default: return (CUresult)emu_note_error(cudaErrorNotSupported, "cuPointerGetAttribute: not this attribute");
    }
    return CUDA_SUCCESS;
}

// Copies and fills
#define EMU_DRIVER_COPY(name, To, From, kind)                                                                        \
    EMU_DRIVER(name, (To to, From from, size_t bytes),                                                               \
               emu_copy(EMU_AT(to), bytes, EMU_AT(from), bytes, bytes, 1, kind, NULL, 0))                            \
    EMU_DRIVER(name##Async, (To to, From from, size_t bytes, CUstream stream),                                       \
               emu_copy(EMU_AT(to), bytes, EMU_AT(from), bytes, bytes, 1, kind, stream, 1))
EMU_DRIVER_COPY(cuMemcpy, CUdeviceptr, CUdeviceptr, cudaMemcpyDefault)
EMU_DRIVER_COPY(cuMemcpyHtoD, CUdeviceptr, const void *, cudaMemcpyHostToDevice)
EMU_DRIVER_COPY(cuMemcpyDtoH, void *, CUdeviceptr, cudaMemcpyDeviceToHost)
EMU_DRIVER_COPY(cuMemcpyDtoD, CUdeviceptr, CUdeviceptr, cudaMemcpyDeviceToDevice)
#undef EMU_DRIVER_COPY
#define EMU_DRIVER_SET(bits, T)                                                                                      \
    EMU_DRIVER(cuMemsetD##bits, (CUdeviceptr to, T value, size_t count),                                             \
               emu_set_elements(EMU_AT(to), count * sizeof value, value, sizeof value, count, 1, NULL, 0))           \
    EMU_DRIVER(cuMemsetD##bits##Async, (CUdeviceptr to, T value, size_t count, CUstream stream),                     \
               emu_set_elements(EMU_AT(to), count * sizeof value, value, sizeof value, count, 1, stream, 1))         \
    EMU_DRIVER(cuMemsetD2D##bits, (CUdeviceptr to, size_t pitch, T value, size_t width, size_t height),              \
               emu_set_elements(EMU_AT(to), pitch, value, sizeof value, width, height, NULL, 0))
EMU_DRIVER_SET(8, unsigned char)
EMU_DRIVER_SET(16, unsigned short)
EMU_DRIVER_SET(32, unsigned)
#undef EMU_DRIVER_SET

// Streams and events
EMU_DRIVER(cuStreamCreate, (CUstream * stream, unsigned flags), emu_stream_create((void **)stream, flags, 0))
EMU_DRIVER(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
           emu_stream_create((void **)stream, flags, priority))
EMU_DRIVER(cuStreamDestroy, (CUstream stream), emu_stream_destroy(stream))
EMU_DRIVER(cuStreamSynchronize, (CUstream stream), emu_stream_wait(stream, NULL, NULL))
EMU_DRIVER(cuStreamQuery, (CUstream stream), emu_stream_query(stream))
EMU_DRIVER(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
           ((void)flags, emu_stream_wait_event(stream, event)))
EMU_DRIVER(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *argument),
           emu_stream_call(stream, function, argument))
EMU_DRIVER(cuEventCreate, (CUevent * event, unsigned flags), emu_event_create((void **)event, flags))
EMU_DRIVER(cuEventDestroy, (CUevent event), emu_event_destroy(event))
EMU_DRIVER(cuEventRecord, (CUevent event, CUstream stream), emu_event_record(event, stream))
EMU_DRIVER(cuEventQuery, (CUevent event), emu_event_query(event))
EMU_DRIVER(cuEventSynchronize, (CUevent event), emu_event_wait(event, NULL, NULL))
EMU_DRIVER(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end),
           emu_event_elapsed(milliseconds, start, end))

// Kernels
static inline __attribute__((unused)) CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                                              unsigned grid_z, unsigned block_x, unsigned block_y,
                                                              unsigned block_z, unsigned shared, CUstream stream,
                                                              void **arguments, void **extra) {
    const emu_launch launch = {EMU_INTERFACE_VERSION,
                               function,
                               arguments,
                               {grid_x, grid_y, grid_z},
                               {block_x, block_y, block_z},
                               shared,
                               stream,
                               NULL,
                               0};
    if (extra)
        return (CUresult)emu_note_error(cudaErrorNotSupported, "cuLaunchKernel: pass arguments in kernelParams");
    return (CUresult)emu_launch_kernel(&launch);
}
EMU_DRIVER(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value),
           emu_function_set(function, (int)attribute, value))
EMU_DRIVER(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config),
           ((void)config, emu_function_set(function, cudaFuncAttributePreferredSharedMemoryCarveout, 0)))
static inline __attribute__((unused)) CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                                                                  CUfunction function) {
    struct cudaFuncAttributes a;
    const int code = emu_function_attributes(&a, sizeof a, function);
    if (code) return (CUresult)code;
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK           ? a.maxThreadsPerBlock
             : attribute == CU_FUNC_ATTRIBUTE_PTX_VERSION                   ? a.ptxVersion
             : attribute == CU_FUNC_ATTRIBUTE_BINARY_VERSION                ? a.binaryVersion
             : attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? a.maxDynamicSharedSizeBytes
                                                                            : 0;
    return CUDA_SUCCESS;
}
EMU_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor,
           (int *blocks, CUfunction function, int block_size, size_t shared),
           emu_occupancy(blocks, function, block_size, shared))

// Refused where they are called.
#define EMU_NO_MODULES(name, parameters)                                                                             \
    CUresult name parameters __attribute__((error("the emulator cannot load modules of PTX or machine code (" #name  \
                                                  "): compile the kernel with the program, "                         \
                                                  "and get its CUfunction from cudaGetFuncBySymbol")));
EMU_NO_MODULES(cuModuleLoad, (CUmodule *, const char *))
EMU_NO_MODULES(cuModuleLoadData, (CUmodule *, const void *))
EMU_NO_MODULES(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, CUjit_option *, void **))
EMU_NO_MODULES(cuModuleLoadFatBinary, (CUmodule *, const void *))
EMU_NO_MODULES(cuModuleUnload, (CUmodule))
EMU_NO_MODULES(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))
EMU_NO_MODULES(cuModuleGetGlobal, (CUdeviceptr *, size_t *, CUmodule, const char *))
#undef EMU_NO_MODULES

#ifdef __cplusplus
}
inline CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device) { // until CUDA 12
    return cuCtxCreate(context, nullptr, flags, device);
}
#endif
#undef EMU_AT
#undef EMU_DRIVER
#endif
