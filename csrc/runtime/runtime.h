// The runtime: devices, memory, streams, timing, and the one function that runs a variant.
//
// It calls only the CUDA runtime API, through the macros of status.h and below, and cannot tell which side of the
// seam it runs on. All its state hangs on one ck_runtime; the caller (the extension module) owns it.
//
//   ck_execute    check.c     is this a call that the row allows?
//     |           device.c    which device, what are its limits
//     |           stream.c    a stream and its events from the free list
//     |           pool.c      memory, in the stream's order
//     |           operand.c   layout on the device, copies to it and back
//     |           timing.c    the events between the stages
//     v           status.c    what went wrong, and faults on request
#ifndef CK_RUNTIME_H
#define CK_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>

#include "../kernels/variant.h"

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

void ck_fault_set(int64_t n, int code); // the n-th guarded call from now fails with code; 0: none. Resets the count
int64_t ck_fault_count(void);           // guarded calls since then

// --- state -------------------------------------------------------------------------------------------------------
enum { CK_EVENTS = 5 };

// A non-blocking stream with the events that time a call on it. One call at a time owns it.
typedef struct ck_stream {
    cudaStream_t stream;
    cudaEvent_t events[CK_EVENTS];
    struct ck_stream *next;
} ck_stream;

typedef struct ck_device {
    int index;
    cudaMemPool_t pool; // NULL: the device has no pools, memory comes from cudaMalloc
    atomic_size_t live; // bytes in allocations of ours
    ck_stream *idle;    // guarded by ck_runtime.lock
    struct ck_device *next;
} ck_device;

typedef struct ck_runtime {
    pthread_mutex_t lock; // the list of devices and their free streams
    ck_device *devices;   // made at a device's first use, kept to the end
    atomic_int calls;     // running now: a runtime in use is never destroyed
} ck_runtime;

ck_runtime *ck_runtime_create(void); // touches no device; NULL: no memory
void ck_runtime_destroy(ck_runtime *runtime);
// Around fork(): the lock is held across it, and the child forgets streams and pools, which are its parent's.
void ck_runtime_before_fork(ck_runtime *runtime);
void ck_runtime_after_fork(ck_runtime *runtime, int in_child);
// The state of a device (which must be the thread's current one), made when this is its first use.
int ck_runtime_device(ck_runtime *runtime, int index, ck_device **device, ck_error *error);

// --- device.c ----------------------------------------------------------------------------------------------------
int ck_device_count(void); // 0 without a driver
int ck_device_current(int *device, ck_error *error);
int ck_device_choose(int *device, ck_error *error); // the current one if it is suitable, else the first that is
int ck_device_limits(int device, ck_limits *limits, ck_error *error);
void ck_device_nominal_limits(ck_limits *limits); // of no device: for questions asked without one
// Makes `device` the thread's current one; `previous` is for ck_device_leave.
int ck_device_enter(int device, int *previous, ck_error *error);
void ck_device_leave(int device, int previous, ck_error *error);

enum { CK_PROPERTY_COUNT = 35 };
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
int ck_pool_trim(ck_runtime *runtime, int device, ck_error *error);
size_t ck_pool_used(ck_runtime *runtime, int device);

// --- stream.c ----------------------------------------------------------------------------------------------------
int ck_stream_acquire(ck_runtime *runtime, ck_device *device, ck_stream **stream, ck_error *error);
// healthy: back to the free list. Else destroyed: nobody knows what a failed call left on it.
void ck_stream_release(ck_runtime *runtime, ck_device *device, ck_stream *stream, int healthy);
void ck_stream_destroy(ck_stream *stream);

// --- timing.c ----------------------------------------------------------------------------------------------------
int64_t ck_now_ns(void); // of the host
int ck_timing_mark(ck_stream *stream, int event, ck_error *error);
int ck_timing_between(ck_stream *stream, int first, int last, int64_t *ns, ck_error *error); // both have happened

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

// --- operand.c ---------------------------------------------------------------------------------------------------
// An operand of a call: the caller's array, and where it lies on the device.
typedef struct ck_operand {
    ck_view host;
    ck_view device;
    ck_block memory;
    int64_t rows; // as the copy sees it: rows of `row_bytes` bytes
    size_t row_bytes, host_pitch, device_pitch;
    size_t padded_row_bytes; // up to here a row is filled
    int64_t padded_rows;
} ck_operand;

// The sizes, without memory. `number` counts from 0, for messages.
int ck_operand_layout(const ck_view *host, int number, int row_multiple, int column_multiple, int pitched,
                      ck_operand *operand, ck_error *error);
int ck_operand_allocate(ck_operand *operand, ck_device *device, cudaStream_t stream, ck_error *error);
int ck_operand_copy_in(const ck_operand *operand, cudaStream_t stream, ck_error *error); // with zeros around it
int ck_operand_copy_out(const ck_operand *operand, cudaStream_t stream, ck_error *error);
int64_t ck_operand_bytes(const ck_operand *operand); // that a copy moves

// --- execute.c ---------------------------------------------------------------------------------------------------
typedef struct ck_measure {
    int64_t kernel_ns, to_device_ns, to_host_ns, whole_ns, finish_ns;
    int64_t bytes_to_device, bytes_to_host;
    ck_work work;
    ck_plan plan;
    ck_clock *clocks; // plan.clock_blocks records; ck_measure_clear frees them
} ck_measure;
void ck_measure_clear(ck_measure *measure);

typedef struct ck_request {
    const ck_operation *operation;
    const ck_variant *variant;
    const int64_t *parameters; // in the row's order; those left out at the end have their defaults
    int parameter_count;
    const ck_view *views; // host memory; inputs, then outputs
    int view_count;
    int device;
    ck_measure *measure;        // NULL: nothing is timed
    int (*interrupted)(void *); // asked while waiting; nonzero: stop
    void *interrupted_arg;
} ck_request;

// Runs one call to its end: when it returns, nothing of it is running and nothing of it is held.
int ck_execute(ck_runtime *runtime, const ck_request *request, ck_error *error);

#endif
