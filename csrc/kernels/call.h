// The launch contract: what a call of a variant is made of. Arrays, the plan, the context, and the launcher that takes
// every launch. (What describes a variant is in variant.h; kernels and their launches need only this file.)
//
//   plan (sizes only, on the host)  ->  the runtime takes memory, lays operands out on the device, acquires bindings
//   ->  run  ->  finish (the host adds partial results of host arrays; where results stay on the device, finish_device
//   launches a kernel that does).
//
// run may launch kernels through context->launcher and ask for occupancy. Nothing else: no copy, no clearing, no
// allocation, no waiting.
#ifndef CK_CALL_H
#define CK_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "../runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ck_dtype {
    CK_BOOL,
    CK_INT8,
    CK_UINT8,
    CK_INT16,
    CK_UINT16,
    CK_INT32,
    CK_UINT32,
    CK_INT64,
    CK_UINT64,
    CK_FLOAT16,
    CK_BFLOAT16,
    CK_FLOAT32,
    CK_FLOAT64,
    CK_COMPLEX64,
    CK_COMPLEX128,
    CK_DTYPE_COUNT
} ck_dtype;

enum { CK_MAX_DIMS = 16, CK_MAX_VIEWS = 6, CK_MAX_BINDINGS = 2 };

CK_EXPORTED size_t ck_dtype_size(int dtype);          // bytes of one element
CK_EXPORTED const char *ck_dtype_name(int dtype);     // NumPy's name
CK_EXPORTED int ck_dtype_from_name(const char *name); // -1: unknown

// An array as a kernel's host code sees it. Strides are in bytes, and may be anything that suits the element's
// alignment: 0 (broadcast) and negative too, in inputs. Inputs come first, outputs after them.
typedef struct ck_view {
    void *data;
    int dtype;
    int ndim;
    int64_t shape[CK_MAX_DIMS];
    int64_t strides[CK_MAX_DIMS];
    int swapped; // 1: bytes of an element are not in this machine's order
} ck_view;

// (input, accumulator, output) as dtype codes.
typedef struct ck_types {
    int input, accumulator, output;
} ck_types;

// The device's limits that planning needs.
typedef struct ck_limits {
    int device, capability, multiprocessors, warp_size, max_threads_per_block;
    size_t shared_per_block, shared_per_block_optin;
    int64_t max_grid[3];
    int cooperative;
} ck_limits;

typedef struct ck_call {
    const ck_view *views; // in plan(): no data; in run(): device memory, strides as laid out
    int view_count;
    const int64_t *parameters; // in the order of the variant's parameters, defaults filled in
    ck_types types;            // those of the variant that fit the inputs
    const ck_limits *limits;
} ck_call;

typedef struct ck_work {
    double flops, bytes;
} ck_work; // of the operation, not of the variant: least traffic

// --- bindings: inputs that a kernel does not find through a pointer -----------------------------------------------
// For each kind, csrc/runtime/bindings.c names a function that acquires it before run() and one that releases it after.
typedef enum ck_binding_kind {
    CK_NO_BINDING, // ends a plan's list
    CK_BIND_SYMBOL,
    CK_BIND_TEXTURE,
    CK_BINDING_KINDS
} ck_binding_kind;

// A __constant__ variable that holds the input when run() begins. While a call uses it, no other call does.
typedef struct ck_symbol {
    int (*find)(void **address, size_t *bytes); // a cudaError_t; CK_SYMBOL of launch.cuh writes it
} ck_symbol;

// A texture object: the input is copied into an array. It has one to three axes and perhaps one more of channels, none
// of them empty.
typedef struct ck_texture_plan {
    enum cudaTextureAddressMode address; // in all axes; wrap and mirror need normalized coordinates
    enum cudaTextureFilterMode filter;   // linear: floats only
    int normalized;                      // 1: coordinates from 0 to 1
    int channels;                        // 2 or 4: the length of the last axis, an element's parts; 0: no such axis
    enum cudaTextureReadMode read;       // cudaReadModeNormalizedFloat: integers as shares of their largest
} ck_texture_plan;

