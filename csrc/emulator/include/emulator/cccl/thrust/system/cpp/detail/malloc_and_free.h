// thrust::malloc and thrust::free of the device: memory that kernels can use. In a kernel, its own.
#ifndef EMULATOR_CCCL_MALLOC
#define EMULATOR_CCCL_MALLOC

#include <cstdlib>

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/cpp/detail/execution_policy.h>
#include <thrust/system/detail/sequential/malloc_and_free.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
namespace detail {

template <typename Derived> void *malloc(execution_policy<Derived> &, std::size_t bytes) {
    void *pointer = nullptr;
    if (emu_in_kernel()) return std::malloc(bytes);
    return emu_malloc(&pointer, bytes) ? nullptr : pointer;
}
template <typename Derived, typename Pointer> void free(execution_policy<Derived> &, Pointer pointer) {
    void *const raw = thrust::raw_pointer_cast(pointer);
    if (emu_in_kernel())
        std::free(raw);
    else
        emu_free(raw);
}

} // namespace detail
} // namespace cpp
} // namespace system
THRUST_NAMESPACE_END

#endif
