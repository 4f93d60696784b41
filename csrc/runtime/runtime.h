// The interface of the runtime, for the extension module (csrc/python) and for other C code that calls kernels.
//
//   ck_execute    one call; ck_launch_kernel: a call of a single kernel; ck_list: the kernels that a call launches
//   ck_memory     device memory with a reference count; ck_array: an array in it; ck_order: the order of its uses
//   ck_set        groups of kernels, loaded from shared libraries
//   ck_stream, ck_event, ck_device, ck_pinned
//   ck_runtime    the state of all of these
//
// The runtime calls only the CUDA runtime API and does not know whether it runs on a GPU or on the emulator. Its
// whole state is in one ck_runtime, which the caller (the extension module) owns. The other headers in this folder
// are internal.
#ifndef CK_RUNTIME_H
#define CK_RUNTIME_H

#include "../kernels/set.h"
#include "../kernels/variant.h"
#include "kernels/attributes.h"

typedef struct ck_runtime ck_runtime; // state.h
typedef struct ck_memory ck_memory;   // memory.h
typedef struct ck_set ck_set;         // set.c

// Interrupts a wait. `interrupted` may be NULL.
typedef struct ck_waiter {
    int (*interrupted)(void *); // called repeatedly during a wait; nonzero: stop waiting
    void *argument;
} ck_waiter;

// --- status.c ----------------------------------------------------------------------------------------------------
// For tests.
void ck_fault_set(int64_t n, int code); // makes the n-th guarded call from now fail with code; n = 0: no call
int64_t ck_fault_count(void);           // guarded calls since the last ck_fault_set

// --- life.c ------------------------------------------------------------------------------------------------------
ck_runtime *ck_runtime_create(void);          // uses no device; NULL: not enough memory
void ck_runtime_destroy(ck_runtime *runtime); // does nothing while a call is in progress or a memory exists
// For use before and after a thread that may outlive the runtime's owner uses the runtime, which then is not
// destroyed.
void ck_runtime_enter(ck_runtime *runtime);
void ck_runtime_leave(ck_runtime *runtime);
// Functions to call before and after a thread waits for the runtime's lock, for a caller that the wait would block.
typedef struct ck_bystander {
    void *(*wait_begins)(void);
    void (*wait_ended)(void *begun); // begun: the value that wait_begins returned
} ck_bystander;
void ck_runtime_set_bystander(ck_runtime *runtime, const ck_bystander *bystander);
// Before and after fork(): the lock is held across the fork, and the child forgets the streams and pools of its
// parent.
void ck_runtime_before_fork(ck_runtime *runtime);
void ck_runtime_after_fork(ck_runtime *runtime, int in_child);
// Returns unused memory to the device and to the system.
int ck_runtime_trim(ck_runtime *runtime, int device, ck_error *error);

// --- device.c, pool.c --------------------------------------------------------------------------------------------
int ck_device_count(int *count, ck_error *error); // 0 without a driver
int ck_device_current(int *device, ck_error *error);
int ck_device_of_pointer(const void *data, int *device, ck_error *error); // -1: not device memory
int ck_device_choose(int *device,
                     ck_error *error); // the current device if suitable, otherwise the first suitable one
int ck_exact_capability(void);         // for which this build has code that runs on no other (90: sm_90a); 0: none
int ck_device_limits(int device, ck_limits *limits, ck_error *error);
// The same, but cached for each device, because the queries would take too long in every call.
int ck_runtime_limits(ck_runtime *runtime, int device, ck_limits *limits, ck_error *error);
void ck_runtime_forget_limits(ck_runtime *runtime); // after the emulator was reconfigured
void ck_device_nominal_limits(ck_limits *limits);   // of an H100, for questions without a device
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
size_t ck_pool_used(ck_runtime *runtime, int device); // bytes in allocations of the runtime

