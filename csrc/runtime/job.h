// Inside the runtime: what a call of a variant takes, and its stages.
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
    int64_t start_ns;    // when the call began, if it is measured
    ck_limits limits;
    ck_plan plan;
    ck_call call;
    ck_context context;
    int64_t parameters[CK_MAX_PARAMETERS];
    ck_operand *operands;
    ck_view *views;        // of the operands on the device, side by side as ck_call wants them
    int laid_out;          // operands that are filled in; 0: the kernel gets the caller's arrays as they are
    int to_finish;         // 1: partial results are left to be added
    int written_out;       // 1: host memory may be the target of a copy that is on its way
    int launched_before;   // kernels that were launched before START
    ck_timeline *timeline; // NULL: nobody asks for each launch's time
    ck_stream *own; // a stream of the call's own with its events; of device arrays, if measured: for its events
    ck_block workspace, partials, clocks;
    void *host_partials;
} job;

static inline int job_on_device(const job *job) {
    return job->request->memories != NULL;
}

int job_check(job *job);           // is this a call that the variant allows, with arrays that it can take?
int job_plan(job *job);            // sizes and layouts: nothing is taken yet
int job_prepare(job *job);         // memory, and outputs made ready
int job_compute(job *job);         // inputs there, the launches, outputs where they belong on the device
int job_run(job *job);             // the variant's launches
int job_finish(job *job);          // and those that add its partial results on the device
int job_fetch(job *job);           // what goes to the host, on its way: results, clocks for a report
int job_mark(job *job, int event); // nothing if nobody measures
int job_mark_start(job *job);      // where the copies' time ends and the kernels' begins
int job_mark_end(job *job);        // where the kernels' time ends

// --- check.c -----------------------------------------------------------------------------------------------------
int ck_check_device(const ck_operation *operation, const ck_variant *variant, const ck_limits *limits,
                    ck_error *error);

#endif
