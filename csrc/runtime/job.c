// The stages of a call, in the order in which execute.c runs them. Each stage returns at its first failure and
// records in the job what it has acquired.
#include "job.h"

#include <stdlib.h>

#include "kernels/head_start.h"

// Adds a message if a variant's function failed without writing one.
static int worded(job *job, int status, const char *stage) {
    if (status != CK_OK && job->frame.error->code == CK_OK)
        ck_fail(job->frame.error, status, "%s of %s '%s' failed with status %d", stage, job->request->operation->name,
                job->request->variant->name, status);
    return status;
}

// --- before any resource is acquired -------------------------------------------------------------------------------
int job_check(job *job) {
    const ck_request *request = job->request;
    const ck_operation *operation = request->operation;
    const ck_variant *variant = request->variant;
    ck_error *error = job->frame.error;
    const int count = operation->inputs + operation->outputs;
    int inputs[CK_MAX_VIEWS];
    if (request->view_count != count || count > CK_MAX_VIEWS)
        return ck_fail(error, CK_BAD_VALUE, "%s needs %d inputs and %d outputs, but %d arrays were passed",
                       operation->name, operation->inputs, operation->outputs, request->view_count);
    CK_TRY(ck_runtime_limits(job->frame.runtime, request->device, &job->limits, error));
    CK_TRY(ck_check_device(operation, variant, &job->limits, error));
    if (request->types != NULL) {
        job->call.types = *request->types;
        job->call.parameters = request->parameters;
        return CK_OK;
    }
    job->call.parameters = job->parameters;
    for (int i = 0; i < operation->inputs; i++) inputs[i] = request->views[i].dtype;
    CK_TRY(ck_check_types(operation, variant, inputs, operation->inputs,
                          operation->outputs > 0 ? request->views[operation->inputs].dtype : -1, &job->call.types,
                          error));
    return ck_check_parameters(operation, variant, request->parameters, request->parameter_count, job->parameters,
                               error);
}

// A single partial result of the output's type is the result itself, and the kernel writes it to the output.
static int is_the_result(const job *job) {
    const ck_types *types = &job->call.types;
    const ck_view *output = &job->request->views[job->request->operation->inputs];
    if (job->plan.partials != 1 || types->accumulator != types->output || output->dtype != types->output) return 0;
    for (int i = 0; i < output->ndim; i++)
        if (output->shape[i] != 1) return 0;
    return 1;
}

static int check_finish(job *job) {
    const ck_operation *operation = job->request->operation;
    const ck_types *types = &job->call.types;
    const char *name = job->request->variant->name;
    if (job_on_device(job) ? operation->finish_device == NULL : operation->finish_host == NULL)
        return ck_fail(job->frame.error, CK_NOT_SUPPORTED, "%s '%s' has partial results, but %s cannot add them %s",
                       operation->name, name, operation->name, job_on_device(job) ? "on the device" : "on the host");
    if (ck_dtype_size(types->accumulator) != ck_dtype_size(types->output))
        return ck_fail(
            job->frame.error, CK_NOT_SUPPORTED,
            "%s '%s' has partial results of type %s, whose elements must be as large as those of the result, %s",
            operation->name, name, ck_dtype_name(types->accumulator), ck_dtype_name(types->output));
    return CK_OK;
}

int job_plan(job *job) {
    const ck_request *request = job->request;
    const int count = request->view_count;
    int moved = 0;
    for (int i = 0; i < count; i++) {
        job->views[i] = request->views[i];
        job->views[i].data = NULL;
    }
    job->call.views = job->views;
    job->call.view_count = count;
    job->call.limits = &job->limits;
    CK_TRY(worded(job, request->variant->plan(&job->call, &job->plan, job->frame.error), "the plan"));
    job->to_finish = job->plan.partials > 0 && !is_the_result(job);
    if (job->to_finish) CK_TRY(check_finish(job));
    for (int i = 0; i < count; i++) {
        CK_TRY(ck_operand_layout(&job->operands[i], job->frame.device, &request->views[i], !job_on_device(job),
                                 i >= request->operation->inputs, i, &job->plan.layout[i], &job->views[i],
                                 job->frame.error));
        moved |= !job_on_device(job) || job->operands[i].is_packed;
        job->laid_out++;
    }
    if (!moved && !job->plan.clear_outputs)
        job->laid_out = 0; // the usual case: the kernel accesses the caller's arrays directly
    return CK_OK;
}

// --- the call itself -----------------------------------------------------------------------------------------------
static int take(job *job, size_t bytes, ck_block *block) {
    return bytes > 0 ? ck_pool_allocate(job->frame.device, bytes, job->context.stream, block, job->frame.error)
                     : CK_OK;
}

