// Copies and fills on the device with any strides, which arrays need in addition to the kernels of the operations.
//
// Both functions enqueue kernels in the stream of the context, and do nothing else. Strides may be 0 or negative (but
// in `to`, no two elements may share memory), and elements need not be aligned. The arrays must not overlap, except
// if elements at the same index have the same address, size and byte order in both.
#ifndef CK_STRIDED_COPY_H
#define CK_STRIDED_COPY_H

#include "../../kernels/call.h"

#ifdef __cplusplus
extern "C" {
#endif

// to[i] = from[i], converted as by NumPy's astype. The shapes must be equal. If the types are equal, the byte orders
// may differ, which happens only for arrays that are copied from or to the host: arrays on the device have this
// machine's byte order.
int ck_strided_copy(const ck_view *to, const ck_view *from, const ck_context *context, ck_error *error);

// to[i] = value, one element of `to`'s type in this machine's byte order.
int ck_strided_fill(const ck_view *to, const void *value, const ck_context *context, ck_error *error);

#ifdef __cplusplus
}
#endif
#endif
