// The variant table's types: the contract between a folder of kernels and everything above it.
//
// A folder csrc/kernels/<operation>/ holds one .cuh a variant and one <operation>.cu, which defines
// `const ck_operation ck_operation_<operation>`: a row a variant, in the order of the ladder. The build finds the
// folders; nothing else lists them. Dispatch, Python's variants(), the tests, ladders and documents read the rows.
//
// A call of a variant:  plan (sizes only, on the host)  ->  memory is taken and cleared, and operands are laid out on
//   the device by the runtime  ->  run  ->  finish (the host adds partial results of host arrays; where results stay
//   on the device, finish_device enqueues a kernel that does).
//
// run may enqueue kernels in the context's stream and query occupancy. Nothing else: no copy, no clearing, no
// allocation, no waiting.
#ifndef CK_VARIANT_H
#define CK_VARIANT_H

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

enum {
    CK_MAX_DIMS = 16,
    CK_MAX_VIEWS = 6,
    CK_MAX_PARAMETERS = 4,
    CK_MAX_CHOICES = 12,
    CK_MAX_TYPES = 20,
    CK_MAX_KERNELS = 8,
    CK_MAX_SYMBOLS = 2,
    CK_MAX_TEXTURES = 2
};

size_t ck_dtype_size(int dtype);          // bytes of one element
const char *ck_dtype_name(int dtype);     // NumPy's name
int ck_dtype_from_name(const char *name); // -1: unknown

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

// One parameter of a row: a choice among values, or a range with a step. Where choices have words, they are 0, 1, 2...
// and the caller says the word.
typedef struct ck_parameter {
    const char *name; // NULL ends the list
    int64_t fallback; // the default
    int64_t choices[CK_MAX_CHOICES];
    int choice_count; // 0: a range
    int64_t low, high, step;
    const char *unit;                  // "threads per block", for messages and listings
    const char *words[CK_MAX_CHOICES]; // of the choices; none: the numbers themselves
} ck_parameter;

// (input, accumulator, output) as dtype codes.
typedef struct ck_types {
    int input, accumulator, output;
} ck_types;

typedef enum ck_sum_order { CK_SUM_SEQUENTIAL, CK_SUM_TREE, CK_SUM_COMPENSATED, CK_SUM_NONE } ck_sum_order;

enum {                    // traits
    CK_DETERMINISTIC = 1, // the same bits from run to run, whatever the order of threads and blocks
    CK_READS_CLOCK = 2,   // fills ck_context.clocks
    CK_HOST_FINISH = 4,   // leaves partial results for the host to add (a finishing kernel for device results)
    CK_COOPERATIVE = 8,   // needs all its blocks resident at once
    CK_DETERMINISTIC_INTEGERS = 16, // deterministic for integer types only
    CK_FLUSHES_DENORMALS = 32,      // a GPU may take float32 results below the normal range for zero
};
enum { CK_ON_CUDA = 1, CK_ON_EMULATOR = 2, CK_ON_HOST = 4 }; // backends

// What each block of a clock-reading row notes. Cycles count per multiprocessor; nanoseconds are common to all.
typedef struct ck_clock {
    long long cycle_start, cycle_end, ns_start, ns_end;
} ck_clock;

// The device's limits that planning needs.
typedef struct ck_limits {
    int device, capability, multiprocessors, warp_size, max_threads_per_block;
    size_t shared_per_block, shared_per_block_optin;
    int64_t max_grid[3];
    int cooperative;
} ck_limits;

// How an operand must lie on the device. Nothing asked: any strides.
typedef struct ck_layout {
    // The matrices in the last two axes: rows and columns rounded up to these multiples (0 or 1: as they are; the
    // rest is zero for inputs), and rows padded to the device's pitch.
    int row_multiple, column_multiple, pitched;
    int contiguous; // in C order without gaps, whatever the number of axes
} ck_layout;

// A __constant__ variable, and the input that it holds when run() begins: the runtime copies it there, and keeps calls
// that use the variable apart. The input's layout must be contiguous, and no larger than the variable.
typedef struct ck_symbol {
    int (*find)(void **address, size_t *bytes); // a cudaError_t: CK_SYMBOL of launch.cuh; NULL: none
    int view;
} ck_symbol;

// An input that run() reads through a texture, context.textures[i]: the runtime copies it into an array and makes the
// object. The input's layout must be contiguous; it has one to three axes and perhaps one more of channels, none empty.
typedef struct ck_texture_plan {
    int wanted, view;                    // 1, and which input
    enum cudaTextureAddressMode address; // in all axes; wrap and mirror need normalised coordinates
    enum cudaTextureFilterMode filter;   // linear: floats only
    int normalized;                      // 1: coordinates from 0 to 1
    int channels;                        // 2 or 4: the length of the last axis, an element's parts; 0: no such axis
    enum cudaTextureReadMode read;       // cudaReadModeNormalizedFloat: integers as shares of their largest
} ck_texture_plan;

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
    ck_symbol symbols[CK_MAX_SYMBOLS];
    ck_texture_plan textures[CK_MAX_TEXTURES];
} ck_plan;

