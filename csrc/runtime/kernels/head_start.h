// What a measured call launches right before its time begins. It does nothing, and that is its use: while the device is
// busy with it the host queues the kernels to be timed, and a device that changes from copies to kernels has done so.
//
// On an H200 (by hand, 2026-11-22, medians of 100) a SAXPY of 2^20 elements, its operands on the device, takes 6.2 us
// between events behind it, nine in ten within 0.3 us; without it 8 to 9 us, behind copies 8 to 14. An empty kernel
// takes 2.9 us so measured: that much of every such time is the chip's own start and end.
#ifndef CK_HEAD_START_H
#define CK_HEAD_START_H

#include "../../kernels/call.h"

#ifdef __cplusplus
extern "C" {
#endif

int ck_head_start(const ck_context *context, ck_error *error);

#ifdef __cplusplus
}
#endif
#endif
