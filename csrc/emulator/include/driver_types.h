// CUDA's host types: handles, enumerations with CUDA's numbers, structs with CUDA's fields.
//
// Types of features that the emulator lacks (graphs, virtual memory) are omitted, so code that uses them fails to
// compile. Names and numbers are CUDA's, because programs depend on them. Layouts may differ from CUDA's, because all
// code that shares these structs is compiled with this file.
#ifndef EMULATOR_DRIVER_TYPES_H
#define EMULATOR_DRIVER_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "texture_types.h"
#include "vector_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The error codes in use: name, number, text. The enumeration and the core's tables are generated from this list.
#define EMU_ERRORS(X)                                                                                                \
    X(cudaSuccess, 0, "no error")                                                                                    \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                                                  \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                                                 \
    X(cudaErrorInitializationError, 3, "initialization error")                                                       \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                            \
    X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                                      \
    X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                           \
    X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                                   \
    X(cudaErrorInvalidTexture, 18, "invalid texture reference")                                                      \
    X(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                                       \
    X(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                           \
    X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                      \
    X(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")                        \
    X(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for 32-bit non float type")           \
    X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")               \
    X(cudaErrorCallRequiresNewerDriver, 36, "API call is not supported in the installed CUDA driver")                \
    X(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                          \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                                 \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                  \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                         \
    X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                            \
    X(cudaErrorDeviceUninitialized, 201, "invalid device context")                                                   \
    X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")              \
    X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                         \
    X(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")                                 \
    X(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")                 \
    X(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                                      \
    X(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.")           \
    X(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")                         \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                                \
    X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                          \
    X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                        \
    X(cudaErrorNotReady, 600, "device not ready")                                                                    \
    X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                      \
    X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                 \
    X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                        \
    X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                      \
    X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                        \
    X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                                      \
    X(cudaErrorAssert, 710, "device-side assert triggered")                                                          \
    X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")      \
    X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")            \
    X(cudaErrorHardwareStackError, 714, "hardware stack error")                                                      \
    X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                                    \
    X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                         \
    X(cudaErrorInvalidPc, 718, "invalid program counter")                                                            \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                     \
    X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                              \
    X(cudaErrorNotPermitted, 800, "operation not permitted")                                                         \
    X(cudaErrorNotSupported, 801, "operation not supported")                                                         \
    X(cudaErrorSystemNotReady, 802, "system not yet initialized")                                                    \
    X(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination")         \
    X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                    \
    X(cudaErrorInvalidClusterSize, 912, "a kernel launch error has occurred due to cluster misconfiguration")        \
    X(cudaErrorUnknown, 999, "unknown error")

#define EMU_ERROR_ENUM(name, number, text) name = number,
enum cudaError { EMU_ERRORS(EMU_ERROR_ENUM) cudaErrorApiFailureBase = 10000 };
#undef EMU_ERROR_ENUM
typedef enum cudaError cudaError_t;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUkern_st *cudaKernel_t;
typedef void (*cudaHostFn_t)(void *argument);

#define cudaStreamLegacy    ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

enum {
    cudaStreamDefault = 0,
    cudaStreamNonBlocking = 1,
    cudaEventDefault = 0,
    cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2,
    cudaEventInterprocess = 4,
    cudaEventWaitDefault = 0,
    cudaHostAllocDefault = 0,
    cudaHostAllocPortable = 1,
    cudaHostAllocMapped = 2,
    cudaHostAllocWriteCombined = 4,
    cudaHostRegisterDefault = 0,
    cudaHostRegisterPortable = 1,
    cudaHostRegisterMapped = 2,
    cudaHostRegisterIoMemory = 4,
    cudaHostRegisterReadOnly = 8,
};

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4,
};

// Source and destination are each either an array or a pointer.
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    enum cudaMemcpyKind kind;
};

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3,
};

struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
};

enum cudaComputeMode {
    cudaComputeModeDefault = 0,
    cudaComputeModeExclusive = 1,
    cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess = 3,
};

