// What a call would launch: its checks, its plan and its run, with a list in place of the launches.
#include "backend.h"
#include "job.h"

// Where operands would be. Nobody follows these addresses; the launches only hand them on.
static void *const NOWHERE = (void *)(uintptr_t)(1 << 20);

static int run_for_the_list(job *job, ck_inspection *inspection) {
    const ck_request *request = job->request;
    for (int i = 0; i < job->laid_out; i++) job->views[i].data = NOWHERE;
    job->context = (ck_context){.device = job->device->index,
                                .stream = job->own->stream,
                                .workspace = NOWHERE,
                                .partials = NOWHERE,
                                .clocks = NOWHERE,
                                .inspection = inspection};
    CK_TRY(request->variant->run(&job->call, &job->plan, &job->context, job->error));
    if (!job->to_finish || request->operation->finish_device == NULL) return CK_OK;
    return request->operation->finish_device(&job->call, &job->plan, &job->context, job->error);
}

// A row may hand its stream to a library, whose kernels nobody can list: the stream is held, so that they do not run.
static int list(job *job, ck_inspection *inspection) {
    CK_TRY(ck_runtime_device(job->runtime, job->request->device, &job->device, job->error));
    CK_TRY(job_check(job));
    CK_TRY(job_plan(job));
    CK_TRY(ck_stream_acquire(job->runtime, job->device, &job->own, job->error));
    CK_CUDA(job->error, (cudaError_t)backend_hold(job->own->stream));
    const int status = run_for_the_list(job, inspection);
    CK_RELEASE(job->error, (cudaError_t)backend_drop(job->own->stream));
    if (status != CK_OK && job->error->code == CK_OK) // a row's function may return a failure without words
        ck_fail(job->error, status, job->request->variant->name, "the launch failed with status %d", status);
    if (job->error->code != CK_OK) return job->error->code;
    for (int i = 0; i < inspection->count; i++) CK_TRY(ck_inspect_kernel(inspection, i, job->error));
    return CK_OK;
}

int ck_inspect(ck_runtime *runtime, const ck_request *request, ck_inspection *inspection, ck_error *error) {
    ck_operand operands[CK_MAX_VIEWS];
    ck_view views[CK_MAX_VIEWS];
    job job = {.runtime = runtime, .request = request, .error = error, .operands = operands, .views = views};
    int previous = request->device;
    inspection->count = 0;
    atomic_fetch_add(&runtime->calls, 1);
    if (ck_device_enter(request->device, &previous, error) == CK_OK) {
        const int status = list(&job, inspection);
        if (job.own != NULL) ck_stream_release(runtime, job.device, job.own, status == CK_OK);
        ck_device_leave(request->device, previous, error);
    }
    atomic_fetch_sub(&runtime->calls, 1);
    return error->code;
}
