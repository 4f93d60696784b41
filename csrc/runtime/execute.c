// One call of a variant, from the caller's arrays to the caller's result.
//
//   check -> plan -> stream and memory -> copies in -> run -> wait -> finish on the host, copies out -> give back
//
// Everything that a call takes is noted in one `job`. Each stage returns at its first failure; the one place that
// gives back (`give_back`) takes whatever state it finds.
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "runtime.h"

// Events of a measured call.
enum { BEGIN, COPIED_IN, RAN, BEGIN_OUT, COPIED_OUT };

typedef struct job {
    ck_runtime *runtime;
    const ck_request *request;
    ck_error *error;
    ck_limits limits;
    ck_plan plan;
    ck_call call;
    ck_context context;
    int64_t parameters[CK_MAX_PARAMETERS];
    ck_operand operands[CK_MAX_VIEWS];
    ck_view views[CK_MAX_VIEWS]; // of the operands on the device, side by side as ck_call wants them
    ck_device *device;
    ck_stream *stream;
    ck_block workspace, partials, clocks;
    void *host_partials;
} job;

void ck_measure_clear(ck_measure *measure) {
    free(measure->clocks);
    measure->clocks = NULL;
}

// A row's function may return a failure without words.
static int worded(job *job, int status, const char *stage) {
    if (status != CK_OK && job->error->code == CK_OK)
        ck_fail(job->error, status, job->request->variant->name, "%s of %s '%s' failed with status %d", stage,
                job->request->operation->name, job->request->variant->name, status);
    return status;
}

static int check_and_plan(job *job) {
    const ck_request *request = job->request;
    const ck_operation *operation = request->operation;
    const ck_variant *variant = request->variant;
    ck_error *error = job->error;
    const int count = operation->inputs + operation->outputs;
    int inputs[CK_MAX_VIEWS];
    if (request->view_count != count || count > CK_MAX_VIEWS)
        return ck_fail(error, CK_BAD_VALUE, operation->name,
                       "%s takes %d inputs and %d outputs, %d arrays were given", operation->name, operation->inputs,
                       operation->outputs, request->view_count);
    CK_TRY(ck_device_limits(request->device, &job->limits, error));
    CK_TRY(ck_check_device(operation, variant, &job->limits, error));
    for (int i = 0; i < operation->inputs; i++) inputs[i] = request->views[i].dtype;
    CK_TRY(ck_check_types(operation, variant, inputs, operation->inputs,
                          operation->outputs > 0 ? request->views[operation->inputs].dtype : -1, &job->call.types,
                          error));
    CK_TRY(ck_check_parameters(operation, variant, request->parameters, request->parameter_count, job->parameters,
                               error));
    for (int i = 0; i < count; i++) {
        job->views[i] = request->views[i];
        job->views[i].data = NULL;
    }
    job->call.views = job->views;
    job->call.view_count = count;
    job->call.parameters = job->parameters;
    job->call.limits = &job->limits;
    CK_TRY(worded(job, variant->plan(&job->call, &job->plan, error), "the plan"));
    if (job->plan.partials > 0 && operation->finish_host == NULL)
        return ck_fail(error, CK_NOT_SUPPORTED, operation->name,
                       "%s '%s' leaves partial results, which %s cannot add", operation->name, variant->name,
                       operation->name);
    const ck_types *types = &job->call.types;
    if (job->plan.partials > 0 && ck_dtype_size(types->accumulator) != ck_dtype_size(types->output))
        return ck_fail(error, CK_NOT_SUPPORTED, operation->name,
                       "%s '%s' leaves partial results of %s, which are added in their own size, not in that of %s",
                       operation->name, variant->name, ck_dtype_name(types->accumulator),
                       ck_dtype_name(types->output));
    for (int i = 0; i < count; i++) {
        CK_TRY(ck_operand_layout(&request->views[i], i, job->plan.layout[i].row_multiple,
                                 job->plan.layout[i].column_multiple, job->plan.layout[i].pitched, &job->operands[i],
                                 error));
    }
    return CK_OK;
}

static int allocate(job *job) {
    cudaStream_t stream = job->stream->stream;
    const size_t partial = ck_dtype_size(job->call.types.accumulator);
    for (int i = 0; i < job->call.view_count; i++) {
        CK_TRY(ck_operand_allocate(&job->operands[i], job->device, stream, job->error));
        job->views[i] = job->operands[i].device;
        if (job->plan.clear_outputs && i >= job->request->operation->inputs)
            CK_CUDA(job->error, cudaMemsetAsync(job->views[i].data, 0, job->operands[i].memory.bytes, stream));
    }
    if (job->plan.workspace_bytes > 0)
        CK_TRY(ck_pool_allocate(job->device, job->plan.workspace_bytes, stream, &job->workspace, job->error));
    if (job->plan.partials > 0)
        CK_TRY(
            ck_pool_allocate(job->device, (size_t)job->plan.partials * partial, stream, &job->partials, job->error));
    if (job->plan.clock_blocks > 0)
        CK_TRY(ck_pool_allocate(job->device, (size_t)job->plan.clock_blocks * sizeof(ck_clock), stream, &job->clocks,
                                job->error));
    job->context = (ck_context){.device = job->device->index,
                                .stream = stream,
                                .workspace = job->workspace.data,
                                .partials = job->partials.data,
                                .clocks = job->clocks.data};
    return CK_OK;
}

static int mark(job *job, int event) {
    return job->request->measure ? ck_timing_mark(job->stream, event, job->error) : CK_OK;
}

