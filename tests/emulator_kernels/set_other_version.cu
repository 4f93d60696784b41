// A set that was built for another version of the kernels' interface.
#include <cuda_runtime.h>

#include "backend.h"
#include "kernels/set.h"

extern "C" {
__attribute__((visibility("default"))) extern const ck_set_table cudakern_set;
const ck_set_table cudakern_set = {CK_ABI_VERSION + 1, backend_name(), nullptr, 0, nullptr, 0, nullptr, 0};
}