// --- callers.c ---------------------------------------------------------------------------------------------------
// Streams of callers: 0 and 1 (the default stream), 2 (the per-thread default stream) or a handle. All functions but
// the first one enter the device.
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
// Loads a shared library of kernels for this backend. It is never unloaded (see set.c).
int ck_set_load(ck_runtime *runtime, const char *path, ck_set **set, ck_error *error);
// Code for a GPU that was compiled at run time (program.c), with the names of its kernels and variables.
typedef struct ck_program_name {
    const char *name, *linkers; // in the source; the linker's
} ck_program_name;
typedef struct ck_program_names {
    const char *path; // of the set, for messages
    const ck_program_name *kernels, *variables;
    int kernel_count, variable_count;
} ck_program_names;
int ck_set_load_image(ck_runtime *runtime, const void *image, const ck_program_names *names, int device, ck_set **set,
                      ck_error *error);
const char *ck_set_path(const ck_set *set);
const ck_set_table *ck_set_table_of(const ck_set *set);
// Finds an operation or a kernel by name. Returns NULL if there is none; the error message then lists the names.
const ck_operation *ck_set_operation(const ck_set *set, const char *name, ck_error *error);
const ck_set_kernel *ck_set_kernel_of(const ck_set *set, const char *name, ck_error *error);
// The address of a variable on a device, and its size in bytes.
int ck_set_variable_at(const ck_set *set, const char *name, int device, void **address, size_t *bytes,
                       ck_error *error);

// --- memory.c, order.c -------------------------------------------------------------------------------------------
// Device memory with a reference count: the runtime's own (from the pool), or another library's, which is notified
// when this package needs it no longer.
//
// Uses are ordered automatically: a read waits (on the device, not on the host) for the last write on another stream,
// and a write waits for the reads since then too. Memory returns to the pool after its last use on any stream. A use
// on the default stream costs nothing; for a use on another stream an event is recorded at once, so that the owner
// may destroy the stream at any time. (If two threads use one memory at the same time and one of them writes, their
// order is undefined; even then the memory is not freed too early.)
enum { CK_MAX_ACCESSES = 32 };
typedef struct ck_access {
    ck_memory *memory;
    int writes;
} ck_access;

int ck_memory_allocate(ck_runtime *runtime, int device, size_t bytes, cudaStream_t stream, ck_memory **memory,
                       ck_error *error);
// `release(owner)` is called once, after the last reference is gone and the device has finished all work on this
// memory: by the last ck_memory_release, or by a later wait or call of a function of memory.c, on any thread and
// without a lock held. It is not called if ck_memory_adopt fails.
int ck_memory_adopt(ck_runtime *runtime, int device, void *data, size_t bytes, void (*release)(void *), void *owner,
                    ck_memory **memory, ck_error *error);
void ck_memory_retain(ck_memory *memory);
void ck_memory_release(ck_memory *memory);                   // does nothing if memory is NULL; ignores failures
int ck_memory_apart(const ck_memory *a, const ck_memory *b); // 1: arrays in a and b cannot overlap
int ck_memory_may_wait(const ck_memory *memory);             // 1: releasing this reference would wait for the device
void *ck_memory_data(const ck_memory *memory);
size_t ck_memory_bytes(const ck_memory *memory);
int ck_memory_device(const ck_memory *memory);
// To be called when another library receives this memory and may use it in a stream that is not known here. The last
// ck_memory_release then waits until the device has finished all work. (If the library uses only the default stream,
// call ck_order_after for that stream instead, which needs no wait.)
void ck_memory_export(ck_memory *memory);
// To be called before and after work with at most CK_MAX_ACCESSES accesses is enqueued in `stream`, which may be
// another library's. The device of the memories and the stream must be current. After a successful ck_order_before,
// ck_order_after must be called too, even if enqueuing failed midway. If ck_order_after fails, it has waited for the
// device, so no unrecorded work remains unfinished.
int ck_order_before(const ck_access *accesses, int count, cudaStream_t stream, ck_error *error);
int ck_order_after(const ck_access *accesses, int count, cudaStream_t stream, ck_error *error);

// --- transfer.c --------------------------------------------------------------------------------------------------
// A view of device memory: `view.data` points into `memory`.
typedef struct ck_array {
    ck_memory *memory;
    ck_view view;
} ck_array;

