// What a call would do: the launcher that lists launches without running them, the list of a call's launches (its
// checks, its plan, and its run with that launcher), and the memory that it would take.
#include "job.h"

#include <string.h>

static void describe(ck_listed_kernel *listed, const ck_launch_plan *launch) {
    listed->dynamic_shared = launch->shared_bytes;
    listed->cooperative = launch->cooperative;
    memcpy(listed->grid, launch->grid, sizeof listed->grid);
    memcpy(listed->block, launch->block, sizeof listed->block);
}

static uint64_t blocks(const unsigned grid[3]) {
    return (uint64_t)grid[0] * grid[1] * grid[2];
}

static void note_launch(ck_listing *listing, int kernel, const ck_launch_plan *launch) {
    if (listing->launch_count == CK_MAX_LISTED_LAUNCHES) return;
    ck_listed_launch *listed = &listing->launches[listing->launch_count++];
    *listed = (ck_listed_launch){.kernel = kernel, .dynamic_shared = launch->shared_bytes, .sizes = launch->sizes};
    memcpy(listed->grid, launch->grid, sizeof listed->grid);
    memcpy(listed->block, launch->block, sizeof listed->block);
    for (int i = 0, bytes = 0; listed->sizes != NULL && listed->sizes[i] > 0; i++) {
        if (bytes + listed->sizes[i] <= CK_MAX_LISTED_BYTES) {
            memcpy(&listed->values[bytes], launch->arguments[i], (size_t)listed->sizes[i]);
            bytes += listed->sizes[i];
        } else {
            listed->sizes = NULL;
        }
    }
}

// A kernel that is launched several times is listed once, with the number of its launches and the largest of them.
// The kernels of a library are not known.
static int list_launch(ck_launcher *launcher, const ck_launch_plan *launch, cudaStream_t stream, ck_error *error) {
    ck_listing *listing = (ck_listing *)launcher;
    (void)stream;
    if (launch->library != NULL) return CK_OK;
    CK_TRY(ck_allow_shared(launch, error)); // the occupancy depends on it
    for (int i = 0; i < listing->count; i++) {
        if (listing->kernels[i].kernel != launch->kernel) continue;
        listing->kernels[i].launches++;
        note_launch(listing, i, launch);
        if (blocks(launch->grid) > blocks(listing->kernels[i].grid)) describe(&listing->kernels[i], launch);
        return CK_OK;
    }
    if (listing->count == CK_MAX_LISTED) return CK_OK;
    note_launch(listing, listing->count, launch);
    ck_listed_kernel *listed = &listing->kernels[listing->count++];
    *listed = (ck_listed_kernel){.kernel = launch->kernel, .name = launch->name, .launches = 1};
    describe(listed, launch);
    return CK_OK;
}

static void begin(ck_listing *listing) {
    const ck_sweep sweep = listing->sweep;
    *listing = (ck_listing){.launcher = {list_launch}, .sweep = sweep};
}

// Plans a call that is not made, and passes it on.
static int with_plan(ck_runtime *runtime, const ck_request *request, int (*use)(job *job, void *result), void *result,
                     ck_error *error) {
    ck_operand operands[CK_MAX_VIEWS];
    ck_view views[CK_MAX_VIEWS];
    job job = {.frame = {.runtime = runtime, .error = error, .index = request->device},
               .request = request,
               .operands = operands,
               .views = views};
    if (ck_frame_begin(&job.frame) == CK_OK && job_check(&job) == CK_OK && job_plan(&job) == CK_OK) use(&job, result);
    return ck_frame_end(&job.frame);
}

static int list(job *job, void *result) {
    ck_listing *listing = result;
    const int views = job->request->view_count;
    listing->workspace_bytes = job->plan.workspace_bytes, listing->partials = job->plan.partials;
    listing->view_count = views;
    for (int i = 0; i < job->laid_out; i++) // (the output is not laid out where it is a sum of partial results)
        listing->view_bytes[i] = job->operands[i].on_host ? (int64_t)job->operands[i].copied.bytes : 0;
    for (int i = 0; i < views; i++) job->views[i].data = CK_NOWHERE(i); // never dereferenced, only passed on
    job->context = (ck_context){.device = job->frame.index,
                                .launcher = &listing->launcher,
                                .workspace = CK_NOWHERE(views),
                                .partials = CK_NOWHERE(views + 1),
                                .clocks = CK_NOWHERE(views + 2)};
    CK_TRY(job_run(job));
    CK_TRY(job_finish(job));
    for (int i = 0; i < listing->count; i++)
        CK_TRY(ck_kernel_attributes(&listing->kernels[i], &listing->sweep, job->frame.error));
    return CK_OK;
}

int ck_list(ck_runtime *runtime, const ck_request *request, ck_listing *listing, ck_error *error) {
    begin(listing);
    return with_plan(runtime, request, list, listing, error);
}

static int add_memory(job *job, void *result) {
    size_t *bytes = result;
    *bytes = job->plan.workspace_bytes + (size_t)job->plan.clock_blocks * sizeof(ck_clock);
    if (job->to_finish) *bytes += (size_t)job->plan.partials * ck_dtype_size(job->call.types.accumulator);
    for (const ck_operand *operand = job->operands; operand < job->operands + job->laid_out; operand++) {
        if (operand->on_host) *bytes += operand->copied.bytes;
        if (operand->is_packed) *bytes += operand->packed.bytes;
    }
    return CK_OK;
}

int ck_memory_needed(ck_runtime *runtime, const ck_request *request, size_t *bytes, ck_error *error) {
    return with_plan(runtime, request, add_memory, bytes, error);
}

int ck_list_kernel(ck_runtime *runtime, const ck_kernel_request *request, ck_listing *listing, ck_error *error) {
    ck_frame frame = {.runtime = runtime, .error = error, .index = request->device};
    ck_launch_plan plan = {.name = request->kernel->name, .shared_bytes = request->shared_bytes};
    memcpy(plan.grid, request->grid, sizeof plan.grid);
    memcpy(plan.block, request->block, sizeof plan.block);
    begin(listing);
    if (ck_frame_begin(&frame) == CK_OK) {
        const int code = request->kernel->handle(request->kernel->closure, &plan.kernel);
        if (code != cudaSuccess)
            ck_fail_cuda(error, (cudaError_t)code, plan.name);
        else if (list_launch(&listing->launcher, &plan, NULL, error) == CK_OK)
            ck_kernel_attributes(&listing->kernels[0], &listing->sweep, error);
    }
    return ck_frame_end(&frame);
}
