// Thrust's policies for CUDA: the device is Thrust's sequential system here, and every algorithm is synchronous.
#ifndef EMULATOR_CCCL_CUDA_PAR
#define EMULATOR_CCCL_CUDA_PAR

#include <thrust/system/cpp/detail/par.h>

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

struct par_t : thrust::system::cpp::detail::par_t {
    par_t on(cudaStream_t) const { return *this; }
};
static const par_t par, par_nosync;

} // namespace cuda_cub
namespace system {
namespace cuda {
using thrust::cuda_cub::par;
using thrust::cuda_cub::par_nosync;
} // namespace cuda
} // namespace system
namespace cuda {
using thrust::cuda_cub::par;
using thrust::cuda_cub::par_nosync;
} // namespace cuda
THRUST_NAMESPACE_END

#endif
