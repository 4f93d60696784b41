// The package's own set: all operations. The build writes operations.inc, a line OPERATION(name) for each folder of
// kernels; nothing else lists them.
#include "set.h"

#include "backend.h"

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
const ck_set_table cudakern_set = {
    CK_ABI_VERSION, backend_name(), all_operations, sizeof all_operations / sizeof *all_operations, nullptr, 0};
}
