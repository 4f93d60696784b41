// Thrust's algorithms on the device are loops on the host here. Each begins with its policy: it first waits for the
// kernels that were launched before it, and stands in for the device to the end of the expression that calls it.
#ifndef EMULATOR_CCCL_EXECUTION_POLICY
#define EMULATOR_CCCL_EXECUTION_POLICY

#define derived_cast emu_derived_cast // Thrust's own, under another name
#include_next <thrust/detail/execution_policy.h>
#undef derived_cast

THRUST_NAMESPACE_BEGIN
namespace detail {

struct emu_stand_in {
    const bool on_host = !emu_in_kernel();
    emu_stand_in() {
        if (on_host) emu_host_stands_in(1);
    }
    ~emu_stand_in() {
        if (on_host) emu_host_stands_in(0);
    }
};
template <typename Policy> decltype(auto) derived_cast(Policy &&policy, const emu_stand_in & = emu_stand_in()) {
    return emu_derived_cast(policy);
}

} // namespace detail
THRUST_NAMESPACE_END

// CUB includes this in an order in which its names would mean others.
#include <thrust/system/cuda/detail/execution_policy.h>

#endif