// --- limits ------------------------------------------------------------------------------------------------------
enum cudaLimit {
    cudaLimitStackSize,
    cudaLimitPrintfFifoSize,
    cudaLimitMallocHeapSize,
    cudaLimitDevRuntimeSyncDepth,
    cudaLimitDevRuntimePendingLaunchCount,
    cudaLimitMaxL2FetchGranularity,
    cudaLimitPersistingL2CacheSize
};

// --- memory pools ------------------------------------------------------------------------------------------------
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic = 2,
    cudaMemPoolReuseAllowInternalDependencies = 3,
    cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent = 5,
    cudaMemPoolAttrReservedMemHigh = 6,
    cudaMemPoolAttrUsedMemCurrent = 7,
    cudaMemPoolAttrUsedMemHigh = 8,
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone = 0 };
enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0,
    cudaMemLocationTypeDevice = 1,
    cudaMemLocationTypeHost = 2
};
struct cudaMemLocation {
    enum cudaMemLocationType type;
    int id;
};
struct cudaMemPoolProps {
    enum cudaMemAllocationType allocType;
    enum cudaMemAllocationHandleType handleTypes;
    struct cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};

// --- kernels -----------------------------------------------------------------------------------------------------
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

typedef enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8,
} cudaLaunchAttributeID;

typedef union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative;
    struct {
        unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed; // the emulator runs launches one after another all the same
    int priority;
} cudaLaunchAttributeValue;

typedef struct cudaLaunchAttribute_st {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
} cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st {
    dim3 gridDim;
    dim3 blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned int numAttrs;
} cudaLaunchConfig_t;

// --- devices -----------------------------------------------------------------------------------------------------
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxPitch = 11,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrTextureAlignment = 14,
    cudaDevAttrGpuOverlap = 15,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrMaxTexture1DWidth = 21,
    cudaDevAttrMaxTexture2DWidth = 22,
    cudaDevAttrMaxTexture2DHeight = 23,
    cudaDevAttrMaxTexture3DWidth = 24,
    cudaDevAttrMaxTexture3DHeight = 25,
    cudaDevAttrMaxTexture3DDepth = 26,
    cudaDevAttrMaxTexture2DLayeredWidth = 27,
    cudaDevAttrMaxTexture2DLayeredHeight = 28,
    cudaDevAttrMaxTexture2DLayeredLayers = 29,
    cudaDevAttrSurfaceAlignment = 30,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrEccEnabled = 32,
    cudaDevAttrPciBusId = 33,
    cudaDevAttrPciDeviceId = 34,
    cudaDevAttrTccDriver = 35,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrMaxTexture1DLayeredWidth = 42,
    cudaDevAttrMaxTexture1DLayeredLayers = 43,
    cudaDevAttrPciDomainId = 50,
    cudaDevAttrTexturePitchAlignment = 51,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrGlobalL1CacheSupported = 79,
    cudaDevAttrLocalL1CacheSupported = 80,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrIsMultiGpuBoard = 84,
    cudaDevAttrMultiGpuBoardGroupID = 85,
    cudaDevAttrHostNativeAtomicSupported = 86,
    cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrComputePreemptionSupported = 90,
    cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrHostRegisterSupported = 99,
    cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
    cudaDevAttrDirectManagedMemAccessFromHost = 101,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrMaxPersistingL2CacheSize = 108,
    cudaDevAttrMaxAccessPolicyWindowSize = 109,
    cudaDevAttrReservedSharedMemoryPerBlock = 111,
    cudaDevAttrMemoryPoolsSupported = 115,
    cudaDevAttrClusterLaunch = 120,
};

typedef struct cudaUUID_t {
    char bytes[16];
} cudaUUID_t;

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int multiProcessorCount, integrated, canMapHostMemory;
    int maxTexture1D, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2], maxTexture2DLayered[3];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
    int asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
    int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, memoryPoolsSupported, clusterLaunch, unifiedFunctionPointers;
};

#ifdef __cplusplus
}
#endif
#endif
