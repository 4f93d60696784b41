// A set that was built for a backend that this side is not.
#include <cuda_runtime.h>

#include "kernels/set.h"

extern "C" {
__attribute__((visibility("default"))) extern const ck_set_table cudakern_set;
const ck_set_table cudakern_set = {CK_ABI_VERSION, "another", nullptr, 0, nullptr, 0, nullptr, 0};
}
