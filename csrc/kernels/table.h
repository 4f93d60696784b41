// The macros that a variant table is written with. An entry reads
//
//     VARIANT(tiled, AFTER(pitched), AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), COMPENSATED, CK_DETERMINISTIC,
//             PARAMETERS(CHOICE(tile, "elements per side", 16, 8, 32)), depth_compensated, KERNELS("tiled"),
//             "Each block shares tiles of A and B",          // summary, for listings
//             "Fetch each value once and use it TILE times", // lesson: what a student should remember
//             "T5, step 5"),                                 // origin
//
// and refers to its functions by name: plan_tiled and run_tiled. Its source is CK_FOLDER "tiled.cuh"; a table defines
// CK_FOLDER first. A long ladder has a folder for its rungs, whose files are numbered in the order of the table: for
// these, write RUNG(05, tiled, AFTER(pitched), ...), whose source is CK_FOLDER "ladder/05_tiled.cuh". LIBRARY_RUNG is
// for the libraries of the toolkit. NumPy's variants, which have no kernel, are in cudakern/calls/numpy_variants.py.
#ifndef CK_TABLE_H
#define CK_TABLE_H

#include "variant.h"

#define AFTER(name) #name
#define FIRST       NULL // the first step of a ladder

#define AT_LEAST(capability) capability, 0
#define EXACTLY(capability)  capability, 1 // for code that no other chip can run

// The formatter mistakes braces in macros for blocks of code.
// clang-format off
#define TYPES_END   {-1, -1, -1}
#define TYPES(...)  {__VA_ARGS__, TYPES_END}
// SAME: one type throughout. WIDENED: the sum and the result are wider than the input. ROUNDED: the sum is wider, and
// the result has the type of the input.
#define SAME(type)          {CK_##type, CK_##type, CK_##type}
#define WIDENED(type, wide) {CK_##type, CK_##wide, CK_##wide}
#define ROUNDED(type, wide) {CK_##type, CK_##wide, CK_##type}
#define F32_F32_F32 {CK_FLOAT32, CK_FLOAT32, CK_FLOAT32}
#define F64_F64_F64 {CK_FLOAT64, CK_FLOAT64, CK_FLOAT64}
#define I32_I64_I64 {CK_INT32, CK_INT64, CK_INT64}
#define I64_I64_I64 {CK_INT64, CK_INT64, CK_INT64}

// For use inside TYPES(...): each type computes in itself, except the half types, which compute in float32.
#define INTEGER_TYPES                                                                                                \
    SAME(INT8), SAME(UINT8), SAME(INT16), SAME(UINT16), SAME(INT32), SAME(UINT32), SAME(INT64), SAME(UINT64)
#define ALL_TYPES                                                                                                    \
    F32_F32_F32, F64_F64_F64, SAME(BOOL), INTEGER_TYPES, ROUNDED(FLOAT16, FLOAT32), ROUNDED(BFLOAT16, FLOAT32),      \
        SAME(COMPLEX64), SAME(COMPLEX128)

#define PARAMETERS_END  {NULL, 0, {0}, 0, 0, 0, 0, NULL, {NULL}}
#define PARAMETERS(...) {__VA_ARGS__, PARAMETERS_END}
#define NO_PARAMETERS   {PARAMETERS_END}
// CHOICE(name, unit, default, other choices...), RANGE(name, unit, default, lowest, highest), and
// WORDS(name, unit, "default word", "other words"...), whose values are 0, 1, 2, ...
#define CHOICE(name, unit, ...)                                                                                      \
    {#name, ck_first_of(__VA_ARGS__), {__VA_ARGS__}, static_cast<int>(ck_count_of(__VA_ARGS__)), 0, 0, 0, unit, {NULL}}
#define RANGE(name, unit, fallback, low, high) {#name, fallback, {0}, 0, low, high, 1, unit, {NULL}}
#define WORDS(name, unit, ...)                                                                                       \
    {#name, 0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, static_cast<int>(ck_count_of(__VA_ARGS__)), 0, 0, 0, unit,    \
     {__VA_ARGS__}}

// The parameter that most kernels have: a block of any size, or a block of whole warps.
#define ANY_THREADS RANGE(threads, "threads per block", 256, 1, 1024)
#define WHOLE_WARPS CHOICE(threads, "threads per block", 256, 32, 64, 128, 512, 1024)

#define KERNELS(...) {__VA_ARGS__, NULL}

#define VARIANT(name, after, capability, types, order, traits, parameters, depth, kernels, summary, lesson, origin)  \
    {#name, after, summary, lesson, origin, types, parameters, CK_SUM_##order, depth, traits, capability,            \
     CK_ON_CUDA | CK_ON_EMULATOR, kernels, CK_FOLDER #name ".cuh", plan_##name, run_##name}

#define RUNG(number, name, after, capability, types, order, traits, parameters, depth, kernels, summary, lesson,     \
             origin)                                                                                                 \
    {#name, after, summary, lesson, origin, types, parameters, CK_SUM_##order, depth, traits, capability,            \
     CK_ON_CUDA | CK_ON_EMULATOR, kernels, CK_FOLDER "ladder/" #number "_" #name ".cuh", plan_##name, run_##name}

// A variant that calls a library of the CUDA Toolkit. Only nvcc can build it, so the call is below the seam, in
// csrc/gpu.
#define LIBRARY_RUNG(number, name, after, capability, types, order, traits, parameters, depth, kernels, summary,     \
                     lesson, origin)                                                                                 \
    {#name, after, summary, lesson, origin, types, parameters, CK_SUM_##order, depth, traits, capability,            \
     CK_ON_CUDA, kernels, CK_FOLDER "ladder/" #number "_" #name ".cuh", plan_##name, run_##name}

// The end of an operation's file, which defines `variants` and `work` in a namespace with the operation's name.
// CK_OPERATION_WITH is for another namespace (`where`) and for functions that add partial results.
#define CK_OPERATION(name, summary, inputs, outputs)                                                                 \
    CK_OPERATION_WITH(name, summary, inputs, outputs, name, NULL, NULL)
#define CK_OPERATION_WITH(name, summary, inputs, outputs, where, finish_host, finish_device)                         \
    extern "C" {                                                                                                     \
    extern const ck_operation ck_operation_##name;                                                                   \
    const ck_operation ck_operation_##name = {CK_ABI_VERSION, #name, summary, inputs, outputs, where::variants,      \
                                              ck_length_of(where::variants), where::work, finish_host,               \
                                              finish_device};                                                        \
    }
// clang-format on

// Error depths that are the same for every call.
inline double exact(const ck_call *) {
    return 0;
}
template <int COUNT> double roundings(const ck_call *) {
    return COUNT;
}

template <typename... Values> constexpr int64_t ck_first_of(int64_t first, Values...) {
    return first;
}
template <typename... Values> constexpr size_t ck_count_of(Values...) {
    return sizeof...(Values);
}

template <typename T, size_t N> constexpr int ck_length_of(const T (&)[N]) {
    return static_cast<int>(N);
}

#endif
