// The launcher that times every launch of a measured call: it runs the launch, and records an event after it.
//
//     start | launch 0 | launch 1 | ...        launch i took the time from event i to event i + 1
//
// The events separate launches that would otherwise follow each other more closely, so the sum of the times is larger
// than the time of the call.
#include <stdlib.h>

#include "launcher.h"

struct ck_timeline {
    ck_runner runner;
    int count, events;
    cudaEvent_t event[CK_MAX_TIMELINE + 1];
    const char *name[CK_MAX_TIMELINE];
};

static int add_event(ck_timeline *timeline, ck_error *error) {
    CK_CUDA(error, cudaEventCreate(&timeline->event[timeline->events]));
    timeline->events++;
    return CK_OK;
}

static int launch_and_mark(ck_launcher *launcher, const ck_launch_plan *launch, cudaStream_t stream,
                           ck_error *error) {
    ck_timeline *timeline = (ck_timeline *)launcher;
    CK_TRY(ck_run_launch(launcher, launch, stream, error));
    if (timeline->count >= CK_MAX_TIMELINE) return CK_OK; // only the first launches are timed
    timeline->name[timeline->count] = launch->name;
    CK_TRY(add_event(timeline, error));
    CK_CUDA(error, cudaEventRecord(timeline->event[timeline->events - 1], stream));
    timeline->count++;
    return CK_OK;
}

int ck_timeline_create(ck_launches *log, ck_timeline **timeline, ck_error *error) {
    ck_timeline *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for a call's times");
    fresh->runner = (ck_runner){{launch_and_mark}, log, 0};
    const int status = add_event(fresh, error);
    if (status != CK_OK)
        free(fresh);
    else
        *timeline = fresh;
    return status;
}

int ck_timeline_start(ck_timeline *timeline, cudaStream_t stream, ck_error *error) {
    CK_CUDA(error, cudaEventRecord(timeline->event[0], stream));
    return CK_OK;
}

ck_launcher *ck_timeline_launcher(ck_timeline *timeline) {
    return &timeline->runner.launcher;
}

int ck_timeline_read(const ck_timeline *timeline, ck_launch_time *times, int *count, ck_error *error) {
    for (int i = 0; i < timeline->count; i++) {
        float milliseconds = 0;
        CK_CUDA(error, cudaEventElapsedTime(&milliseconds, timeline->event[i], timeline->event[i + 1]));
        times[i] = (ck_launch_time){timeline->name[i], (int64_t)((double)milliseconds * 1e6 + 0.5)};
        *count = i + 1;
    }
    return CK_OK;
}

void ck_timeline_destroy(ck_timeline *timeline) {
    if (timeline == NULL) return;
    for (int i = 0; i < timeline->events; i++) (void)cudaEventDestroy(timeline->event[i]);
    free(timeline);
}
