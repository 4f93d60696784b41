// A check for the plans of operations whose result has a length of its own.
#ifndef CK_RESULT_LENGTH_H
#define CK_RESULT_LENGTH_H

#include "sizes.h"
#include "call.h"

// Python creates results of the right length, but a direct caller of the C module may not.
inline int check_result_length(const ck_call *call, int64_t length, ck_error *error) {
    const ck_view &result = call->views[call->view_count - 1];
    int64_t n = 1;
    for (int d = 0; d < result.ndim; ++d) n = product(n, result.shape[d]);
    if (n == length) return CK_OK;
    return ck_fail(error, CK_BAD_VALUE, "the output has %lld elements, but the result has %lld",
                   static_cast<long long>(n), static_cast<long long>(length));
}

#endif
