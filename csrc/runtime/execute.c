// One call of a variant, from the caller's arrays to the caller's result.
//
//   host arrays     check -> plan -> stream and memory -> copies in -> run -> copies out -> wait -> finish on the host
//   device arrays   check -> plan -> order -> memory -> run -> finish by a kernel -> order
//
// Everything that a call takes is noted in one `job`. Each stage returns at its first failure; the one place that
// gives back (`give_back`) takes whatever state it finds.
#include <stdlib.h>

#include "backend.h"
#include "job.h"

void ck_measure_clear(ck_measure *measure) {
    free(measure->clocks);
    measure->clocks = NULL;
}

static int wait(job *job) {
    return ck_wait(job->context.stream, job->context.launches, &job->request->waiter, job->error);
}

// --- host arrays: in a stream of the call's own, done on return ----------------------------------------------------
static int execute_on_host_arrays(job *job) {
    const ck_request *request = job->request;
    CK_TRY(ck_stream_acquire(job->runtime, job->device, &job->own, job->error));
    CK_TRY(job_prepare(job, job->own->stream));
    CK_TRY(job_compute(job));
    // The copies back would hold this thread where no signal is looked at.
    if (backend_wait_can_be_interrupted()) CK_TRY(wait(job));
    const int status = job_fetch(job);
    ck_launches_explain(job->context.launches, job->error); // a copy waits too
    CK_TRY(status);
    CK_TRY(wait(job));
    const int64_t start = ck_now_ns();
    if (job->to_finish)
        request->operation->finish_host(job->host_partials, job->plan.partials, &job->call.types,
                                        request->views[request->operation->inputs].data);
    if (request->measure != NULL) request->measure->finish_ns = ck_now_ns() - start;
    return CK_OK;
}

// --- device arrays: in the caller's stream, done later -------------------------------------------------------------
static int enqueue(job *job) {
    if (job->request->measure != NULL) CK_TRY(ck_stream_acquire(job->runtime, job->device, &job->own, job->error));
    CK_TRY(job_prepare(job, job->request->stream));
    return job_compute(job);
}

static int execute_on_device_arrays(job *job) {
    const ck_request *request = job->request;
    ck_access accesses[CK_MAX_VIEWS];
    const int count = request->view_count;
    for (int i = 0; i < count; i++) accesses[i] = (ck_access){request->memories[i], i >= request->operation->inputs};
    CK_TRY(ck_order_before(accesses, count, request->stream, job->error));
    int status = enqueue(job);
    // Also after a failure: what was enqueued before it uses the memory.
    const int noted = ck_order_after(accesses, count, request->stream, job->error);
    if (status == CK_OK) status = noted;
    ck_launches_explain(job->context.launches, job->error); // any call may be the one that reports a kernel's failure
    if (status != CK_OK || request->measure == NULL) return status;
    CK_TRY(wait(job));
    CK_TRY(job_fetch(job));
    return wait(job);
}

// --- report and end ------------------------------------------------------------------------------------------------
static int report(job *job) {
    const ck_request *request = job->request;
    ck_measure *measure = request->measure;
    measure->plan = job->plan;
    measure->bytes_to_device = measure->bytes_to_host = 0;
    measure->to_device_ns = measure->to_host_ns = 0;
    CK_TRY(ck_timing_between(job->own, START, RAN, &measure->kernel_ns, job->error));
    if (!job_on_device(job)) {
        CK_TRY(ck_timing_between(job->own, BEGIN, COPIED_IN, &measure->to_device_ns, job->error));
        CK_TRY(ck_timing_between(job->own, BEGIN_OUT, COPIED_OUT, &measure->to_host_ns, job->error));
        for (int i = 0; i < job->laid_out; i++)
            *(i < request->operation->inputs ? &measure->bytes_to_device : &measure->bytes_to_host) +=
                ck_operand_bytes(&job->operands[i]);
        if (job->to_finish) measure->bytes_to_host = (int64_t)job->partials.bytes;
    }
    if (job->context.timeline != NULL)
        CK_TRY(ck_timeline_read(job->context.timeline, measure->launches, &measure->launch_count, job->error));
    if (request->operation->work != NULL) request->operation->work(&job->call, &measure->work);
    return CK_OK;
}

static int stages(job *job) {
    CK_TRY(ck_runtime_device(job->runtime, job->request->device, &job->device, job->error));
    CK_TRY(job_check(job));
    CK_TRY(job_plan(job));
    CK_TRY(job_on_device(job) ? execute_on_device_arrays(job) : execute_on_host_arrays(job));
    return job->request->measure != NULL ? report(job) : CK_OK;
}

static void give_back(job *job) {
    const ck_waiter *waiter = &job->request->waiter;
    cudaStream_t stream = job->context.stream;
    ck_error *error = job->error;
    // A copy may still be on its way into the caller's array: nobody goes home before the stream is empty. (Host
    // arrays are read as well, and a stream of our own holds nobody else's work.)
    if (error->code != CK_OK && (job->written_out || (job->own != NULL && !job_on_device(job))))
        (void)backend_wait(stream, waiter->interrupted, waiter->argument);
    ck_textures_used(job->device, &job->context, job->textures, error);
    for (int i = 0; i < job->laid_out; i++) ck_operand_free(&job->operands[i], job->device, stream, error);
    ck_pool_free(job->device, &job->workspace, stream, error);
    ck_pool_free(job->device, &job->partials, stream, error);
    ck_pool_free(job->device, &job->clocks, stream, error);
    ck_timeline_destroy(job->context.timeline);
    if (job->own != NULL) ck_stream_release(job->runtime, job->device, job->own, error->code == CK_OK);
    free(job->host_partials);
}

int ck_execute(ck_runtime *runtime, const ck_request *request, ck_error *error) {
    const int64_t start = request->measure != NULL ? ck_now_ns() : 0;
    ck_operand operands[CK_MAX_VIEWS]; // apart: clearing them would take longer than the rest of a short call
    ck_view views[CK_MAX_VIEWS];
    job job = {.runtime = runtime, .request = request, .error = error, .operands = operands, .views = views};
    int previous = request->device;
    atomic_fetch_add(&runtime->calls, 1);
    if (ck_device_enter(request->device, &previous, error) == CK_OK) {
        stages(&job);
        give_back(&job);
        ck_device_leave(request->device, previous, error);
    }
    atomic_fetch_sub(&runtime->calls, 1);
    if (request->measure != NULL) {
        request->measure->whole_ns = ck_now_ns() - start;
        if (error->code != CK_OK) ck_measure_clear(request->measure);
    }
    return error->code;
}
