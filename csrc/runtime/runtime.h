// The runtime: devices, memory, streams, timing, and the one function that runs a variant.
//
// It calls only the CUDA runtime API, through the macros of status.h and below, and cannot tell which side of the
// seam it runs on. All its state hangs on one ck_runtime; the caller (the extension module) owns it.
//
//   ck_execute    execute.c   one call; job.c has its stages, frame.c what surrounds all that enqueues work
//   ck_list         |         listing.c: what a call would launch
//     |           set.c       groups of kernels, loaded from shared libraries
//     |           launcher.c  the launch itself
//     |           timeline.c  the same with the time of each launch
//     |           bindings.c  inputs in constant memory (symbols.c) and in textures (textures.c)
//     |           check.c     is this a call that the row allows?
//     |           life.c      the runtime made, ended, forked, trimmed
//     |           device.c    which device, what are its limits
//     |           stream.c    a stream and its events from the free list; streams and events of callers
//     |           launches.c  what a stream has been given, for late errors
//     |           pool.c      memory, in the stream's order
//     |           memory.c    memory that outlives a call: references, and how it goes back
//     |           order.c     the order of its uses over streams
//     |           layout.c    how arrays lie in memory: strides, padding, copies in the fewest calls
//     |           operand.c   an operand's way to the device and back
//     |           transfer.c  whole arrays: to the device, from it, within it, to another one
//     |           pinned.c    page-locked host memory
//     |           timing.c    the events between the stages
//     |           dtypes.c    sizes and names of element types (declared in kernels/call.h)
//     v           status.c    what went wrong, and faults on request
#ifndef CK_RUNTIME_H
#define CK_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>

#include "../kernels/set.h"
#include "kernels/attributes.h"

// --- status.c ----------------------------------------------------------------------------------------------------
// For a call whose failure the caller looks at: `code` gets the result, or the fault that a test asked for.
#define CK_CUDA_CODE(code, call) (((code) = ck_injected_fault(#call)) == cudaSuccess ? ((code) = (call)) : (code))

