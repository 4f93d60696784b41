// Thrust's algorithms on the device are loops on the host here. Each begins with its policy: it first waits for the
// kernels that were launched before it.
#ifndef EMULATOR_CCCL_EXECUTION_POLICY
#define EMULATOR_CCCL_EXECUTION_POLICY

#define derived_cast emu_derived_cast // Thrust's own, under another name
#include_next <thrust/detail/execution_policy.h>
#undef derived_cast

THRUST_NAMESPACE_BEGIN
namespace detail {

template <typename Policy> constexpr decltype(auto) derived_cast(Policy &&policy) {
    if (!__builtin_is_constant_evaluated() && !emu_in_kernel()) emu_device_settle();
    return emu_derived_cast(policy);
}

} // namespace detail
THRUST_NAMESPACE_END

// CUB includes this in an order in which its names would mean others.
#include <thrust/system/cuda/detail/execution_policy.h>

#endif