typedef struct ck_binding {
    ck_binding_kind kind;
    int view; // the input; its layout must be contiguous
    union {
        ck_symbol symbol;
        ck_texture_plan texture;
    } of;
} ck_binding;

// What run() gets for each binding of its plan.
typedef union ck_bound {
    cudaTextureObject_t texture;
} ck_bound;

// --- the plan -----------------------------------------------------------------------------------------------------
enum { CK_PITCH = 512 }; // of rows that are padded to the device's pitch

// How an operand must lie on the device. Nothing asked: any strides.
typedef struct ck_layout {
    // The matrices in the last two axes: rows and columns rounded up to these multiples (0 or 1: as they are; the
    // rest is zero for inputs).
    int row_multiple, column_multiple;
    // The elements of each row have no gaps, and every row starts at a multiple of this many bytes (of 16 at least the first one,
    // and each matrix of a stack). Or the same is true of the columns. A power of two; 0: not so.
    int pitch;
    int contiguous; // in C order without gaps, whatever the number of axes
} ck_layout;

// What a variant asks for, from shapes and types alone.
typedef struct ck_plan {
    unsigned grid[3], block[3]; // of the main launch, for reports
    size_t shared_bytes;        // dynamic shared memory of the main launch
    size_t workspace_bytes;
    int64_t partials;     // partial results, of the accumulator's type, which is then as large as the output's;
                          // 0: the run writes the result itself
    int64_t clock_blocks; // ck_clock records; 0: none
    int clear_outputs;    // 1: outputs are zero when run() begins
    int clear_workspace;  // 1: so is the workspace
    ck_layout layout[CK_MAX_VIEWS];
    ck_binding bindings[CK_MAX_BINDINGS];
} ck_plan;

// --- launches -----------------------------------------------------------------------------------------------------
enum { CK_SHARED_WITHOUT_ASKING = 48 * 1024 }; // dynamic shared memory beyond this must be asked for

typedef struct ck_launch_plan {
    const char *name; // of static storage: a late error and a profile name it
    // A handle, of the set's own CUDA runtime: on a GPU no other library may launch a host function's address.
    cudaKernel_t kernel;
    unsigned grid[3], block[3];
    size_t shared_bytes; // dynamic
    int cooperative;     // 1: all blocks are resident at once, so that they may wait for each other
    void **arguments;    // each the address of a value of the kernel's own parameter type
    // A library of the toolkit launches its own kernels: then `kernel` is NULL, and this enqueues them. A cudaError_t.
    int (*library)(void *closure, cudaStream_t stream);
    void *closure;
} ck_launch_plan;

// Who takes a call's launches: one runs them (launcher.c), one also times each (timeline.c), one lists them and runs
// none (listing.c).
typedef struct ck_launcher ck_launcher;
struct ck_launcher {
    int (*launch)(ck_launcher *launcher, const ck_launch_plan *launch, cudaStream_t stream, ck_error *error);
};

// What each block of a clock-reading variant notes. Cycles count per multiprocessor; nanoseconds are common to all.
typedef struct ck_clock {
    long long cycle_start, cycle_end, ns_start, ns_end;
} ck_clock;

typedef struct ck_context {
    int device;
    cudaStream_t stream;
    ck_launcher *launcher;
    void *workspace;
    void *partials;                  // plan.partials elements of the accumulator's type
    ck_clock *clocks;                // plan.clock_blocks records
    ck_bound bound[CK_MAX_BINDINGS]; // of plan.bindings
} ck_context;

// --- the two functions of a variant -------------------------------------------------------------------------------
// The first says what a call needs, the second enqueues its kernels. Where a unit of its own compiles one of them, the
// table's file declares it by these types: ck_run run_naive;
typedef int ck_plan_of(const ck_call *call, ck_plan *plan, ck_error *error);
typedef int ck_run(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error);

#ifdef __cplusplus
}
#endif
#endif