// For a call that gives something back: it is made even when a test lets it fail, else the test would be the leak.
#define CK_RELEASE(error, call)                                                                                      \
    do {                                                                                                             \
        cudaError_t ck_asked_ = ck_injected_fault(#call);                                                            \
        cudaError_t ck_code_ = (call);                                                                               \
        if (ck_asked_ != cudaSuccess) ck_code_ = ck_asked_;                                                          \
        if (ck_code_ != cudaSuccess) ck_fail_cuda((error), ck_code_, #call);                                         \
    } while (0)

// 1: a failure of something that ran, not of the call that reports it.
int ck_is_late(int code);

void ck_fault_set(int64_t n, int code); // the n-th guarded call from now fails with code; 0: none. Resets the count
int64_t ck_fault_count(void);           // guarded calls since then

// --- state -------------------------------------------------------------------------------------------------------
enum { CK_EVENTS = 6 };

// A non-blocking stream with the events that time a call on it. One call at a time owns it.
typedef struct ck_stream {
    cudaStream_t stream;
    cudaEvent_t events[CK_EVENTS];
    struct ck_stream *next;
} ck_stream;

typedef struct ck_memory ck_memory;
typedef struct ck_launches ck_launches;     // launches.c: what a stream was given and is not known to be done
typedef struct ck_set ck_set;               // set.c
typedef struct ck_symbol_use ck_symbol_use; // symbols.c
typedef struct ck_texture ck_texture;       // textures.c

typedef struct ck_device ck_device;
struct ck_device {
    int index;
    cudaMemPool_t pool; // NULL: the device has no pools, memory comes from cudaMalloc
    atomic_size_t live; // bytes in allocations of ours
    ck_stream *idle;    // guarded by ck_runtime.lock
    struct ck_device *next;
    ck_limits limits;          // guarded by ck_runtime.lock
    int limits_known;          // likewise; 1: `limits` are the device's
    int limits_asked;          // likewise; grows when they are forgotten: an answer on its way is not kept then
    struct ck_kept *kept;      // pool.c; NULL: freed blocks go to the pool at once
    struct ck_uses *uses;      // order.c
    struct ck_launch_log *log; // launches.c
    struct ck_textures *textures;
    void (*reclaim)(ck_device *device); // gives back what is kept of the device's memory besides the pool; waits
};

typedef struct ck_runtime {
    pthread_mutex_t lock;         // the devices' free streams and limits, and who adds a device
    _Atomic(ck_device *) devices; // made at a device's first use, kept to the end
    atomic_int calls;             // running now: a runtime in use is never destroyed
    atomic_int memories;          // alive: neither is one that they belong to
    atomic_ullong threads;        // order.c: that had a stream of their own, counted
    unsigned generation;          // grows in the child of a fork: what was made before is its parent's
    ck_memory *leaving;           // memory.c; guarded by lock
    struct ck_pinned *pinned;     // pinned.c; guarded by lock
    ck_set *sets;                 // set.c; guarded by lock
    pthread_mutex_t symbols_lock; // symbols.c; taken before `lock`, never while that is held
    ck_symbol_use *symbols;       // likewise; guarded by symbols_lock
    // Makes all that the files above device.c keep for a device that is used for the first time.
    int (*furnish)(ck_device *device, ck_error *error);
} ck_runtime;

// How a wait can be broken off; interrupted may be NULL.
typedef struct ck_waiter {
    int (*interrupted)(void *); // asked while waiting; nonzero: stop
    void *argument;
} ck_waiter;

// --- life.c ------------------------------------------------------------------------------------------------------
ck_runtime *ck_runtime_create(void); // touches no device; NULL: no memory
void ck_runtime_destroy(ck_runtime *runtime);
// Around fork(): the lock is held across it, and the child forgets streams and pools, which are its parent's.
void ck_runtime_before_fork(ck_runtime *runtime);
void ck_runtime_after_fork(ck_runtime *runtime, int in_child);
// Device memory that nobody uses goes back to the device.
int ck_runtime_trim(ck_runtime *runtime, int device, ck_error *error);

// --- device.c ----------------------------------------------------------------------------------------------------
// The state of a device (which must be the thread's current one), made when this is its first use.
int ck_runtime_device(ck_runtime *runtime, int index, ck_device **device, ck_error *error);
ck_device *ck_runtime_find(ck_runtime *runtime, int index); // NULL: not used yet
int ck_device_count(int *count, ck_error *error);           // 0 without a driver
int ck_device_current(int *device, ck_error *error);
int ck_device_of_pointer(const void *data, int *device, ck_error *error); // -1: it is no device's memory
int ck_device_choose(int *device, ck_error *error); // the current one if it is suitable, else the first that is
int ck_device_limits(int device, ck_limits *limits, ck_error *error);
// The same, asked once a device: a call cannot afford a dozen questions.
int ck_runtime_limits(ck_runtime *runtime, int device, ck_limits *limits, ck_error *error);
void ck_runtime_forget_limits(ck_runtime *runtime); // the emulator was configured anew
void ck_device_nominal_limits(ck_limits *limits);   // of no device: for questions asked without one
// Makes `device` the thread's current one; `previous` is for ck_device_leave.
int ck_device_enter(int device, int *previous, ck_error *error);
void ck_device_leave(int device, int previous, ck_error *error);

enum { CK_PROPERTY_COUNT = 56 };
typedef struct ck_properties {
    char name[256], pci_bus_id[32];
    size_t memory_bytes, memory_free;
    int driver_version, runtime_version;
    int values[CK_PROPERTY_COUNT]; // in the order of ck_property_names
} ck_properties;
extern const char *const ck_property_names[CK_PROPERTY_COUNT]; // "a.0" is the first item of a tuple "a"
int ck_device_properties(int device, ck_properties *properties, ck_error *error);

// --- pool.c ------------------------------------------------------------------------------------------------------
typedef struct ck_block {
    void *data;
    size_t bytes;
} ck_block;

enum { CK_PITCH = 512 };

// Memory in the stream's order. Zero bytes give a valid pointer too. The current device must be the pool's.
int ck_pool_allocate(ck_device *device, size_t bytes, cudaStream_t stream, ck_block *block, ck_error *error);
void ck_pool_free(ck_device *device, ck_block *block, cudaStream_t stream, ck_error *error);
int ck_pool_create(ck_device *device, ck_error *error);
void ck_pool_destroy(ck_device *device);
// Memory that nobody uses, back to the device.
cudaError_t ck_pool_give_back(ck_device *device);
size_t ck_pool_used(ck_runtime *runtime, int device);

// --- stream.c ----------------------------------------------------------------------------------------------------
int ck_stream_acquire(ck_runtime *runtime, ck_device *device, ck_stream **stream, ck_error *error);
// healthy: back to the free list. Else destroyed: nobody knows what a failed call left on it.
void ck_stream_release(ck_runtime *runtime, ck_device *device, ck_stream *stream, int healthy);
void ck_stream_destroy(ck_stream *stream);

// Waits for the stream, which is of the current device. A failure names the launches that were outstanding.
int ck_wait(cudaStream_t stream, ck_launches *launches, const ck_waiter *waiter, ck_error *error);

// Streams of callers: 0 and 1 (the default stream), 2 (the thread's own) or a handle. All of these enter the device.
cudaStream_t ck_stream_of(int64_t handle);                 // 0 and 1 are the same stream: NULL
int ck_stream_check(cudaStream_t stream, ck_error *error); // no address of a stream at all: a device's number, say
int ck_stream_create(int device, int priority, cudaStream_t *stream, ck_error *error);
int ck_stream_close(ck_runtime *runtime, int device, cudaStream_t stream, ck_error *error);
int ck_stream_wait(ck_runtime *runtime, int device, cudaStream_t stream, const ck_waiter *waiter, ck_error *error);
int ck_stream_done(ck_runtime *runtime, int device, cudaStream_t stream, int *done, ck_error *error);
int ck_stream_wait_event(int device, cudaStream_t stream, cudaEvent_t event, ck_error *error);
int ck_device_wait(ck_runtime *runtime, int device, const ck_waiter *waiter, ck_error *error);
int ck_event_create(int device, int timing, cudaEvent_t *event, ck_error *error);
int ck_event_close(int device, cudaEvent_t event, ck_error *error);
int ck_event_record(int device, cudaEvent_t event, cudaStream_t stream, ck_error *error);
int ck_event_wait(ck_runtime *runtime, int device, cudaEvent_t event, const ck_waiter *waiter, ck_error *error);
int ck_event_done(int device, cudaEvent_t event, int *done, ck_error *error);
int ck_event_elapsed(int device, cudaEvent_t first, cudaEvent_t last, double *ms, ck_error *error);

// --- symbols.c, textures.c ---------------------------------------------------------------------------------------
// What they keep from call to call; bindings.h has what they do in a call.
void ck_symbols_free(ck_runtime *runtime); // the runtime ends
void ck_textures_trim(ck_device *device);  // gives back all that no call holds; waits
int ck_textures_create(ck_device *device, ck_error *error);
void ck_textures_destroy(ck_device *device);

// --- timing.c ----------------------------------------------------------------------------------------------------
int64_t ck_now_ns(void); // of the host
// Records one of the stream's events, in that stream or in another one.
int ck_timing_mark(ck_stream *stream, int event, cudaStream_t where, ck_error *error);
int ck_timing_between(ck_stream *stream, int first, int last, int64_t *ns, ck_error *error); // both have happened

// --- set.c -------------------------------------------------------------------------------------------------------
// Loads a shared library of kernels for this backend. It is never unloaded (set.c says why).
int ck_set_load(ck_runtime *runtime, const char *path, ck_set **set, ck_error *error);
void ck_sets_free(ck_runtime *runtime); // the runtime ends
const char *ck_set_path(const ck_set *set);
const ck_set_table *ck_set_table_of(const ck_set *set);
// By name; NULL where there is none, and the error says what there is.
const ck_operation *ck_set_operation(const ck_set *set, const char *name, ck_error *error);
const ck_set_kernel *ck_set_kernel_of(const ck_set *set, const char *name, ck_error *error);

// --- launches.c --------------------------------------------------------------------------------------------------
void ck_launches_note(ck_launches *launches, const ck_launch_plan *launch); // launches may be NULL
// The record of a stream, made at its first use; NULL where there is no memory for one (nothing is noted then).
ck_launches *ck_launches_of(ck_device *device, cudaStream_t stream);
uint64_t ck_launches_now(ck_launches *launches); // the number of the device's last launch, on any stream
// The stream has done all up to that number: it is forgotten.
void ck_launches_done(ck_launches *launches, uint64_t upto);
// Adds to an error's message which launches are outstanding ("Outstanding on the stream: tiled<<<...>>>, ...").
void ck_launches_explain(ck_launches *launches, ck_error *error);
void ck_launches_forget(ck_device *device, cudaStream_t stream); // it is destroyed
// The same for all streams of a device.
uint64_t ck_device_launches_now(ck_device *device);
void ck_device_launches_done(ck_device *device, uint64_t upto);
void ck_device_launches_explain(ck_device *device, ck_error *error);
int ck_launches_create(ck_device *device, ck_error *error);
void ck_launches_destroy(ck_device *device);

// --- memory.c ----------------------------------------------------------------------------------------------------
// Device memory with a count of references. Ours (from the pool), or another library's, which is told when nobody
// here needs it any more.
//
// Uses are ordered for the caller: who reads waits (on the device, not on the host) for the last write on another
// stream, who writes also for the reads since; memory goes back to the pool after its last use, whatever the stream.
// A use of the default stream costs nothing; for one of another stream an event is recorded right then, so that the
// stream may be destroyed by its owner at any time. (Two threads that use one memory at the same time, one of them
// writing, have no order between them; even then it is not freed too early.)
enum { CK_MAX_ACCESSES = 32 };
typedef struct ck_access {
    ck_memory *memory;
    int writes;
} ck_access;

int ck_memory_allocate(ck_runtime *runtime, int device, size_t bytes, cudaStream_t stream, ck_memory **memory,
                       ck_error *error);
// `release(owner)` is called once, when the last reference is gone and the device has done all that it was given on
// this memory: by the last ck_memory_release, or by a later call of this file or wait, on whatever thread makes it and
// without a lock held. Not when this fails.
int ck_memory_adopt(ck_runtime *runtime, int device, void *data, size_t bytes, void (*release)(void *), void *owner,
                    ck_memory **memory, ck_error *error);
void ck_memory_retain(ck_memory *memory);
void ck_memory_release(ck_memory *memory); // NULL: nothing. Never fails; what the device answers is of no use here
int ck_memory_apart(const ck_memory *a, const ck_memory *b); // 1: no array of the one lies in an array of the other
int ck_memory_may_wait(const ck_memory *memory);             // 1: this reference's release would wait for the device
void *ck_memory_data(const ck_memory *memory);
size_t ck_memory_bytes(const ck_memory *memory);
int ck_memory_device(const ck_memory *memory);
// Another library was given this memory and may use it in a stream that we do not see: it is freed after the device
// has done all that it was given by then, which the last ck_memory_release waits for. (One that keeps to the default
// stream is better noted by ck_order_after there: that waits for nothing.)
void ck_memory_export(ck_memory *memory);
void ck_memory_sweep(ck_runtime *runtime); // owners that wait for the device hear of what it has done by now
// Around whatever is enqueued in `stream`, of at most CK_MAX_ACCESSES. The current device must be the memories'. `stream` may be another
// library's, of this device. After a ck_order_before that went well ck_order_after is called too, also where
// enqueuing failed midway. If it fails itself, it has waited for the device: nothing is under way unnoted.
int ck_order_before(const ck_access *accesses, int count, cudaStream_t stream, ck_error *error);
int ck_order_after(const ck_access *accesses, int count, cudaStream_t stream, ck_error *error);

// --- transfer.c --------------------------------------------------------------------------------------------------
// A view of device memory: `view.data` lies in `memory`.
typedef struct ck_array {
    ck_memory *memory;
    ck_view view;
} ck_array;

// Host arrays are contiguous, in C order, of the array's shape and type, and their bytes may be swapped. Both return
// when the host array may be used again. Device arrays have any strides.
int ck_array_upload(ck_runtime *runtime, const ck_array *to, const ck_view *host, cudaStream_t stream,
                    const ck_waiter *waiter, ck_error *error);
int ck_array_download(ck_runtime *runtime, const ck_view *host, const ck_array *from, cudaStream_t stream,
                      const ck_waiter *waiter, ck_error *error);
// Enqueued, not waited for. Equal shapes; types are converted; the devices may differ (the types then may not, and
// `stream` is of the target's). The two may overlap.
int ck_array_copy(ck_runtime *runtime, const ck_array *to, const ck_array *from, cudaStream_t stream,
                  ck_error *error);
int ck_array_fill(ck_runtime *runtime, const ck_array *to, const void *value, cudaStream_t stream, ck_error *error);

// --- pinned.c ----------------------------------------------------------------------------------------------------
// Page-locked host memory.
int ck_pinned_allocate(ck_runtime *runtime, size_t bytes, void **data, ck_error *error);
void ck_pinned_free(ck_runtime *runtime, void *data);
// Where the device finds page-locked memory, any address of it.
int ck_pinned_on_device(void *data, void **on_device, ck_error *error);
size_t ck_pinned_used(ck_runtime *runtime); // bytes

// --- check.c -----------------------------------------------------------------------------------------------------
const ck_variant *ck_find_variant(const ck_operation *operation, const char *name, ck_error *error);
// Fills `filled` from what is given, then from the row's defaults, and holds each to its choices or range.
int ck_check_parameters(const ck_operation *operation, const ck_variant *variant, const int64_t *given, int count,
                        int64_t *filled, ck_error *error);
// The row's entry for these inputs and (when output >= 0) this output.
int ck_check_types(const ck_operation *operation, const ck_variant *variant, const int *inputs, int count, int output,
                   ck_types *types, ck_error *error);
int ck_check_device(const ck_operation *operation, const ck_variant *variant, const ck_limits *limits,
                    ck_error *error);

// --- layout.c ----------------------------------------------------------------------------------------------------
// A copy between host and device, outermost axis first: blocks of `run` bytes without gaps on either side.
typedef struct ck_axis {
    int64_t length, host, device; // strides in bytes
} ck_axis;
typedef struct ck_blocks {
    size_t run; // 0: nothing to copy
    int axis_count;
    ck_axis axes[CK_MAX_DIMS + 1];
} ck_blocks;

// Matrices in memory of ours, one after another. See the picture in layout.c.
typedef struct ck_stack {
    int64_t matrices, rows, padded_rows;
    size_t row_bytes, padded_row_bytes; // a row is filled up to the latter
    size_t pitch, bytes;                // from row to row; of all
} ck_stack;

// 1: an array on the device can be used as it is by a row that asks for this layout.
int ck_layout_holds(const ck_layout *layout, const ck_view *view, int is_output);
// Memory for an array with that layout: fills the view's strides (its shape and type are there already). `kept` is a
// mask of the axes that have stride 0: one element, however long they are. by_columns: rows and columns change places.
int ck_layout_place(const ck_layout *layout, unsigned kept, int by_columns, int number, ck_view *view,
                    ck_stack *stack, ck_error *error);
// 1: in C order without gaps.
int ck_view_is_contiguous(const ck_view *view);
int ck_view_is_empty(const ck_view *view);
int ck_view_same_shape(const ck_view *a, const ck_view *b);
int64_t ck_view_bytes(const ck_view *view); // of the elements; the view is of memory that exists
// A type, and the strides of C order without gaps. They saturate: a question may be about what no memory holds.
void ck_view_lay_out(ck_view *view, int dtype);
// The bytes that the elements reach, from the first element's: low <= 0 <= high. -1: more than 64 bits can say.
int ck_view_reach(const ck_view *view, int64_t *low, int64_t *high);
int ck_view_overlap(const ck_view *a, const ck_view *b); // 1: the ranges of their addresses meet
// Merges axes where both sides allow.
void ck_blocks_between(const ck_view *host, const ck_view *device, ck_blocks *blocks);

// --- operand.c ---------------------------------------------------------------------------------------------------
// An operand of a call: the caller's array, and where the kernel finds it on the device.
//
//   given, on the host    --copy-->  landed  --pack, where the layout needs it-->  device
//   given, on the device  -----------------  --pack, where the layout needs it-->  device
typedef struct ck_operand {
    const ck_view *given;
    ck_view *device;
    int on_host, is_packed;
    ck_view landed;      // of host arrays that are packed
    ck_block copy, pack; // memory of ours: of what is copied from or to the host, of what is packed
    ck_stack copied, packed;
    ck_blocks blocks;
} ck_operand;

// Sizes and strides, without memory. `device` is `given` without its data, and becomes the view that the kernel gets (of
// an array on a device with its data, unless it is packed). `number` counts from 0, for messages.
int ck_operand_layout(ck_operand *operand, const ck_view *given, int on_host, int is_output, int number,
                      const ck_layout *layout, ck_view *device, ck_error *error);
int ck_operand_allocate(ck_operand *operand, ck_device *device, cudaStream_t stream, ck_error *error);
int ck_operand_clear(const ck_operand *operand, const ck_context *context, ck_error *error); // an output, before run
int ck_operand_bring(const ck_operand *operand, const ck_context *context, ck_error *error); // an input, with margins
int ck_operand_unpack(const ck_operand *operand, const ck_context *context, ck_error *error); // an output, after run
int ck_operand_fetch(const ck_operand *operand, cudaStream_t stream, ck_error *error);        // then back to the host
void ck_operand_free(ck_operand *operand, ck_device *device, cudaStream_t stream, ck_error *error);
int64_t ck_operand_bytes(const ck_operand *operand); // that a copy between host and device moves

// --- launcher.c --------------------------------------------------------------------------------------------------
// The launcher that runs kernels: (ck_runner){{ck_run_launch}, log}.
typedef struct ck_runner {
    ck_launcher launcher;
    ck_launches *log; // of the stream; may be NULL
} ck_runner;
int ck_run_launch(ck_launcher *launcher, const ck_launch_plan *launch, cudaStream_t stream, ck_error *error);
int ck_allow_shared(const ck_launch_plan *launch, ck_error *error); // more dynamic shared memory than CUDA's 48 KB

// --- timeline.c --------------------------------------------------------------------------------------------------
// The launcher that also notes when each launch was done.
typedef struct ck_timeline ck_timeline;
enum { CK_MAX_TIMELINE = 64 };
typedef struct ck_launch_time {
    const char *name;
    int64_t ns;
} ck_launch_time;
int ck_timeline_create(ck_launches *log, ck_timeline **timeline, ck_error *error);
ck_launcher *ck_timeline_launcher(ck_timeline *timeline);
int ck_timeline_start(ck_timeline *timeline, cudaStream_t stream, ck_error *error); // before the first launch
int ck_timeline_read(const ck_timeline *timeline, ck_launch_time *times, int *count, ck_error *error); // all is done
void ck_timeline_destroy(ck_timeline *timeline);                                                       // NULL is fine

// --- execute.c ---------------------------------------------------------------------------------------------------
typedef struct ck_measure {
    int64_t kernel_ns, to_device_ns, to_host_ns, whole_ns, finish_ns;
    int64_t bytes_to_device, bytes_to_host;
    ck_work work;
    ck_plan plan;
    ck_clock *clocks; // plan.clock_blocks records; ck_measure_clear frees them
    int by_launch;    // asked for: 1, each launch's time too
    int launch_count;
    ck_launch_time launches[CK_MAX_TIMELINE];
} ck_measure;
void ck_measure_clear(ck_measure *measure);

typedef struct ck_request {
    const ck_operation *operation;
    const ck_variant *variant;
    const int64_t *parameters; // in the row's order; those left out at the end have their defaults
    int parameter_count;
    const ck_types *types; // not NULL: types and parameters were checked before, and all parameters are given
    const ck_view *views;  // inputs, then outputs
    int view_count;
    ck_memory *const *memories; // whose memory each view is in, on the device; NULL: all views are host memory
    cudaStream_t stream;        // for views on the device: where the work goes
    int device;
    ck_measure *measure; // NULL: nothing is timed
    ck_waiter waiter;
} ck_request;

// Runs one call. Host memory: when it returns, nothing of it is running and nothing of it is held. Device memory: it
// returns when all is enqueued, unless it is measured; workspace is freed in the stream's order.
//
// Host views: an axis of stride 0 is broadcast, and copied once. Of what is left, the last two axes are plain rows
// (or plain columns, for a transposed matrix): no gaps within a row, any distance from row to row; axes before them
// have any strides. Device views: any strides; what the row's layout does not take is packed first.
int ck_execute(ck_runtime *runtime, const ck_request *request, ck_error *error);

typedef struct ck_kernel_request {
    const ck_set_kernel *kernel;
    unsigned grid[3], block[3];
    size_t shared_bytes;
    int cooperative;
    void **arguments;           // for each of the kernel's parameters the address of its value
    ck_memory *const *memories; // and whose memory a pointer leads into; NULL: a value
    cudaStream_t stream;
    int device;
    ck_measure *measure; // NULL: nothing is timed
    ck_waiter waiter;
} ck_kernel_request;

// Launches one kernel of a set, before and after other uses of the same memory exactly as a variant is: an array counts
// as written unless the parameter is a pointer to const. It returns when the launch is enqueued, unless it is measured.
int ck_launch_kernel(ck_runtime *runtime, const ck_kernel_request *request, ck_error *error);

// --- listing.c ---------------------------------------------------------------------------------------------------
enum { CK_MAX_LISTED = 16 };
typedef struct ck_listing {
    ck_launcher launcher; // lists launches and runs none
    ck_sweep sweep;
    int count; // what is launched beyond CK_MAX_LISTED is not listed
    ck_listed_kernel kernels[CK_MAX_LISTED];
} ck_listing;
// The kernels that this call would launch, and what the driver knows of them. Nothing runs, and no array is looked at.
// The caller fills in the sweep.
int ck_list(ck_runtime *runtime, const ck_request *request, ck_listing *listing, ck_error *error);

#endif
