// The set of all operations of the package. The build writes operations.inc, which has a line OPERATION(name) for
// each folder of kernels; the folders are not listed anywhere else.
#include "set.h"

#include "backend.h"
#include "variant.h"

extern "C" {

#define OPERATION(name) extern const ck_operation ck_operation_##name;
#include "operations.inc"
#undef OPERATION

static const ck_operation *const all_operations[] = {
#define OPERATION(name) &ck_operation_##name,
#include "operations.inc"
#undef OPERATION
};

CK_EXPORTED extern const ck_set_table cudakern_set;
const ck_set_table cudakern_set = {CK_ABI_VERSION, backend_name(),
                                   all_operations, sizeof all_operations / sizeof *all_operations,
                                   nullptr,        0,
                                   nullptr,        0};
}
