// Inside the runtime: what surrounds everything that enqueues work.
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
    ck_place place;        // of the stream, from ck_frame_before on
    ck_launches *launches; // of the stream
    ck_runner runner;
} ck_frame;

// Enters the device. ck_frame_end is to be called also where this fails.
int ck_frame_begin(ck_frame *frame);
// The stream that the work goes to.
int ck_frame_use(ck_frame *frame, cudaStream_t stream);
// A context for launches in that stream.
ck_context ck_frame_context(ck_frame *frame);
// Leaves the device; returns the code of the frame's error.
int ck_frame_end(ck_frame *frame);

// Between begin and end, around what is enqueued: it comes after the uses that its accesses must come after, and later
// uses come after it. The second is to be called whenever the first went well: what was enqueued before a failure uses
// the memory, too. It returns `status`, or where that is CK_OK its own.
int ck_frame_before(ck_frame *frame, const ck_access *accesses, int count);
int ck_frame_after(ck_frame *frame, const ck_access *accesses, int count, int status);

#endif
