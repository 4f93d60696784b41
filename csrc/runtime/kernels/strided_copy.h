// Element by element from any strides to any strides, on the device: what arrays need beside the ladders.
//
// Both are enqueued in the context's stream like any launch, and nothing else happens. Strides may be anything, 0 and
// negative too (in `to`, no two elements may share memory), and elements need no alignment. The two arrays share no
// memory either, unless each element of one is the other's at the same place, as large and in the same byte order.
#ifndef CK_STRIDED_COPY_H
#define CK_STRIDED_COPY_H

#include "../../kernels/call.h"

#ifdef __cplusplus
extern "C" {
#endif

// to[i] = from[i], converted as NumPy's astype does. Shapes are equal. Bytes may be swapped within one type, as a
// host's array has them on its way: what lives on the device has this machine's order.
int ck_strided_copy(const ck_view *to, const ck_view *from, const ck_context *context, ck_error *error);

// to[i] = value, one element of `to`'s type in this machine's byte order.
int ck_strided_fill(const ck_view *to, const void *value, const ck_context *context, ck_error *error);

#ifdef __cplusplus
}
#endif
#endif
