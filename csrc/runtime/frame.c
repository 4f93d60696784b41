// The frame around everything that enqueues work: it enters the device, finds the stream's log of launches, orders
// uses of memory, and adds the outstanding launches to the message of a failure that appears late.
#include "frame.h"

int ck_frame_begin(ck_frame *frame) {
    frame->previous = frame->index;
    atomic_fetch_add(&frame->runtime->calls, 1);
    CK_TRY(ck_device_enter(frame->index, &frame->previous, frame->error));
    frame->entered = 1;
    return ck_runtime_device(frame->runtime, frame->index, &frame->device, frame->error);
}

int ck_frame_use(ck_frame *frame, cudaStream_t stream) {
    CK_TRY(ck_stream_check(stream, frame->error));
    frame->stream = stream;
    frame->launches = ck_launches_of(frame->device, stream);
    frame->runner = (ck_runner){{ck_run_launch}, frame->launches, 0};
    return CK_OK;
}

ck_context ck_frame_context(ck_frame *frame) {
    return (ck_context){.device = frame->index, .stream = frame->stream, .launcher = &frame->runner.launcher};
}

int ck_frame_before(ck_frame *frame, const ck_access *accesses, int count) {
    return ck_order_before_at(accesses, count, frame->stream, &frame->place, frame->error);
}

int ck_frame_after(ck_frame *frame, const ck_access *accesses, int count, int status) {
    const int noted = ck_order_after_at(accesses, count, frame->stream, &frame->place, frame->error);
    ck_launches_explain(frame->launches, frame->error); // any call may report the failure of a kernel
    return status != CK_OK ? status : noted;
}

int ck_frame_end(ck_frame *frame) {
    if (frame->entered) ck_device_leave(frame->index, frame->previous, frame->error);
    atomic_fetch_sub(&frame->runtime->calls, 1);
    return frame->error->code;
}
