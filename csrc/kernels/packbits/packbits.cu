// packbits: packs flags into bits. The launches and the table of the ladder; each kernel is in a file of its own.
//
// Begin with global_memory.cuh and follow the table. Views: x, whose elements are flags (nonzero means 1), and the
// result, one byte per 8 flags.
#include "global_memory.cuh"
#include "register.cuh"
#include "unrolled.cuh"
#include "ballot.cuh"
#include "vectorized.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace packbits {
namespace {

enum { BIG, LITTLE }; // values of bitorder

int plan_for(const ck_call *call, ck_plan *plan, ck_error *error, int64_t blocks) {
    const int64_t bytes = divide_up(length(call), FLAGS_PER_BYTE), actual = elements_of(call->views[1]);
    if (actual != bytes)
        return ck_fail(error, CK_BAD_VALUE, "%lld flags need %lld bytes, but the result has %lld",
                       static_cast<long long>(length(call)), static_cast<long long>(bytes),
                       static_cast<long long>(actual));
    return plan_row(call, plan, error, blocks, call->parameters[1]);
}

int plan_word_a_thread(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_for(call, plan, error, divide_up(divide_up(length(call), FLAGS_PER_WORD), call->parameters[1]));
}
constexpr auto plan_global_memory = plan_word_a_thread, plan_register = plan_word_a_thread,
               plan_unrolled = plan_word_a_thread;

int plan_ballot(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t warps = divide_up(length(call), FLAGS_PER_WARP);
    return plan_for(call, plan, error, blocks_for_chip(call, product(warps, WARP), call->parameters[1]));
}

int plan_vectorized(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_for(call, plan, error,
                    blocks_for_chip(call, divide_up(length(call), WIDEST_ACCESS), call->parameters[1]));
}

// Whether an element is 0 depends only on its bits, so one kernel serves all types of the same size.
#define FLAGS_AND_BITS                                                                                               \
    input<T>(call, 0), output<uint8_t>(call), length(call), call->parameters[0] == BIG ? FLAGS_PER_BYTE - 1 : 0
RUN(global_memory, with_word, global_memory<T>, FLAGS_AND_BITS)
RUN_NAMED(register, "in_register", with_word, in_register<T>, FLAGS_AND_BITS) // `register` is a keyword
RUN(unrolled, with_word, unrolled<T>, FLAGS_AND_BITS)
RUN(ballot, with_word, ballot<T>, FLAGS_AND_BITS)
RUN(vectorized, with_only<uint8_t>, vectorized, FLAGS_AND_BITS)

void work(const ck_call *call, ck_work *work) {
    const int64_t n = length(call), bytes = static_cast<int64_t>(ck_dtype_size(call->types.input));
    work->flops = static_cast<double>(n);
    work->bytes =
        static_cast<double>(n) * static_cast<double>(bytes) + static_cast<double>(divide_up(n, FLAGS_PER_BYTE));
}

#define CK_FOLDER  "packbits/"
#define BYTE_TYPES WIDENED(BOOL, UINT8), SAME(UINT8), WIDENED(INT8, UINT8)
#define FLAG_TYPES                                                                                                   \
    TYPES(BYTE_TYPES, WIDENED(INT16, UINT8), WIDENED(UINT16, UINT8), WIDENED(INT32, UINT8), WIDENED(UINT32, UINT8),  \
          WIDENED(INT64, UINT8), WIDENED(UINT64, UINT8))
#define ORDER WORDS(bitorder, "the first flag is the highest or the lowest bit", "big", "little")

const ck_variant variants[] = {
    VARIANT(global_memory, FIRST, AT_LEAST(60), FLAG_TYPES, NONE, CK_DETERMINISTIC, PARAMETERS(ORDER, ANY_THREADS),
            exact, KERNELS("global_memory"), "32 flags per thread, packed in global memory",
            "Updating memory for every bit makes memory the limit", "M, registers, without its race"),
    VARIANT(register, AFTER(global_memory), AT_LEAST(60), FLAG_TYPES, NONE, CK_DETERMINISTIC,
            PARAMETERS(ORDER, ANY_THREADS), exact, KERNELS("in_register"), "Packed in a register and stored once",
            "Keep values that change often in registers", "M, registers"),
    VARIANT(unrolled, AFTER(register), AT_LEAST(60), FLAG_TYPES, NONE, CK_DETERMINISTIC,
            PARAMETERS(ORDER, ANY_THREADS), exact, KERNELS("unrolled"), "The loop over 32 flags unrolled",
            "An unrolled loop has no overhead, and its loads overlap", "M, registers, unrolled"),
    VARIANT(ballot, AFTER(unrolled), AT_LEAST(60), FLAG_TYPES, NONE, CK_DETERMINISTIC, PARAMETERS(ORDER, WHOLE_WARPS),
            exact, KERNELS("ballot"), "The warp votes: the result of __ballot_sync is the word",
            "A warp vote packs 32 flags in one instruction", "CUDA's programming guide"),
    VARIANT(vectorized, AFTER(ballot), AT_LEAST(60), TYPES(BYTE_TYPES), NONE, CK_DETERMINISTIC,
            PARAMETERS(ORDER, ANY_THREADS), exact, KERNELS("vectorized"), "16 flags per load",
            "Arithmetic on a word works on its bytes in parallel", "T6, P11: wide accesses"),
};

} // namespace
} // namespace packbits

CK_OPERATION(packbits, "Pack flags into the bits of bytes", 1, 1)
