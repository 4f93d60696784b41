// The launch contract: the parts of a call of a variant, namely arrays, the plan, the context, and the launcher,
// which receives every launch. (The description of a variant is in variant.h; kernels and their launches need only
// this file.)
//
//   plan (on the host, from sizes only)  ->  the runtime allocates memory, lays out operands on the device, acquires
//   bindings  ->  run  ->  finish (the host adds partial results for host arrays; if the result stays on the device,
//   finish_device launches a kernel that adds them).
//
// run may launch kernels through context->launcher and query occupancy. It must not copy, clear or allocate memory,
// and must not wait.
#ifndef CK_CALL_H
#define CK_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "../runtime/status.h"
#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CK_MAX_DIMS = 16, CK_MAX_VIEWS = 6, CK_MAX_BINDINGS = 3 };

CK_EXPORTED size_t ck_dtype_size(int dtype);          // bytes of one element
CK_EXPORTED const char *ck_dtype_name(int dtype);     // NumPy's name
CK_EXPORTED int ck_dtype_from_name(const char *name); // -1: unknown

// An array, as the host code of a kernel sees it. Strides are in bytes and must be compatible with the alignment of
// the elements. Strides of inputs may be 0 (broadcast) or negative. Inputs come first, outputs after them.
typedef struct ck_view {
    void *data;
    int dtype;
    int ndim;
    int64_t shape[CK_MAX_DIMS];
    int64_t strides[CK_MAX_DIMS];
    int swapped; // 1: the byte order of the elements is not this machine's
} ck_view;

// (input, accumulator, output) as dtype codes.
typedef struct ck_types {
    int input, accumulator, output;
} ck_types;

// The limits of the device that plans need.
typedef struct ck_limits {
    int device, capability, multiprocessors, warp_size, max_threads_per_block;
    size_t shared_per_block, shared_per_block_optin;
    int64_t max_grid[3];
    int cooperative;
    int exact; // 1: the build has code for this capability alone (sm_90a), which variants with capability_exact need
} ck_limits;

typedef struct ck_call {
    const ck_view *views; // in plan(): without data; in run(): in device memory, with the strides there
    int view_count;
    const int64_t *parameters; // in the order of the variant's parameters, with defaults filled in
    ck_types types;            // the types of the variant that match the inputs
    const ck_limits *limits;
} ck_call;

typedef struct ck_work {
    double flops, bytes;
} ck_work; // of the operation, whatever the variant; bytes: the minimum traffic

// --- bindings: inputs that a kernel does not access through a pointer ---------------------------------------------
// For each kind, csrc/runtime/bindings.c has a function that acquires it before run() and one that releases it after.
typedef enum ck_binding_kind {
    CK_NO_BINDING, // ends the list of a plan
    CK_BIND_SYMBOL,
    CK_BIND_TEXTURE,
    CK_BIND_TENSOR_MAP,
    CK_BINDING_KINDS
} ck_binding_kind;

// A __constant__ variable that contains the input when run() begins. Only one call uses it at a time.
typedef struct ck_symbol {
    int (*find)(void **address, size_t *bytes); // returns a cudaError_t; CK_SYMBOL of launch.cuh defines it
} ck_symbol;

// A texture object: the input is copied into a CUDA array. The input has one to three axes and optionally an axis of
// channels; no axis is empty.
typedef struct ck_texture_plan {
    enum cudaTextureAddressMode address; // for all axes; wrap and mirror need normalized coordinates
    enum cudaTextureFilterMode filter;   // linear: floats only
    int normalized;                      // 1: coordinates from 0 to 1
    int channels;                        // 2 or 4: the length of the last axis, the channels; 0: no such axis
    enum cudaTextureReadMode read;       // cudaReadModeNormalizedFloat: integers divided by their largest value
} ck_texture_plan;

// A tensor map for copies by TMA, of an input or an output whose layout is boxed. Its axes are, from the inside: the
// contiguous one of the last two axes, the other one, and one for all matrices of a stack (without axes of stride 0).
// A box covers one matrix only.
typedef struct ck_tensor_map_plan {
    int inner;                           // elements of a box along the contiguous axis
    int outer_if_rows, outer_if_columns; // along the other one, if rows (or columns) are contiguous
    int swizzle;                         // bytes: 0, 32, 64 or 128
} ck_tensor_map_plan;

typedef struct ck_binding {
    ck_binding_kind kind;
    int view; // the input (or output); for symbols and textures its layout must be contiguous
    union {
        ck_symbol symbol;
        ck_texture_plan texture;
        ck_tensor_map_plan tensor_map;
    } of;
} ck_binding;

