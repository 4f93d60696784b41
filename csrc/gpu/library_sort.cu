#include "library_sort.h"

#include <cub/device/device_radix_sort.cuh>

namespace {

template <typename Key>
cudaError_t sort_keys(int64_t n, const void *keys, void *sorted, void *temporary, size_t *bytes,
                      cudaStream_t stream) {
    return cub::DeviceRadixSort::SortKeys(temporary, *bytes, static_cast<const Key *>(keys),
                                          static_cast<Key *>(sorted), n, 0, 8 * static_cast<int>(sizeof(Key)),
                                          stream);
}

cudaError_t sort_as(library_keys type, int64_t n, const void *keys, void *sorted, void *temporary, size_t *bytes,
                    cudaStream_t stream) {
    switch (type) {
    case LIBRARY_UINT32: return sort_keys<uint32_t>(n, keys, sorted, temporary, bytes, stream);
    case LIBRARY_INT32: return sort_keys<int32_t>(n, keys, sorted, temporary, bytes, stream);
    case LIBRARY_FLOAT32: return sort_keys<float>(n, keys, sorted, temporary, bytes, stream);
    }
    return cudaErrorInvalidValue;
}

} // namespace

cudaError_t library_sort_bytes(library_keys type, int64_t n, size_t *bytes) {
    *bytes = 0;
    return sort_as(type, n, nullptr, nullptr, nullptr, bytes, nullptr);
}

cudaError_t library_sort(library_keys type, int64_t n, const void *keys, void *sorted, void *temporary, size_t bytes,
                         cudaStream_t stream) {
    return sort_as(type, n, keys, sorted, temporary, &bytes, stream);
}
