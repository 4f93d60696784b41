// Below the seam, GPU side: descriptions of arrays and boxes for tensor_copy.cuh (CUtensorMap). The emulator has a
// file of the same name and meaning. Kernels take a map as a parameter `const __grid_constant__ tensor_map map`, and
// use its address.
#ifndef CK_TENSOR_MAP_H
#define CK_TENSOR_MAP_H

#include <stddef.h>
#include <stdint.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef CUtensorMap tensor_map; // 128 bytes, aligned to 64

// Axes from the innermost on, whose elements are contiguous.
typedef struct tensor_map_shape {
    int element_bytes; // 1, 2, 4 or 8
    int axes;          // 2 to 5
    uint64_t lengths[5];
    uint64_t strides[5]; // bytes; multiples of 16 (that of axis 0 is not used)
    uint32_t box[5];     // elements, at most 256 along each axis
    int swizzle;         // bytes: 0, 32, 64 or 128; not less than the box has along axis 0
} tensor_map_shape;

// `address` is a multiple of 16. Returns a cudaError_t: cudaErrorInvalidValue for a shape that TMA does not take.
static inline int tensor_map_make(tensor_map *map, const void *address, const tensor_map_shape *shape) {
    typedef CUresult encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                            const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static encode *function;
    if (!function) {
        void *entry = NULL;
        enum cudaDriverEntryPointQueryResult status;
        const cudaError_t code =
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &status);
        if (code != cudaSuccess) return (int)code;
        if (status != cudaDriverEntryPointSuccess) return (int)cudaErrorNotSupported;
        __atomic_store_n(&function, (encode *)entry, __ATOMIC_RELAXED);
    }
    const CUtensorMapDataType type = shape->element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                     : shape->element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                     : shape->element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                                 : CU_TENSOR_MAP_DATA_TYPE_UINT64;
    const CUtensorMapSwizzle swizzle = shape->swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : shape->swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                       : shape->swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                              : CU_TENSOR_MAP_SWIZZLE_NONE;
    const cuuint32_t every[5] = {1, 1, 1, 1, 1};
    const CUresult result = function(map, type, (cuuint32_t)shape->axes, (void *)(uintptr_t)address, shape->lengths,
                                     shape->strides + 1, shape->box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                     CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? (int)cudaSuccess : (int)cudaErrorInvalidValue;
}

#ifdef __cplusplus
}
#endif
#endif
