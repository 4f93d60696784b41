// The types of the variant table, which describes a folder of kernels to all other code. (A call is described in
// call.h.)
//
// A folder csrc/kernels/<operation>/ contains one .cuh file per variant and <operation>.cu, which defines `const
// ck_operation ck_operation_<operation>` with one entry per variant, in the order of the ladder. The build finds the
// folders; they are not listed anywhere else. Dispatch, Python's variants(), tests, ladders and documents all read
// the entries.
#ifndef CK_VARIANT_H
#define CK_VARIANT_H

#include "call.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CK_MAX_PARAMETERS = 4, CK_MAX_CHOICES = 12, CK_MAX_TYPES = 20, CK_MAX_KERNELS = 8 };

// A parameter of a variant: a choice of values, or a range with a step. If the choices have words, their values are
// 0, 1, 2, ... and the caller passes the word.
typedef struct ck_parameter {
    const char *name; // NULL ends the list
    int64_t fallback; // the default
    int64_t choices[CK_MAX_CHOICES];
    int choice_count; // 0: a range
    int64_t low, high, step;
    const char *unit;                  // "threads per block", for messages and listings
    const char *words[CK_MAX_CHOICES]; // one for each choice; words[0] == NULL: the choices are numbers
} ck_parameter;

typedef enum ck_sum_order { CK_SUM_SEQUENTIAL, CK_SUM_TREE, CK_SUM_COMPENSATED, CK_SUM_NONE } ck_sum_order;

enum {                    // traits
    CK_DETERMINISTIC = 1, // the same bits in every run, for any order of threads and blocks
    CK_READS_CLOCK = 2,   // fills ck_context.clocks
    CK_HOST_FINISH = 4,   // leaves partial results for the host to add (or a kernel, if the result is on the device)
    CK_COOPERATIVE = 8,   // needs all its blocks to be resident at once
    CK_DETERMINISTIC_INTEGERS = 16, // deterministic for integer types only
    CK_FLUSHES_DENORMALS = 32,      // a GPU may replace denormal float32 results with zero
    CK_CUTS_INPUTS = 64,            // of float32 inputs 11 significant bits count (tf32): each loses less than 2^-10
};
enum { CK_ON_CUDA = 1, CK_ON_EMULATOR = 2 }; // backends

typedef struct ck_variant {
    const char *name;
    const char *after;            // the previous step; NULL: this is the first step of a ladder
    const char *summary;          // one line, for listings
    const char *lesson;           // the point that a student should remember
    const char *origin;           // document and step, paper, or library
    ck_types types[CK_MAX_TYPES]; // ends with input < 0 (TYPES_END)
    ck_parameter parameters[CK_MAX_PARAMETERS + 1];
    ck_sum_order sum_order;
    // The number of rounded additions on the longest path to a result: f(n) in the error bound c * f(n) * u.
    double (*depth)(const ck_call *call);
    unsigned traits;
    int capability;       // 75 means 7.5
    int capability_exact; // 1: exactly this capability; 0: this one or later
    unsigned backends;
    const char *kernels[CK_MAX_KERNELS]; // names as in the source; NULL ends the list
    const char *source;                  // relative to csrc/kernels
    ck_plan_of *plan;
    ck_run *run;
} ck_variant;

typedef struct ck_operation {
    int abi; // CK_ABI_VERSION, set by CK_OPERATION of table.h
    const char *name;
    const char *summary;
    int inputs, outputs;
    const ck_variant *variants;
    int variant_count;
    void (*work)(const ck_call *call, ck_work *work);
    // Adds the partial results on the host and writes the sum to *out. NULL: no variant has partial results.
    void (*finish_host)(const void *partials, int64_t count, const ck_types *types, void *out);
    // The same with a kernel that writes to the output view, for results that stay on the device. Not called for a
    // single partial result of the output's type, because context.partials is then the output itself.
    ck_run *finish_device;
} ck_operation;

#ifdef __cplusplus
}
#endif
#endif