typedef struct ck_call {
    const ck_view *views; // in plan(): no data; in run(): device memory, strides as laid out
    int view_count;
    const int64_t *parameters; // in the order of the row's parameters, defaults filled in
    ck_types types;            // the row's entry that fits the inputs
    const ck_limits *limits;
} ck_call;

// Launches that a stream has been given and that are not known to be done: a late error names them.
typedef struct ck_launches ck_launches;
void ck_launches_note(ck_launches *launches, const char *name, const unsigned grid[3], const unsigned block[3],
                      size_t shared_bytes); // name: of static storage. launches may be NULL

// When each launch of a call was done (timeline.c).
typedef struct ck_timeline ck_timeline;
int ck_timeline_note(ck_timeline *timeline, const char *name, cudaStream_t stream, ck_error *error);

// What the driver says of a kernel that a run would have launched, and of that launch. 0 registers: it does not know
// what the kernel needs (one that it knows has some), and then static_shared and local_bytes say nothing either.
enum { CK_MAX_INSPECTED = 16, CK_MAX_SWEEP = 256 };
typedef struct ck_kernel {
    const void *function;
    const char *name, *symbol; // as launches are named, and as the linker names it
    unsigned grid[3], block[3];
    size_t dynamic_shared;
    int cooperative;
    int registers, max_threads, binary_version, ptx_version;
    size_t static_shared, local_bytes, constant_bytes, max_dynamic_shared;
    int active_blocks;                   // of this launch, a multiprocessor
    int potential_grid, potential_block; // cudaOccupancyMaxPotentialBlockSize
    int swept[CK_MAX_SWEEP];             // active blocks for each pair that was asked for
} ck_kernel;

// In place of launches, a list of what would have been launched. `threads` and `shared`: pairs of block size and
// dynamic shared memory for which active blocks are asked.
typedef struct ck_inspection {
    int64_t threads[CK_MAX_SWEEP], shared[CK_MAX_SWEEP];
    int sweep;
    int count; // what is launched beyond CK_MAX_INSPECTED is not noted
    ck_kernel kernels[CK_MAX_INSPECTED];
} ck_inspection;

typedef struct ck_context {
    int device;
    cudaStream_t stream;
    void *workspace;
    void *partials;   // plan.partials elements of the accumulator's type
    ck_clock *clocks; // plan.clock_blocks records
    ck_launches *launches;
    ck_timeline *timeline;     // NULL: nobody asks for each launch's time
    ck_inspection *inspection; // NULL: kernels are launched. Else they are noted there, and none is
    cudaTextureObject_t textures[CK_MAX_TEXTURES]; // of plan.textures
} ck_context;

// inspect.cu: notes a kernel and its launch; asks the driver about a noted one.
void ck_inspect_launch(ck_inspection *inspection, const char *name, const void *function, const unsigned grid[3],
                       const unsigned block[3], size_t shared_bytes, int cooperative);
int ck_inspect_kernel(ck_inspection *inspection, int which, ck_error *error);

typedef struct ck_work {
    double flops, bytes;
} ck_work; // of the operation, not of the variant: least traffic

typedef struct ck_variant {
    const char *name;
    const char *after;            // the step it comes after; NULL: a ladder begins here
    const char *summary;          // one line: what a listing shows
    const char *lesson;           // what a student keeps
    const char *origin;           // document and step, paper, or library
    ck_types types[CK_MAX_TYPES]; // ends with input < 0 (TYPES_END)
    ck_parameter parameters[CK_MAX_PARAMETERS + 1];
    ck_sum_order sum_order;
    // Additions with a rounding on the longest path to a result: f(n) of the error bound c * f(n) * u.
    double (*depth)(const ck_call *call);
    unsigned traits;
    int capability;       // 75 means 7.5
    int capability_exact; // 1: that chip and no other
    unsigned backends;
    const char *kernels[CK_MAX_KERNELS]; // names as in the source; NULL ends
    const char *source;                  // relative to csrc/kernels
    int (*plan)(const ck_call *call, ck_plan *plan, ck_error *error);
    int (*run)(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error);
} ck_variant;

typedef struct ck_operation {
    const char *name;
    const char *summary;
    int inputs, outputs;
    const ck_variant *variants;
    int variant_count;
    void (*work)(const ck_call *call, ck_work *work);
    // Adds the partial results, on the host into *out. NULL: never needed.
    void (*finish_host)(const void *partials, int64_t count, const ck_types *types, void *out);
    // The same by a kernel, into the output view: for results that stay on the device. Not called for one partial
    // result of the output's type: context.partials is the output then.
    int (*finish_device)(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error);
} ck_operation;

#ifdef __cplusplus
}
#endif
#endif
