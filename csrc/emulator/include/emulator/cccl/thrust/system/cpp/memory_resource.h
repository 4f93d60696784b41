// The memory of Thrust's vectors, which kernels must be able to use.
#ifndef EMULATOR_CCCL_MEMORY_RESOURCE
#define EMULATOR_CCCL_MEMORY_RESOURCE

#include <new>

#include <thrust/mr/fancy_pointer_resource.h>
#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/pointer.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
namespace detail {

template <bool MANAGED> struct device_memory : thrust::mr::memory_resource<> {
    void *do_allocate(std::size_t bytes, std::size_t) override {
        void *pointer = nullptr;
        if (MANAGED ? emu_malloc_managed(&pointer, bytes, cudaMemAttachGlobal) : emu_malloc(&pointer, bytes))
            throw std::bad_alloc();
        return pointer;
    }
    void do_deallocate(void *pointer, std::size_t, std::size_t) override { emu_free(pointer); }
};
using native_resource = thrust::mr::fancy_pointer_resource<device_memory<false>, thrust::cpp::pointer<void>>;
using universal_native_resource =
    thrust::mr::fancy_pointer_resource<device_memory<true>, thrust::cpp::universal_pointer<void>>;

} // namespace detail

using memory_resource = detail::native_resource;
using universal_memory_resource = detail::universal_native_resource;
using universal_host_pinned_memory_resource = universal_memory_resource;

} // namespace cpp
} // namespace system
THRUST_NAMESPACE_END

#endif
