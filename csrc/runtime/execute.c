// One call: of a variant, from the caller's arrays to the caller's result, or of a single kernel.
//
//   host arrays     check -> plan -> stream and memory -> copies in -> run -> copies out -> wait -> finish
//   device arrays   check -> plan -> order -> memory -> run -> finish by a kernel -> order
//   a kernel        check -> order -> launch -> order
//
// All resources of a call are recorded in one `job`. Each stage returns at its first failure; a single function,
// `give_back`, releases the resources from any state.
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "job.h"

void ck_measure_clear(ck_measure *measure) {
    free(measure->clocks);
    measure->clocks = NULL;
}

static int wait(job *job, const ck_waiter *waiter) {
    return ck_wait(job->frame.stream, job->frame.launches, waiter, job->frame.error);
}

static int take_stream(job *job) {
    return ck_stream_acquire(job->frame.runtime, job->frame.device, &job->own, job->frame.error);
}

// --- host arrays: in the call's own stream, complete on return -----------------------------------------------------
static int execute_on_host_arrays(job *job) {
    const ck_request *request = job->request;
    CK_TRY(take_stream(job));
    CK_TRY(ck_frame_use(&job->frame, job->own->stream));
    CK_TRY(job_prepare(job));
    CK_TRY(job_compute(job));
    // The copies to the host would block this thread without checking for signals, so wait first.
    if (backend_wait_can_be_interrupted()) CK_TRY(wait(job, &request->waiter));
    CK_TRY(job_fetch(job));
    CK_TRY(wait(job, &request->waiter));
    for (int i = request->operation->inputs; i < job->laid_out; i++) ck_operand_scatter(&job->operands[i]);
    const int64_t start = ck_now_ns();
    if (job->to_finish) {
        const ck_view *result = &request->views[request->operation->inputs];
        _Alignas(16) char sum[16]; // the caller's array may be at any address
        request->operation->finish_host(job->host_partials, job->plan.partials, &job->call.types, sum);
        memcpy(result->data, sum, ck_dtype_size(result->dtype));
    }
    if (job->measure != NULL) job->measure->finish_ns = ck_now_ns() - start;
    return CK_OK;
}

// --- device arrays: in the caller's stream, asynchronous -----------------------------------------------------------
static int execute_on_device_arrays(job *job) {
    const ck_request *request = job->request;
    ck_access accesses[CK_MAX_VIEWS];
    const int count = request->view_count;
    for (int i = 0; i < count; i++) accesses[i] = (ck_access){request->memories[i], i >= request->operation->inputs};
    CK_TRY(ck_frame_use(&job->frame, request->stream));
    if (job->measure != NULL) CK_TRY(take_stream(job));
    CK_TRY(ck_frame_before(&job->frame, accesses, count));
    int status = job_prepare(job);
    if (status == CK_OK) status = job_compute(job);
    CK_TRY(ck_frame_after(&job->frame, accesses, count, status));
    if (job->measure == NULL) return CK_OK;
    CK_TRY(wait(job, &request->waiter));
    CK_TRY(job_fetch(job));
    return wait(job, &request->waiter);
}

// --- report and end ------------------------------------------------------------------------------------------------
static int report_kernels(job *job) {
    ck_measure *measure = job->measure;
    CK_TRY(ck_timing_between(job->own, START, RAN, &measure->kernel_ns, job->frame.error));
    if (job->timeline == NULL) return CK_OK;
    return ck_timeline_read(job->timeline, measure->launches, &measure->launch_count, job->frame.error);
}

static int report(job *job) {
    const ck_request *request = job->request;
    ck_measure *measure = job->measure;
    ck_error *error = job->frame.error;
    measure->plan = job->plan;
    CK_TRY(report_kernels(job));
    if (!job_on_device(job)) {
        CK_TRY(ck_timing_between(job->own, BEGIN, COPIED_IN, &measure->to_device_ns, error));
        CK_TRY(ck_timing_between(job->own, BEGIN_OUT, COPIED_OUT, &measure->to_host_ns, error));
        for (int i = 0; i < job->laid_out; i++)
            *(i < request->operation->inputs ? &measure->bytes_to_device : &measure->bytes_to_host) +=
                ck_operand_bytes(&job->operands[i]);
        for (int i = 0; i < job->laid_out; i++)
            if (job->operands[i].block != NULL) measure->bytes_gathered += ck_operand_bytes(&job->operands[i]);
        if (job->to_finish) measure->bytes_to_host = (int64_t)job->partials.bytes;
    }
    if (request->operation->work != NULL) request->operation->work(&job->call, &measure->work);
    return CK_OK;
}

