// Definitions that the launches in this folder share.
#ifndef CK_SORT_LAUNCHES_COMMON_CUH
#define CK_SORT_LAUNCHES_COMMON_CUH

#include "../../grid.cuh"
#include "../../launch.cuh"
#include "../../types.cuh"

namespace sort {

enum memory { GLOBAL, SHARED }; // values of the parameter `memory`

template <typename Visit> int with_key_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_type<CK_UINT32, CK_INT32, CK_FLOAT32>(call, error, visit);
}

} // namespace sort

#endif
