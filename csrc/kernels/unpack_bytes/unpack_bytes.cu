// unpack_bytes: converts bytes to floats. The launches and the table. Views: the bytes, and as many floats.
#include "bytes.cuh"
#include "words.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace unpack_bytes {
namespace {

int plan_each(const ck_call *call, ck_plan *plan, ck_error *error, int64_t width) {
    CK_TRY(check_same_elements(call, error));
    const int64_t n = elements_of(call->views[0]), threads = call->parameters[0];
    return plan_row(call, plan, error, divide_up(divide_up(n, width), threads), threads);
}

int plan_bytes(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_each(call, plan, error, 1);
}

int plan_words(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_each(call, plan, error, 4);
}

RUN(bytes, with_only<uint8_t>, bytes, input<T>(call, 0), output<float>(call), length(call))
RUN(words, with_only<uint8_t>, words, input<T>(call, 0), output<float>(call), length(call))

void work(const ck_call *call, ck_work *work) {
    work->flops = 0;
    work->bytes = 5 * static_cast<double>(elements_of(call->views[0]));
}

#define CK_FOLDER "unpack_bytes/"
#define KINDS     TYPES(WIDENED(UINT8, FLOAT32))

const ck_variant variants[] = {
    VARIANT(bytes, FIRST, AT_LEAST(60), KINDS, NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS), exact,
            KERNELS("bytes"), "Each thread reads one byte",
            "A warp that reads bytes fetches only 32 bytes per request", "M"),
    VARIANT(words, AFTER(bytes), AT_LEAST(60), KINDS, NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS), exact,
            KERNELS("words"), "Each thread reads a word and extracts its four bytes",
            "The same bytes with a quarter of the requests", "M"),
};

} // namespace
} // namespace unpack_bytes

CK_OPERATION(unpack_bytes, "Convert bytes to floats", 1, 1)