// Waiting is guarded like a call of CUDA: its failure is where a kernel's failure shows.
static int wait(job *job) {
    int code = (int)ck_injected_fault("backend_wait(stream)");
    if (code == (int)cudaSuccess)
        code = backend_wait(job->stream->stream, job->request->interrupted, job->request->interrupted_arg);
    if (code == BACKEND_INTERRUPTED)
        return ck_fail(job->error, CK_INTERRUPTED, "backend_wait(stream)", "interrupted while a kernel ran");
    if (code != (int)cudaSuccess) return ck_fail_cuda(job->error, (cudaError_t)code, "waiting for the stream");
    return CK_OK;
}

static int run(job *job) {
    const ck_request *request = job->request;
    CK_TRY(mark(job, BEGIN));
    for (int i = 0; i < request->operation->inputs; i++)
        CK_TRY(ck_operand_copy_in(&job->operands[i], job->stream->stream, job->error));
    CK_TRY(mark(job, COPIED_IN));
    CK_TRY(worded(job, request->variant->run(&job->call, &job->plan, &job->context, job->error), "the launch"));
    CK_TRY(mark(job, RAN));
    // Before the copies back: they would hold this thread where no signal is looked at.
    return wait(job);
}

static int copy_back(job *job) {
    const ck_request *request = job->request;
    ck_measure *measure = request->measure;
    cudaStream_t stream = job->stream->stream;
    ck_error *error = job->error;
    CK_TRY(mark(job, BEGIN_OUT));
    if (job->plan.partials > 0) {
        job->host_partials = malloc(job->partials.bytes);
        if (job->host_partials == NULL)
            return ck_fail(error, CK_NO_HOST_MEMORY, "malloc", "no host memory for %lld partial results",
                           (long long)job->plan.partials);
        CK_CUDA(error, cudaMemcpyAsync(job->host_partials, job->partials.data, job->partials.bytes,
                                       cudaMemcpyDeviceToHost, stream));
    } else {
        for (int i = request->operation->inputs; i < job->call.view_count; i++)
            CK_TRY(ck_operand_copy_out(&job->operands[i], stream, error));
    }
    CK_TRY(mark(job, COPIED_OUT));
    if (measure && job->plan.clock_blocks > 0) { // what is only for the report is not part of the time
        measure->clocks = malloc(job->clocks.bytes);
        if (measure->clocks == NULL)
            return ck_fail(error, CK_NO_HOST_MEMORY, "malloc", "no host memory for the clocks of %lld blocks",
                           (long long)job->plan.clock_blocks);
        CK_CUDA(error, cudaMemcpyAsync(measure->clocks, job->clocks.data, job->clocks.bytes, cudaMemcpyDeviceToHost,
                                       stream));
    }
    return wait(job);
}

static int report(job *job, int64_t finish_ns) {
    const ck_request *request = job->request;
    ck_measure *measure = request->measure;
    CK_TRY(ck_timing_between(job->stream, BEGIN, COPIED_IN, &measure->to_device_ns, job->error));
    CK_TRY(ck_timing_between(job->stream, COPIED_IN, RAN, &measure->kernel_ns, job->error));
    CK_TRY(ck_timing_between(job->stream, BEGIN_OUT, COPIED_OUT, &measure->to_host_ns, job->error));
    measure->finish_ns = finish_ns;
    measure->plan = job->plan;
    measure->bytes_to_device = measure->bytes_to_host = 0;
    for (int i = 0; i < job->call.view_count; i++) {
        const int64_t bytes = ck_operand_bytes(&job->operands[i]);
        if (i < request->operation->inputs)
            measure->bytes_to_device += bytes;
        else if (job->plan.partials == 0)
            measure->bytes_to_host += bytes;
    }
    if (job->plan.partials > 0) measure->bytes_to_host = (int64_t)job->partials.bytes;
    if (request->operation->work != NULL) request->operation->work(&job->call, &measure->work);
    return CK_OK;
}

static int stages(job *job) {
    const ck_request *request = job->request;
    CK_TRY(check_and_plan(job));
    CK_TRY(ck_runtime_device(job->runtime, request->device, &job->device, job->error));
    CK_TRY(ck_stream_acquire(job->runtime, job->device, &job->stream, job->error));
    CK_TRY(allocate(job));
    CK_TRY(run(job));
    CK_TRY(copy_back(job));
    const int64_t start = ck_now_ns();
    if (job->plan.partials > 0)
        request->operation->finish_host(job->host_partials, job->plan.partials, &job->call.types,
                                        request->views[request->operation->inputs].data);
    return request->measure ? report(job, ck_now_ns() - start) : CK_OK;
}

static void give_back(job *job) {
    if (job->stream != NULL) {
        ck_error *error = job->error;
        // A copy may still be on its way into the caller's array: nobody goes home before the stream is empty.
        if (error->code != CK_OK)
            (void)backend_wait(job->stream->stream, job->request->interrupted, job->request->interrupted_arg);
        for (int i = 0; i < job->request->view_count; i++)
            ck_pool_free(job->device, &job->operands[i].memory, job->stream->stream, error);
        ck_pool_free(job->device, &job->workspace, job->stream->stream, error);
        ck_pool_free(job->device, &job->partials, job->stream->stream, error);
        ck_pool_free(job->device, &job->clocks, job->stream->stream, error);
        ck_stream_release(job->runtime, job->device, job->stream, error->code == CK_OK);
    }
    free(job->host_partials);
}

int ck_execute(ck_runtime *runtime, const ck_request *request, ck_error *error) {
    const int64_t start = ck_now_ns();
    job job = {.runtime = runtime, .request = request, .error = error};
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
