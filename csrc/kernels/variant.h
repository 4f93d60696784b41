// The variant table's types: what a folder of kernels tells everything above it. (What a call needs is in call.h.)
//
// A folder csrc/kernels/<operation>/ holds one .cuh a variant and an <operation>.cu, which defines
// `const ck_operation ck_operation_<operation>`: an entry a variant, in the order of the ladder. The build finds the
// folders; nothing else lists them. Dispatch, Python's variants(), the tests, ladders and documents read the entries.
#ifndef CK_VARIANT_H
#define CK_VARIANT_H

#include "call.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of everything in this file, call.h and set.h. A table or a set of another version is refused when it is loaded.
enum { CK_ABI_VERSION = 2 };

enum { CK_MAX_PARAMETERS = 4, CK_MAX_CHOICES = 12, CK_MAX_TYPES = 20, CK_MAX_KERNELS = 8 };

// One parameter of a variant: a choice among values, or a range with a step. Where choices have words, they are
// 0, 1, 2... and the caller says the word.
typedef struct ck_parameter {
    const char *name; // NULL ends the list
    int64_t fallback; // the default
    int64_t choices[CK_MAX_CHOICES];
    int choice_count; // 0: a range
    int64_t low, high, step;
    const char *unit;                  // "threads per block", for messages and listings
    const char *words[CK_MAX_CHOICES]; // of the choices; none: the numbers themselves
} ck_parameter;

typedef enum ck_sum_order { CK_SUM_SEQUENTIAL, CK_SUM_TREE, CK_SUM_COMPENSATED, CK_SUM_NONE } ck_sum_order;

enum {                    // traits
    CK_DETERMINISTIC = 1, // the same bits from run to run, whatever the order of threads and blocks
    CK_READS_CLOCK = 2,   // fills ck_context.clocks
    CK_HOST_FINISH = 4,   // leaves partial results for the host to add (a finishing kernel for device results)
    CK_COOPERATIVE = 8,   // needs all its blocks resident at once
    CK_DETERMINISTIC_INTEGERS = 16, // deterministic for integer types only
    CK_FLUSHES_DENORMALS = 32,      // a GPU may take float32 results below the normal range for zero
};
enum { CK_ON_CUDA = 1, CK_ON_EMULATOR = 2 }; // backends

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
    ck_plan_of *plan;
    ck_run *run;
} ck_variant;

typedef struct ck_operation {
    int abi; // CK_ABI_VERSION; CK_OPERATION of table.h writes it
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
    ck_run *finish_device;
} ck_operation;

#ifdef __cplusplus
}
#endif
#endif