static void give_back(job *job, const ck_waiter *waiter) {
    ck_device *device = job->frame.device;
    cudaStream_t stream = job->frame.stream;
    ck_error *error = job->frame.error;
    ck_launches_explain(job->frame.launches, error); // before the log of the call's own stream is cleared
    // A copy to the caller's array may still be running: wait for the stream before returning. (Also if host arrays
    // are only read, since the call's own stream contains no other work.)
    const int host_arrays = job->request != NULL && !job_on_device(job);
    if (error->code != CK_OK && (job->written_out || (job->own != NULL && host_arrays)))
        (void)backend_wait(stream, waiter->interrupted, waiter->argument);
    for (int i = 0; i < job->laid_out; i++) ck_operand_free(&job->operands[i], stream, error);
    if (error->code != CK_OK || !job->plan.leaves_workspace_clear) job->workspace.clear = 0;
    ck_pool_free(device, &job->workspace, stream, error);
    ck_pool_free(device, &job->partials, stream, error);
    ck_pool_free(device, &job->clocks, stream, error);
    ck_timeline_destroy(job->timeline);
    if (job->own != NULL) ck_stream_release(job->frame.runtime, device, job->own, error->code == CK_OK);
    free(job->host_partials);
}

// Releases all that the call has acquired.
static int end(job *job, const ck_waiter *waiter) {
    give_back(job, waiter);
    const int status = ck_frame_end(&job->frame);
    if (job->measure != NULL) {
        job->measure->whole_ns = ck_now_ns() - job->start_ns;
        if (status != CK_OK) ck_measure_clear(job->measure);
    }
    return status;
}

// --- a variant -----------------------------------------------------------------------------------------------------
static int execute(job *job) {
    CK_TRY(ck_frame_begin(&job->frame));
    CK_TRY(job_check(job));
    CK_TRY(job_plan(job));
    CK_TRY(job_on_device(job) ? execute_on_device_arrays(job) : execute_on_host_arrays(job));
    return job->measure != NULL ? report(job) : CK_OK;
}

int ck_execute(ck_runtime *runtime, const ck_request *request, ck_error *error) {
    ck_operand
        operands[CK_MAX_VIEWS]; // not in the job: clearing them would take longer than the rest of a short call
    ck_view views[CK_MAX_VIEWS];
    job job = {.frame = {.runtime = runtime, .error = error, .index = request->device},
               .request = request,
               .measure = request->measure,
               .start_ns = request->measure != NULL ? ck_now_ns() : 0,
               .operands = operands,
               .views = views};
    execute(&job);
    return end(&job, &request->waiter);
}

// --- a single kernel -----------------------------------------------------------------------------------------------
static int uses_of(const ck_kernel_request *request, ck_access accesses[CK_MAX_ACCESSES], ck_error *error) {
    const ck_set_kernel *kernel = request->kernel;
    int count = 0;
    for (int i = 0; i < kernel->parameter_count; i++) {
        const ck_parameter_kind kind = kernel->parameters[i].kind;
        if (kind == CK_BY_VALUE || request->memories[i] == NULL) continue;
        if (count == CK_MAX_ACCESSES) {
            ck_fail(error, CK_BAD_VALUE,
                    "%s was called with more than %d arrays, but a launch supports at most that many", kernel->name,
                    CK_MAX_ACCESSES);
            return -1;
        }
        accesses[count++] = (ck_access){request->memories[i], kind == CK_WRITTEN};
    }
    return count;
}

static int launch(job *job, const ck_launch_plan *launch) {
    job->context = ck_frame_context(&job->frame);
    CK_TRY(job_mark_start(job));
    CK_TRY(job->context.launcher->launch(job->context.launcher, launch, job->frame.stream, job->frame.error));
    return job_mark_end(job);
}

static int launch_kernel(job *job, const ck_kernel_request *request) {
    ck_error *error = job->frame.error;
    ck_launch_plan plan = {.name = request->kernel->name,
                           .shared_bytes = request->shared_bytes,
                           .cooperative = request->cooperative,
                           .arguments = request->arguments};
    ck_access accesses[CK_MAX_ACCESSES];
    memcpy(plan.grid, request->grid, sizeof plan.grid);
    memcpy(plan.block, request->block, sizeof plan.block);
    CK_TRY(ck_frame_begin(&job->frame));
    const int count = uses_of(request, accesses, error);
    if (count < 0) return error->code;
    CK_CUDA(error, (cudaError_t)request->kernel->handle(request->kernel->closure, &plan.kernel));
    CK_TRY(ck_frame_use(&job->frame, request->stream));
    if (job->measure != NULL) CK_TRY(take_stream(job));
    CK_TRY(ck_frame_before(&job->frame, accesses, count));
    CK_TRY(ck_frame_after(&job->frame, accesses, count, launch(job, &plan)));
    if (job->measure == NULL) return CK_OK;
    memcpy(job->measure->plan.grid, plan.grid, sizeof plan.grid);
    memcpy(job->measure->plan.block, plan.block, sizeof plan.block);
    job->measure->plan.shared_bytes = plan.shared_bytes;
    CK_TRY(wait(job, &request->waiter));
    return report_kernels(job);
}

int ck_launch_kernel(ck_runtime *runtime, const ck_kernel_request *request, ck_error *error) {
    job job = {.frame = {.runtime = runtime, .error = error, .index = request->device},
               .measure = request->measure,
               .start_ns = request->measure != NULL ? ck_now_ns() : 0};
    launch_kernel(&job, request);
    return end(&job, &request->waiter);
}
