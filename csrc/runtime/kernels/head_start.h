// The kernel that a measured call launches right before its time begins. It does nothing for 20 us: meanwhile the
// host queues the event that begins the time and the kernels to be timed, so that no wait for the host is measured,
// and a device that must switch from copies to kernels does so before them.
//
// On an H200 (by hand, 2026-11-22, medians of 100), a SAXPY of 2^20 elements with operands on the device takes 6.2 us
// between events after such a kernel, nine times in ten within 0.3 us; without it 8 to 9 us, and after copies 8 to 14
// us. After an empty kernel, which ends at once, both cases occur (an H100, 2026-11-25, a sum of two arrays of 2^20
// elements from the host: 6.6 us in one run, 13.9 us in the next one). An empty kernel takes 2.9 us when measured in
// this way: every such time includes this overhead of starting and ending.
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
