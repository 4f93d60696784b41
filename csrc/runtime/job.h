// Internal to the runtime: the resources of a call of a variant, and its stages.
#ifndef CK_JOB_H
#define CK_JOB_H

#include "bindings.h"
#include "frame.h"
#include "operand.h"

// Events of a measured call: BEGIN to COPIED_IN and BEGIN_OUT to COPIED_OUT are its copies, START to RAN its kernels.
enum { BEGIN, COPIED_IN, START, RAN, BEGIN_OUT, COPIED_OUT };

typedef struct job {
    ck_frame frame;
    const ck_request *request;
    ck_measure *measure; // NULL: nothing is timed
    int64_t start_ns;    // when the call started, if it is measured
    ck_limits limits;
    ck_plan plan;
    ck_call call;
    ck_context context;
    int64_t parameters[CK_MAX_PARAMETERS];
    ck_operand *operands;
    ck_view *views;        // of the operands on the device, contiguous, for ck_call
    int laid_out;          // the number of operands in use; 0: the kernel accesses the caller's arrays directly
    int to_finish;         // 1: partial results must still be added
    int written_out;       // 1: a copy to host memory may be running
    int launched_before;   // the number of kernels that were launched before START
    ck_timeline *timeline; // NULL: launches are not timed one by one
    ck_stream *own;        // the call's own stream; in a measured call on device arrays, only its events are used
    ck_block workspace, partials, clocks;
    void *host_partials;
} job;

static inline int job_on_device(const job *job) {
    return job->request->memories != NULL;
}

int job_check(job *job);           // does the variant allow this call and these arrays?
int job_plan(job *job);            // sizes and layouts; acquires nothing
int job_prepare(job *job);         // allocates memory and clears outputs
int job_compute(job *job);         // copies inputs to the device, launches, and unpacks outputs there
int job_run(job *job);             // the variant's launches
int job_finish(job *job);          // the launches that add its partial results on the device
int job_fetch(job *job);           // enqueues copies to the host: results, and clocks for a report
int job_mark(job *job, int event); // does nothing if the call is not measured
int job_mark_start(job *job);      // ends the time of the copies and starts the time of the kernels
int job_mark_end(job *job);        // ends the time of the kernels

// --- check.c -----------------------------------------------------------------------------------------------------
int ck_check_device(const ck_operation *operation, const ck_variant *variant, const ck_limits *limits,
                    ck_error *error);

#endif