// The host array must have the shape and type of the device array; its byte order may be swapped, and both may have
// any strides (but elements to which a download writes may not share memory). Both functions return when the host
// array may be used again.
int ck_array_upload(ck_runtime *runtime, const ck_array *to, const ck_view *host, cudaStream_t stream,
                    const ck_waiter *waiter, ck_error *error);
int ck_array_download(ck_runtime *runtime, const ck_view *host, const ck_array *from, cudaStream_t stream,
                      const ck_waiter *waiter, ck_error *error);
// Asynchronous. The shapes must be equal; types are converted. The arrays may overlap, or be on different devices;
// then their types must be equal, and `stream` belongs to the target's device.
int ck_array_copy(ck_runtime *runtime, const ck_array *to, const ck_array *from, cudaStream_t stream,
                  ck_error *error);
int ck_array_fill(ck_runtime *runtime, const ck_array *to, const void *value, cudaStream_t stream, ck_error *error);

// --- pinned.c ----------------------------------------------------------------------------------------------------
// Page-locked host memory.
int ck_pinned_allocate(ck_runtime *runtime, size_t bytes, void **data, ck_error *error);
void ck_pinned_free(ck_runtime *runtime, void *data);
// Converts an address in page-locked memory to the address that the device uses.
int ck_pinned_on_device(void *data, void **on_device, ck_error *error);
size_t ck_pinned_used(ck_runtime *runtime); // bytes

// --- warm.c ------------------------------------------------------------------------------------------------------
// Memory for a result of that many bytes on the host, from an earlier result if possible; `taken`: the size of the
// block. `data` is NULL if the caller must take ordinary memory.
int ck_warm_take(ck_runtime *runtime, size_t bytes, void **data, size_t *taken, ck_error *error);
void ck_warm_give(ck_runtime *runtime, void *data, size_t taken);
void ck_warm_trim(ck_runtime *runtime);   // unmaps the blocks that are kept
size_t ck_warm_kept(ck_runtime *runtime); // bytes

// --- check.c -----------------------------------------------------------------------------------------------------
const ck_variant *ck_find_variant(const ck_operation *operation, const char *name, ck_error *error);
// Sets `filled` to these values, then to the variant's defaults, and checks each against its choices or range.
int ck_check_parameters(const ck_operation *operation, const ck_variant *variant, const int64_t *values, int count,
                        int64_t *filled, ck_error *error);
// Finds the variant's types for these inputs and, if output >= 0, for this output.
int ck_check_types(const ck_operation *operation, const ck_variant *variant, const int *inputs, int count, int output,
                   ck_types *types, ck_error *error);

// --- layout.c ----------------------------------------------------------------------------------------------------
// 1: C-contiguous.
int ck_view_is_contiguous(const ck_view *view);
int ck_view_is_empty(const ck_view *view);
int ck_view_same_shape(const ck_view *a, const ck_view *b);
int64_t ck_view_bytes(const ck_view *view); // the size of the elements of an existing array
// Sets the type, and the strides of a C-contiguous array. They saturate, because a question may be about an array
// that does not fit in any memory.
void ck_view_lay_out(ck_view *view, int dtype);
// The range of bytes that the elements occupy, relative to the first element: low <= 0 <= high. Returns -1 on
// overflow.
int ck_view_reach(const ck_view *view, int64_t *low, int64_t *high);
int ck_view_overlap(const ck_view *a, const ck_view *b); // 1: the ranges of their addresses overlap

// --- execute.c ---------------------------------------------------------------------------------------------------
enum { CK_MAX_TIMELINE = 64 };
typedef struct ck_launch_time {
    const char *name;
    int64_t ns;
} ck_launch_time;
typedef struct ck_measure {
    int64_t kernel_ns, to_device_ns, to_host_ns, whole_ns, finish_ns;
    int64_t bytes_to_device, bytes_to_host, bytes_gathered; // gathered: copied within host memory first, or last
    ck_work work;
    ck_plan plan;
    ck_clock *clocks; // plan.clock_blocks records; ck_measure_clear frees them
    int launched;     // the number of kernels
    int by_launch;    // set by the caller; 1: measure the time of each launch too
    int launch_count;
    ck_launch_time launches[CK_MAX_TIMELINE];
} ck_measure;
void ck_measure_clear(ck_measure *measure);