// The value that run() receives for each binding of its plan.
typedef union ck_bound {
    cudaTextureObject_t texture;
    unsigned char tensor_map[128]; // a tensor_map; copied out with its alignment by ck_bound_map of launch.cuh
} ck_bound;

// --- the plan -----------------------------------------------------------------------------------------------------
enum { CK_PITCH = 512 }; // of rows that are padded to the pitch of the device

// Which lines of a matrix are contiguous, where a layout has a pitch.
typedef enum ck_lines { CK_ROWS_OR_COLUMNS, CK_ROWS, CK_COLUMNS } ck_lines;

// The required layout of an operand on the device. If all fields are 0, any strides will do.
typedef struct ck_layout {
    // For the matrices in the last two axes: the numbers of rows and columns are rounded up to these multiples (0 or
    // 1: unchanged; the added elements of inputs are zero).
    int row_multiple, column_multiple;
    // Rows are contiguous and start at multiples of this many bytes, a power of two. (Or columns are, and do. The
    // first row, and each matrix of a stack, start at a multiple of 16 at least.) 0: anywhere.
    int pitch;
    ck_lines lines; // with a pitch: which of the two
    // TMA can address it: with a pitch of 16 or more, also strides that are positive, and matrices of a stack that
    // lie as along one axis (axes of stride 0 left out).
    int boxed;
    int contiguous; // C-contiguous, for any number of axes; CK_IN_ANY_ORDER: one axis, its elements in any order
} ck_layout;
enum { CK_IN_ANY_ORDER = 2 };

// The requirements of a variant, which depend only on shapes and types.
typedef struct ck_plan {
    unsigned grid[3], block[3]; // of the main launch, for reports
    size_t shared_bytes;        // dynamic shared memory of the main launch
    size_t workspace_bytes;
    int64_t partials;     // the number of partial results, of the accumulator's type, whose size must equal that of
                          // the output's type; 0: run() writes the result itself
    int64_t clock_blocks; // the number of ck_clock records
    int clear_outputs;    // 1: outputs are zero when run() begins
    int clear_workspace;  // 1: the workspace is zero when run() begins
    int leaves_workspace_clear; // 1: and again when its kernels have ended, so that the next call need not clear it
    ck_layout layout[CK_MAX_VIEWS];
    ck_binding bindings[CK_MAX_BINDINGS];
} ck_plan;

// --- launches -----------------------------------------------------------------------------------------------------
enum { CK_SHARED_WITHOUT_ASKING = 48 * 1024 }; // a kernel must opt in to more dynamic shared memory than this

typedef struct ck_launch_plan {
    const char *name; // in static storage, because errors that appear later and profiles contain it
    // A handle from the set's own CUDA runtime. On a GPU, no other library can launch a kernel by the address of its
    // host function.
    cudaKernel_t kernel;
    unsigned grid[3], block[3];
    size_t shared_bytes; // dynamic
    int cooperative;     // 1: all blocks are resident at once, so they may wait for each other
    int cluster;         // blocks of a cluster, along x; 0: none
    int early;           // 1: blocks may begin before the launch before has ended; see ck_launch_early
    void **arguments;    // the addresses of the values, each of the type of the kernel's parameter
    const int *sizes;    // of the values, in bytes; 0 comes after the last. NULL: not known
    // For a library of the toolkit, which launches its own kernels: `kernel` is NULL, and this function enqueues the
    // kernels and returns a cudaError_t.
    int (*library)(void *closure, cudaStream_t stream);
    void *closure;
} ck_launch_plan;

// The receiver of a call's launches. One implementation runs them (launcher.c), one also times each (timeline.c), and
// one lists them without running any (listing.c).
typedef struct ck_launcher ck_launcher;
struct ck_launcher {
    int (*launch)(ck_launcher *launcher, const ck_launch_plan *launch, cudaStream_t stream, ck_error *error);
};

// The record of each block of a variant that reads the clock. Cycles are counted by each multiprocessor; nanoseconds
// come from a timer that all multiprocessors share.
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
    ck_bound bound[CK_MAX_BINDINGS]; // one for each of plan.bindings
} ck_context;

// --- the two functions of a variant -------------------------------------------------------------------------------
// The first one determines what a call needs; the second one enqueues its kernels. If such a function is compiled in
// another file, the file of the table declares it with these types: ck_run run_naive;
typedef int ck_plan_of(const ck_call *call, ck_plan *plan, ck_error *error);
typedef int ck_run(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error);

#ifdef __cplusplus
}
#endif
#endif
