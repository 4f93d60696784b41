// What the runtime offers: to the extension module (csrc/python), and to whoever else calls kernels from C.
//
//   ck_execute    one call; ck_launch_kernel: of a single kernel; ck_list: what a call would launch
//   ck_memory     device memory with a count of references; ck_array: an array in it; ck_order: who comes after whom
//   ck_set        groups of kernels, loaded from shared libraries
//   ck_stream, ck_event, ck_device, ck_pinned
//   ck_runtime    the state of all that
//
// It calls only the CUDA runtime API and cannot tell which side of the seam it runs on. All its state hangs on one
// ck_runtime; the caller (the extension module) owns it. The headers beside this one are for the runtime alone.
#ifndef CK_RUNTIME_H
#define CK_RUNTIME_H

#include "../kernels/set.h"
#include "kernels/attributes.h"

typedef struct ck_runtime ck_runtime; // state.h
typedef struct ck_memory ck_memory;   // memory.h
typedef struct ck_set ck_set;         // set.c

// How a wait can be broken off; interrupted may be NULL.
typedef struct ck_waiter {
    int (*interrupted)(void *); // asked while waiting; nonzero: stop
    void *argument;
} ck_waiter;

// --- status.c ----------------------------------------------------------------------------------------------------
// For tests.
void ck_fault_set(int64_t n, int code); // the n-th guarded call from now fails with code; 0: none. Resets the count
int64_t ck_fault_count(void);           // guarded calls since then

// --- life.c ------------------------------------------------------------------------------------------------------
ck_runtime *ck_runtime_create(void);          // touches no device; NULL: no memory
void ck_runtime_destroy(ck_runtime *runtime); // nothing happens while a call runs or a memory of it is alive
// Around what uses the runtime on a thread that may outlive its owner: it is not destroyed meanwhile.
void ck_runtime_enter(ck_runtime *runtime);
void ck_runtime_leave(ck_runtime *runtime);
// Whom a thread would hold up that waits for the runtime's lock: it says when the wait begins, and when it has ended.
typedef struct ck_bystander {
    void *(*wait_begins)(void);
    void (*wait_ended)(void *begun); // what wait_begins returned
} ck_bystander;
void ck_runtime_set_bystander(ck_runtime *runtime, const ck_bystander *bystander);
// Around fork(): the lock is held across it, and the child forgets streams and pools, which are its parent's.
void ck_runtime_before_fork(ck_runtime *runtime);
void ck_runtime_after_fork(ck_runtime *runtime, int in_child);
// Device memory that nobody uses goes back to the device.
int ck_runtime_trim(ck_runtime *runtime, int device, ck_error *error);

// --- device.c, pool.c --------------------------------------------------------------------------------------------
int ck_device_count(int *count, ck_error *error); // 0 without a driver
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
size_t ck_pool_used(ck_runtime *runtime, int device); // bytes in allocations of ours

// --- callers.c ---------------------------------------------------------------------------------------------------
// Streams of callers: 0 and 1 (the default stream), 2 (the thread's own) or a handle. All but the first enter the
// device.
cudaStream_t ck_stream_of(int64_t handle); // 0 and 1 are the same stream: NULL
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

// --- set.c -------------------------------------------------------------------------------------------------------
// Loads a shared library of kernels for this backend. It is never unloaded (set.c says why).
int ck_set_load(ck_runtime *runtime, const char *path, ck_set **set, ck_error *error);
const char *ck_set_path(const ck_set *set);
const ck_set_table *ck_set_table_of(const ck_set *set);
// By name; NULL where there is none, and the error says what there is.
const ck_operation *ck_set_operation(const ck_set *set, const char *name, ck_error *error);
const ck_set_kernel *ck_set_kernel_of(const ck_set *set, const char *name, ck_error *error);

// --- memory.c, order.c -------------------------------------------------------------------------------------------
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
// Around whatever is enqueued in `stream`, of at most CK_MAX_ACCESSES. The current device must be the memories'.
// `stream` may be another library's, of this device. After a ck_order_before that went well ck_order_after is called
// too, also where enqueuing failed midway. If it fails itself, it has waited for the device: nothing is under way
// unnoted.
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
// Fills `filled` from what is given, then from the variant's defaults, and holds each to its choices or range.
int ck_check_parameters(const ck_operation *operation, const ck_variant *variant, const int64_t *given, int count,
                        int64_t *filled, ck_error *error);
// The variant's types for these inputs and (when output >= 0) this output.
int ck_check_types(const ck_operation *operation, const ck_variant *variant, const int *inputs, int count, int output,
                   ck_types *types, ck_error *error);

// --- layout.c ----------------------------------------------------------------------------------------------------
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

// --- execute.c ---------------------------------------------------------------------------------------------------
enum { CK_MAX_TIMELINE = 64 };
typedef struct ck_launch_time {
    const char *name;
    int64_t ns;
} ck_launch_time;
typedef struct ck_measure {
    int64_t kernel_ns, to_device_ns, to_host_ns, whole_ns, finish_ns;
    int64_t bytes_to_device, bytes_to_host;
    ck_work work;
    ck_plan plan;
    ck_clock *clocks; // plan.clock_blocks records; ck_measure_clear frees them
    int launched;     // how many kernels
    int by_launch;    // asked for: 1, each launch's time too
    int launch_count;
    ck_launch_time launches[CK_MAX_TIMELINE];
} ck_measure;
void ck_measure_clear(ck_measure *measure);

typedef struct ck_request {
    const ck_operation *operation;
    const ck_variant *variant;
    const int64_t *parameters; // in the variant's order; those left out at the end have their defaults
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
// have any strides. Device views: any strides; what the variant's layout does not take is packed first.
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