typedef struct ck_request {
    const ck_operation *operation;
    const ck_variant *variant;
    const int64_t *parameters; // in the variant's order; omitted ones at the end have their defaults
    int parameter_count;
    const ck_types *types; // not NULL: types and parameters have been checked, and no parameter is omitted
    const ck_view *views;  // inputs, then outputs
    int view_count;
    ck_memory *const *memories; // the memory of each view, on the device; NULL: all views are in host memory
    cudaStream_t stream;        // for views on the device: the stream of the work
    int device;
    ck_measure *measure; // NULL: nothing is timed
    ck_waiter waiter;
} ck_request;

// Runs one call. With host memory, all work is finished and all resources are released when it returns. With device
// memory, it returns when all work is enqueued, unless the call is measured; the workspace is freed in the order of
// the stream.
//
// Views may have any strides. Of a host view, an axis with stride 0 is copied once. An operand that does not have the
// variant's layout is packed on the device first.
int ck_execute(ck_runtime *runtime, const ck_request *request, ck_error *error);

typedef struct ck_kernel_request {
    const ck_set_kernel *kernel;
    unsigned grid[3], block[3];
    size_t shared_bytes;
    int cooperative;
    void **arguments;           // for each parameter of the kernel, the address of its value
    ck_memory *const *memories; // for each parameter, the memory that a pointer points into; NULL: a value
    cudaStream_t stream;
    int device;
    ck_measure *measure; // NULL: nothing is timed
    ck_waiter waiter;
} ck_kernel_request;

// Launches one kernel of a set. It is ordered relative to other uses of the same memory, as a variant is: an array
// counts as written unless the parameter is a pointer to const. It returns when the launch is enqueued, unless it is
// measured.
int ck_launch_kernel(ck_runtime *runtime, const ck_kernel_request *request, ck_error *error);

// --- listing.c ---------------------------------------------------------------------------------------------------
enum { CK_MAX_LISTED = 16, CK_MAX_LISTED_LAUNCHES = 64, CK_MAX_LISTED_BYTES = 256 };
// One launch and the values of its arguments, one after another. Addresses are those of CK_NOWHERE.
typedef struct ck_listed_launch {
    int kernel; // its index in the listing
    unsigned grid[3], block[3];
    size_t dynamic_shared;
    const int *sizes; // of the values, up to 0; NULL: not known, or more than CK_MAX_LISTED_BYTES
    unsigned char values[CK_MAX_LISTED_BYTES];
} ck_listed_launch;
typedef struct ck_listing {
    ck_launcher launcher; // lists launches without running them
    ck_sweep sweep;
    int count; // at most CK_MAX_LISTED; further kernels are not listed
    ck_listed_kernel kernels[CK_MAX_LISTED];
    size_t workspace_bytes;
    int64_t partials; // partial results
    int view_count;
    int64_t view_bytes[CK_MAX_VIEWS]; // with padding, of arrays that would be copied to the device; else 0
    int launch_count;                 // at most CK_MAX_LISTED_LAUNCHES, in their order
    ck_listed_launch launches[CK_MAX_LISTED_LAUNCHES];
} ck_listing;
// Where the arrays of a call would be if it were made: inputs and outputs 0, 1, ... of it, then the workspace, the
// partial results, and the clocks.
#define CK_NOWHERE(which) ((void *)(((uintptr_t)(which) + 1) << 40))
// The kernels that this call would launch, and the driver's information about them. No kernel runs, and no array is
// accessed. The caller must set the sweep.
int ck_list(ck_runtime *runtime, const ck_request *request, ck_listing *listing, ck_error *error);
// The device memory that this call would take, as `bytes`: copies of operands, workspace and partial results. For
// arrays on the device, that is what the call needs in addition to them. No array is accessed.
int ck_memory_needed(ck_runtime *runtime, const ck_request *request, size_t *bytes, ck_error *error);
// The same as ck_list for the launch of a single kernel; its arguments do not matter.
int ck_list_kernel(ck_runtime *runtime, const ck_kernel_request *request, ck_listing *listing, ck_error *error);

#endif
