// Internal to the runtime: the frame around everything that enqueues work.
#ifndef CK_FRAME_H
#define CK_FRAME_H

#include "launcher.h"
#include "memory.h"

typedef struct ck_frame {
    ck_runtime *runtime;
    ck_error *error;
    int index; // of the device
    int previous, entered;
    ck_device *device;
    cudaStream_t stream;
    ck_place place;        // of the stream; set by ck_frame_before
    ck_launches *launches; // of the stream
    ck_runner runner;
} ck_frame;

// Enters the device. ck_frame_end must be called even if this fails.
int ck_frame_begin(ck_frame *frame);
// Sets the stream of the work.
int ck_frame_use(ck_frame *frame, cudaStream_t stream);
// A context for launches in that stream.
ck_context ck_frame_context(ck_frame *frame);
// Leaves the device; returns the code of the frame's error.
int ck_frame_end(ck_frame *frame);

// For use between begin and end, before and after the work is enqueued. The work then comes after the uses that must
// precede its accesses, and later uses come after the work. ck_frame_after must be called whenever ck_frame_before
// succeeded, because work that was enqueued before a failure uses the memory too. It returns `status`, or its own
// status if that is CK_OK.
int ck_frame_before(ck_frame *frame, const ck_access *accesses, int count);
int ck_frame_after(ck_frame *frame, const ck_access *accesses, int count, int status);

#endif
