// sort: the elements of one row in NumPy's order. The launches and the table of the ladder; each kernel is in a file
// of its own.
//
// Read the files of ladder/ in their order. Views: the elements and the result, of equal length and contiguous.
// parts/keys.cuh describes the keys that are sorted.
#include "ladder/06_many_blocks.cuh"
#include "ladder/09_cub.cuh"
#include "library_sort.h"

#include <utility>

#include "launches/common.cuh"
#include "../table.h"

namespace sort {

ck_run run_radix_lists, run_merge_serial, run_merge_atomic_min, run_merge_reduction, run_merge_hybrid; // lists.cu
ck_plan_of plan_sample_sort_sequential, plan_sample_sort;                                              // samples.cu
ck_run run_sample_sort_sequential, run_sample_sort;

namespace {

// --- one block, one thread per list

// An upper bound of the shared memory that a merge uses in addition to the keys.
enum { MERGE_SHARED_BYTES = 4096 };

// copies: 1 for the keys themselves, and 1 for each work list.
int plan_lists(const ck_call *call, ck_plan *plan, ck_error *error, int copies) {
    CK_TRY(check_same_elements(call, error));
    CK_TRY(plan_row(call, plan, error, 1, call->parameters[0]));
    const int64_t bytes = product(length(call), copies * static_cast<int64_t>(sizeof(uint32_t)));
    if (call->parameters[1] == GLOBAL) {
        plan->workspace_bytes = static_cast<size_t>(bytes);
        return CK_OK;
    }
    const int64_t room = static_cast<int64_t>(call->limits->shared_per_block_optin) - MERGE_SHARED_BYTES;
    if (bytes > room)
        return ck_fail(
            error, CK_BAD_VALUE,
            "memory='shared': %lld keys and their work lists need %lld bytes, but a block on this device has only "
            "%lld bytes for them, enough for %lld keys. Use memory='global', which accepts any length",
            static_cast<long long>(length(call)), static_cast<long long>(bytes), static_cast<long long>(room),
            static_cast<long long>(room / copies / 4));
    plan->shared_bytes = static_cast<size_t>(bytes);
    return CK_OK;
}

int plan_radix_lists(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_lists(call, plan, error, 3);
}
int plan_merge_serial(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_lists(call, plan, error, 2);
}
constexpr auto plan_merge_atomic_min = plan_merge_serial, plan_merge_reduction = plan_merge_serial,
               plan_merge_hybrid = plan_merge_serial;

// --- many blocks, one piece per block

int plan_many_blocks(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(check_same_elements(call, error));
    const int64_t n = length(call), piece = call->parameters[1], pieces = divide_up(n, piece);
    CK_TRY(plan_row(call, plan, error, pieces, call->parameters[0]));
    plan->shared_bytes = 2 * static_cast<size_t>(piece) * sizeof(uint32_t);
    const int64_t buffers = smaller(pieces, 3) - 1;
    if (buffers > 0) plan->workspace_bytes = static_cast<size_t>(product(n, buffers * static_cast<int64_t>(4)));
    return CK_OK;
}

template <typename T>
int enqueue_many_blocks(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    const int64_t n = length(call), piece = call->parameters[1];
    const dim3 grid = ck_dim3(plan->grid), block = ck_dim3(plan->block);
    if (n <= piece)
        return ck_launch(context, error, "many_blocks", many_blocks<T, T>, grid, block, plan->shared_bytes,
                         input<T>(call, 0), output<T>(call), n, piece);
    uint32_t *from = static_cast<uint32_t *>(context->workspace), *to = from + n;
    CK_TRY(ck_launch(context, error, "many_blocks", many_blocks<T, uint32_t>, grid, block, plan->shared_bytes,
                     input<T>(call, 0), from, n, piece));
    const dim3 mergers(static_cast<unsigned>(divide_up(n, MERGE_THREADS * KEYS_A_MERGER))), threads(MERGE_THREADS);
    int64_t width = piece;
    for (; 2 * width < n; width *= 2) {
        CK_TRY(
            ck_launch(context, error, "merge_runs", merge_runs<uint32_t>, mergers, threads, 0, from, to, n, width));
        std::swap(from, to);
    }
    return ck_launch(context, error, "merge_runs", merge_runs<T>, mergers, threads, 0, from, output<T>(call), n,
                     width);
}

CK_RUN(many_blocks) {
    return with_key_type(call, error, [&](auto element) {
        return enqueue_many_blocks<decltype(element)>(call, plan, context, error);
    });
}

// --- the sort of the CUDA Toolkit

library_keys library_type(const ck_call *call) {
    return call->types.input == CK_UINT32  ? LIBRARY_UINT32
           : call->types.input == CK_INT32 ? LIBRARY_INT32
                                           : LIBRARY_FLOAT32;
}

template <typename Code> int library_failed(Code code, ck_error *error) {
    return code == 0 ? static_cast<int>(CK_OK) : ck_fail_cuda(error, code, "cub::DeviceRadixSort::SortKeys");
}

// The workspace holds the number of negative NaNs and then the library's temporary memory. After the library's sort,
// the temporary memory is reused as a buffer for the rotated floats.
enum { LIBRARY_ALIGNED = 256 };

int plan_cub(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(check_same_elements(call, error));
    const int64_t n = length(call), elements = product(n, sizeof(float));
    CK_TRY(plan_row(call, plan, error, blocks_for_chip(call, n, ROTATE_THREADS), ROTATE_THREADS));
    size_t bytes = 0;
    CK_TRY(library_failed(library_sort_bytes(library_type(call), n, &bytes), error));
    if (bytes < static_cast<size_t>(elements)) bytes = static_cast<size_t>(elements);
    plan->workspace_bytes = LIBRARY_ALIGNED + bytes;
    return CK_OK;
}

CK_RUN(cub) {
    const int64_t n = length(call);
    if (n == 0) return CK_OK;
    auto *const count = static_cast<int64_t *>(context->workspace);
    char *const temporary = static_cast<char *>(context->workspace) + LIBRARY_ALIGNED;
    const dim3 grid = ck_dim3(plan->grid), block = ck_dim3(plan->block);
    CK_TRY(ck_launch_library(context, error, "cub::DeviceRadixSort::SortKeys", grid, block, [&](cudaStream_t stream) {
        return library_sort(library_type(call), n, call->views[0].data, call->views[1].data, temporary,
                            plan->workspace_bytes - LIBRARY_ALIGNED, stream);
    }));
    if (call->types.input != CK_FLOAT32) return CK_OK;
    float *const sorted = output<float>(call), *const turned = reinterpret_cast<float *>(temporary);
    CK_TRY(
        ck_launch(context, error, "count_negative_nans", count_negative_nans, dim3(1), dim3(1), 0, sorted, n, count));
    CK_TRY(ck_launch(context, error, "rotate", rotate, grid, block, 0, sorted, turned, n, count));
    return ck_launch(context, error, "rotate_back", rotate_back, grid, block, 0, turned, sorted, n, count);
}

void work(const ck_call *call, ck_work *work) {
    work->flops = 0;
    work->bytes = 2 * static_cast<double>(length(call)) * static_cast<double>(ck_dtype_size(call->types.input));
}

// --- the table

#define CK_FOLDER "sort/"
#define KEY_TYPES TYPES(SAME(UINT32), SAME(INT32), F32_F32_F32)
#define LISTS(fallback)                                                                                              \
    PARAMETERS(RANGE(lists, "lists, one per thread", fallback, 1, MOST_LISTS),                                       \
               WORDS(memory, "memory for the keys and the work lists", "global", "shared"))
#define BINS           CHOICE(bins, "bins per level, 0: chosen from the length", 0, 4, 16, 64, 256, 512)
#define SAMPLE_KERNELS KERNELS("select_samples", "sort_samples", "count_bins", "scan_bins", "scatter", "sort_bins")

const ck_variant variants[] = {
    RUNG(01, radix_lists, FIRST, AT_LEAST(60), KEY_TYPES, NONE, CK_DETERMINISTIC, LISTS(8), exact,
         KERNELS("radix_lists"), "Each thread radix-sorts one list; one thread merges the lists",
         "A radix sort takes the same steps for all keys, so warps do not diverge",
         "M, sorting with shared memory, tables 6.6 and 6.8"),
    RUNG(02, merge_serial, AFTER(radix_lists), AT_LEAST(60), KEY_TYPES, NONE, CK_DETERMINISTIC, LISTS(8), exact,
         KERNELS("merge_serial"), "One work list per thread instead of two",
         "Halving the work memory saves a fifth of the time; the merge determines the best number of lists",
         "M, tables 6.7 and 6.8"),
    RUNG(03, merge_atomic_min, AFTER(merge_serial), AT_LEAST(60), KEY_TYPES, NONE, CK_DETERMINISTIC, LISTS(16), exact,
         KERNELS("merge_atomic_min"), "One thread per list: atomicMin finds the smallest first key",
         "Threads can agree on one key with an atomic minimum and a barrier", "M, table 6.10"),
    RUNG(04, merge_reduction, AFTER(merge_atomic_min), AT_LEAST(60), KEY_TYPES, NONE, CK_DETERMINISTIC, LISTS(16),
         exact, KERNELS("merge_reduction"),
         "A tree reduction finds the smallest first key: slower than atomicMin for few lists",
         "A tree has log2(n) steps with a barrier in each; for few lists that costs more than atomics",
         "M, table 6.11"),
    RUNG(05, merge_hybrid, AFTER(merge_reduction), AT_LEAST(60), KEY_TYPES, NONE, CK_DETERMINISTIC, LISTS(64), exact,
         KERNELS("merge_hybrid"), "Atomics within groups of 8 lists, then across the groups",
         "Two short steps can beat both one long step and many small ones", "M, table 6.12"),
    RUNG(06, many_blocks, AFTER(merge_hybrid), AT_LEAST(60), KEY_TYPES, NONE, CK_DETERMINISTIC,
         PARAMETERS(RANGE(lists, "lists per block, one per thread", 64, 1, MOST_LISTS),
                    CHOICE(piece, "keys per block", 1024, 256, 512, 2048, 4096)),
         exact, KERNELS("many_blocks", "merge_runs"),
         "Many blocks sort pieces, and further launches merge them in parallel",
         "A merge can be split into equal parts: a binary search finds where each part begins",
         "M, global memory-based sorting; the tables there stop at one block"),
    RUNG(07, sample_sort_sequential, AFTER(many_blocks), AT_LEAST(70), KEY_TYPES, NONE, CK_DETERMINISTIC,
         PARAMETERS(BINS), exact, SAMPLE_KERNELS,
         "Sample sort, one block per bin: sequential search among the splitters takes most of the time",
         "Partition by value first, and no merge is needed", "M, sample sort (sequential search)"),
    RUNG(08, sample_sort, AFTER(sample_sort_sequential), AT_LEAST(70), KEY_TYPES, NONE, CK_DETERMINISTIC,
         PARAMETERS(BINS), exact, SAMPLE_KERNELS, "Sample sort with a branch-free binary search",
         "The layout of a table in memory is part of the search", "M, sample sort (binary search)"),
    LIBRARY_RUNG(09, cub, AFTER(sample_sort), AT_LEAST(60), KEY_TYPES, NONE, CK_DETERMINISTIC, NO_PARAMETERS, exact,
                 KERNELS("count_negative_nans", "rotate", "rotate_back"),
                 "The radix sort of CUB, which comes with the CUDA Toolkit",
                 "Before you write a fast sort, measure the library's", "M itself refers to a library"),
};

} // namespace
} // namespace sort

CK_OPERATION(sort, "Sort in ascending order", 1, 1)
