// Internal to the runtime: the launchers that run kernels.
#ifndef CK_LAUNCHER_H
#define CK_LAUNCHER_H

#include "stream.h"

// --- launcher.c --------------------------------------------------------------------------------------------------
// The launcher that runs kernels: (ck_runner){{ck_run_launch}, log, 0}.
typedef struct ck_runner {
    ck_launcher launcher;
    ck_launches *log; // of the stream; may be NULL
    int count;        // launches so far
} ck_runner;
int ck_run_launch(ck_launcher *launcher, const ck_launch_plan *launch, cudaStream_t stream, ck_error *error);
int ck_allow_shared(const ck_launch_plan *launch, ck_error *error); // more dynamic shared memory than CUDA's 48 KB

// --- timeline.c --------------------------------------------------------------------------------------------------
// The launcher that also records when each launch has finished.
typedef struct ck_timeline ck_timeline;
int ck_timeline_create(ck_launches *log, ck_timeline **timeline, ck_error *error);
ck_launcher *ck_timeline_launcher(ck_timeline *timeline);
int ck_timeline_start(ck_timeline *timeline, cudaStream_t stream, ck_error *error); // before the first launch
int ck_timeline_read(const ck_timeline *timeline, ck_launch_time *times, int *count, ck_error *error); // after a wait
void ck_timeline_destroy(ck_timeline *timeline); // NULL is allowed

#endif