int job_prepare(job *job) {
    const ck_plan *plan = &job->plan;
    const int inputs = job->request->operation->inputs;
    cudaStream_t stream = job->frame.stream;
    const size_t partial = ck_dtype_size(job->call.types.accumulator);
    job->context = ck_frame_context(&job->frame);
    for (int i = 0; i < job->laid_out; i++) {
        CK_TRY(ck_operand_allocate(&job->operands[i], stream, job->frame.error));
        if (plan->clear_outputs && i >= inputs)
            CK_TRY(ck_operand_clear(&job->operands[i], &job->context, job->frame.error));
    }
    if (plan->clear_workspace && plan->workspace_bytes > 0)
        CK_TRY(ck_pool_allocate_clear(job->frame.device, plan->workspace_bytes, stream, &job->workspace,
                                      job->frame.error));
    else
        CK_TRY(take(job, plan->workspace_bytes, &job->workspace));
    CK_TRY(take(job, job->to_finish ? (size_t)plan->partials * partial : 0, &job->partials));
    CK_TRY(take(job, (size_t)plan->clock_blocks * sizeof(ck_clock), &job->clocks));
    job->context.workspace = job->workspace.data;
    job->context.clocks = job->clocks.data;
    job->context.partials = job->to_finish ? job->partials.data : plan->partials > 0 ? job->views[inputs].data : NULL;
    return CK_OK;
}

int job_mark(job *job, int event) {
    if (job->measure == NULL) return CK_OK;
    return ck_timing_mark(job->own, event, job->context.stream, job->frame.error);
}

static int launches(const job *job) {
    return ((const ck_runner *)job->context.launcher)->count;
}

// The host creates the events before the head start, because that takes time.
int job_mark_start(job *job) {
    if (job->measure == NULL) return CK_OK;
    CK_TRY(job_mark(job, COPIED_IN));
    if (job->measure->by_launch) CK_TRY(ck_timeline_create(job->frame.launches, &job->timeline, job->frame.error));
    CK_TRY(ck_head_start(&job->context, job->frame.error));
    CK_TRY(job_mark(job, START));
    if (job->timeline != NULL) job->context.launcher = ck_timeline_launcher(job->timeline);
    job->launched_before = launches(job);
    if (job->timeline == NULL) return CK_OK;
    return ck_timeline_start(job->timeline, job->context.stream, job->frame.error);
}

int job_mark_end(job *job) {
    if (job->measure != NULL) job->measure->launched = launches(job) - job->launched_before;
    return job_mark(job, RAN);
}

int job_run(job *job) {
    const ck_variant *variant = job->request->variant;
    return worded(job, variant->run(&job->call, &job->plan, &job->context, job->frame.error), "the launch");
}

int job_finish(job *job) {
    const ck_operation *operation = job->request->operation;
    if (!job->to_finish || operation->finish_device == NULL) return CK_OK;
    return worded(job, operation->finish_device(&job->call, &job->plan, &job->context, job->frame.error),
                  "the last step");
}

// The launches, with the plan's bindings.
static int launch(job *job) {
    ck_held held[CK_MAX_BINDINGS];
    int status = ck_bindings_acquire(job->frame.runtime, job->frame.device, &job->plan, job->views, &job->context,
                                     held, job->frame.error);
    if (status == CK_OK) status = job_mark_start(job);
    if (status == CK_OK) status = job_run(job);
    const int released = ck_bindings_release(held, job->frame.error);
    return status != CK_OK ? status : released;
}

int job_compute(job *job) {
    const ck_operation *operation = job->request->operation;
    CK_TRY(job_mark(job, BEGIN));
    for (int i = 0; i < operation->inputs && i < job->laid_out; i++)
        CK_TRY(ck_operand_bring(&job->operands[i], &job->context, job->frame.error));
    CK_TRY(launch(job));
    if (job_on_device(job)) CK_TRY(job_finish(job));
    CK_TRY(job_mark_end(job));
    if (job->to_finish && !job_on_device(job)) return CK_OK; // the host writes the output
    for (int i = operation->inputs; i < job->laid_out; i++)
        CK_TRY(ck_operand_unpack(&job->operands[i], &job->context, job->frame.error));
    return CK_OK;
}

// Allocates host memory for a block and enqueues the copy to it.
static int fetch(job *job, const ck_block *block, const char *what, void **host) {
    *host = malloc(block->bytes);
    if (*host == NULL)
        return ck_fail(job->frame.error, CK_NO_HOST_MEMORY, "not enough host memory for the %s: %zu bytes", what,
                       block->bytes);
    job->written_out = 1;
    CK_CUDA(job->frame.error,
            cudaMemcpyAsync(*host, block->data, block->bytes, cudaMemcpyDeviceToHost, job->context.stream));
    return CK_OK;
}

int job_fetch(job *job) {
    if (!job_on_device(job)) {
        CK_TRY(job_mark(job, BEGIN_OUT));
        job->written_out = 1;
        for (int i = job->request->operation->inputs; i < job->laid_out && !job->to_finish; i++)
            CK_TRY(ck_operand_fetch(&job->operands[i], job->context.stream, job->frame.error));
        if (job->to_finish) CK_TRY(fetch(job, &job->partials, "partial results", &job->host_partials));
        CK_TRY(job_mark(job, COPIED_OUT));
    }
    if (job->measure == NULL || job->clocks.data == NULL) return CK_OK;
    // Needed only for the report, so it is not part of the measured time.
    return fetch(job, &job->clocks, "clocks of the blocks", (void **)&job->measure->clocks);
}
