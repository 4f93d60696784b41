// Internal to the runtime: its own streams, waiting, and the launches on each stream.
#ifndef CK_STREAM_H
#define CK_STREAM_H

#include "state.h"

// --- stream.c ----------------------------------------------------------------------------------------------------
int ck_stream_acquire(ck_runtime *runtime, ck_device *device, ck_stream **stream, ck_error *error);
// healthy: 1 returns the stream to the free list, 0 destroys it, because a failed call may have left work on it.
void ck_stream_release(ck_runtime *runtime, ck_device *device, ck_stream *stream, int healthy);
void ck_stream_destroy(ck_stream *stream);

// Waits for a stream of the current device. The message of a failure lists the outstanding launches.
int ck_wait(cudaStream_t stream, ck_launches *launches, const ck_waiter *waiter, ck_error *error);
// The same for the current device and for one of its events. `device` is NULL if the device has no state yet.
int ck_wait_device(ck_device *device, const ck_waiter *waiter, ck_error *error);
int ck_wait_event(ck_device *device, cudaEvent_t event, const ck_waiter *waiter, ck_error *error);
int ck_stream_check(cudaStream_t stream, ck_error *error); // fails if the value cannot be the address of a stream

// --- timing.c ----------------------------------------------------------------------------------------------------
int64_t ck_now_ns(void); // on the host
// Records one of the stream's events, in that stream or in another one (`where`).
int ck_timing_mark(ck_stream *stream, int event, cudaStream_t where, ck_error *error);
int ck_timing_between(ck_stream *stream, int first, int last, int64_t *ns, ck_error *error); // after both

// --- launches.c --------------------------------------------------------------------------------------------------
void ck_launches_note(ck_launches *launches, const ck_launch_plan *launch); // launches may be NULL
// The record of a stream, created at its first use. NULL if there is no memory for it; launches are then not
// recorded.
ck_launches *ck_launches_of(ck_device *device, cudaStream_t stream);
uint64_t ck_launches_now(ck_launches *launches); // the number of the device's last launch, on any stream
// Forgets the launches up to that number, which the stream has finished.
void ck_launches_done(ck_launches *launches, uint64_t upto);
// Adds the outstanding launches to an error message ("Outstanding on the stream: tiled<<<...>>>, ...").
void ck_launches_explain(ck_launches *launches, ck_error *error);
void ck_launches_forget(ck_device *device, cudaStream_t stream); // before the stream is destroyed
// The same for all streams of a device.
uint64_t ck_device_launches_now(ck_device *device);
void ck_device_launches_done(ck_device *device, uint64_t upto);
void ck_device_launches_explain(ck_device *device, ck_error *error);
int ck_launches_create(ck_device *device, ck_error *error);
void ck_launches_destroy(ck_device *device);

#endif
