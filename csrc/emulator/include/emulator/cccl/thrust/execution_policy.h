// As with nvcc, this header has the policies of the device, too: thrust::cuda::par.on(stream).
#include_next <thrust/execution_policy.h>

#include <thrust/system/cuda/execution_policy.h>
