// Every variant of every operation, without Python: for processors that the test suite itself cannot run on.
//
// It is built with a cross compiler, with the emulator's core, the runtime and the kernels in one program, and run
// under an emulator of that processor (.ci/record, step aarch64). Its one argument is a file of write_cases.py:
// inputs, and the results that the suite's own machine has for them. Integers must be the same; floating point too,
// but for what another order of additions and another library of functions may change. Prints a line a variant; exit
// status 1 if one is wrong.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "runtime/runtime.h"

extern const ck_set_table cudakern_set; // linked in, not loaded

enum { ARRAYS = 8, ORDERS = 3 };

typedef struct counts {
    int same, near, wrong;
} counts;

static void stop(const char *why) {
    fprintf(stderr, "the file of cases: %s\n", why);
    exit(2);
}

// --- one element ------------------------------------------------------------------------------------------------
// A half is 1 bit of sign, `exponent` bits and the fraction.
static double half_value(uint16_t bits, int exponent) {
    const int fraction = 15 - exponent, bias = (1 << (exponent - 1)) - 1;
    const int power = bits >> fraction & ((1 << exponent) - 1);
    const double tail = (bits & ((1 << fraction) - 1)) / (double)(1 << fraction), sign = bits >> 15 ? -1 : 1;
    if (power == (1 << exponent) - 1) return sign * (tail > 0 ? NAN : INFINITY);
    return sign * (power ? ldexp(1 + tail, power - bias) : ldexp(tail, 1 - bias));
}

// The i-th number; a complex one is two. `exact`: it may not differ at all.
static double number(int dtype, const void *data, size_t i, int *exact) {
    *exact = 0;
    switch (dtype) {
    case CK_FLOAT16: return half_value(((const uint16_t *)data)[i], 5);
    case CK_BFLOAT16: return half_value(((const uint16_t *)data)[i], 8);
    case CK_FLOAT32:
    case CK_COMPLEX64: return ((const float *)data)[i];
    case CK_FLOAT64:
    case CK_COMPLEX128: return ((const double *)data)[i];
    default: *exact = 1; return 0;
    }
}

// How far a result may be off, as a share of the largest one there: some dozen roundings of its type.
static double tolerance(int dtype) {
    switch (dtype) {
    case CK_FLOAT16: return 0x1p-8;
    case CK_BFLOAT16: return 0x1p-5;
    case CK_FLOAT32:
    case CK_COMPLEX64: return 0x1p-20;
    default: return 0x1p-49;
    }
}

static size_t count_of(const ck_view *view) {
    size_t count = 1;
    for (int axis = 0; axis < view->ndim; axis++) count *= (size_t)view->shape[axis];
    return count;
}

// 0: the same bits; 1: near enough; 2: wrong.
static int differs(const ck_view *got, const void *expected) {
    const size_t bytes = count_of(got) * ck_dtype_size(got->dtype);
    const size_t count = count_of(got) * (got->dtype == CK_COMPLEX64 || got->dtype == CK_COMPLEX128 ? 2 : 1);
    double largest = 0;
    int exact;
    if (memcmp(got->data, expected, bytes) == 0) return 0;
    for (size_t i = 0; i < count; i++) {
        const double value = fabs(number(got->dtype, expected, i, &exact));
        if (exact) return 2;
        if (isfinite(value) && value > largest) largest = value;
    }
    for (size_t i = 0; i < count; i++) {
        const double a = number(got->dtype, got->data, i, &exact), b = number(got->dtype, expected, i, &exact);
        if (isnan(a) != isnan(b) || isinf(a) != isinf(b)) return 2;
        if (isnan(a) || a == b) continue; // a NaN's sign is the processor's affair
        if (!(fabs(a - b) <= tolerance(got->dtype) * largest)) return 2;
    }
    return 1;
}

// --- one case ---------------------------------------------------------------------------------------------------
static int64_t read_number(FILE *file) {
    int64_t value;
    if (fscanf(file, "%" SCNd64, &value) != 1) stop("a number is missing");
    return value;
}

static ck_view read_array(FILE *file) {
    char name[32];
    if (fscanf(file, "%31s", name) != 1) stop("a type is missing");
    ck_view view = {.dtype = ck_dtype_from_name(name)};
    if (view.dtype < 0) stop(name);
    view.ndim = (int)read_number(file);
    if (view.ndim < 0 || view.ndim > CK_MAX_DIMS) stop("too many axes");
    for (int axis = 0; axis < view.ndim; axis++) view.shape[axis] = read_number(file);
    int64_t step = (int64_t)ck_dtype_size(view.dtype);
    for (int axis = view.ndim; axis-- > 0; step *= view.shape[axis]) view.strides[axis] = step;
    const size_t bytes = count_of(&view) * ck_dtype_size(view.dtype);
    view.data = malloc(bytes ? bytes : 1);
    if (!view.data) stop("no memory for an array");
    if (fgetc(file) != '\n' || fread(view.data, 1, bytes, file) != bytes) stop("an array is cut off");
    return view;
}

// Reads a case and runs it in each order. The worst difference there was.
static int try_case(ck_runtime *runtime, FILE *file, const ck_operation *operation, const ck_variant *variant) {
    static const char *const orders[ORDERS] = {"fixed", "reversed", "seed:5"};
    int64_t parameters[CK_MAX_PARAMETERS];
    const int64_t given = read_number(file);
    if (given < 0 || given > CK_MAX_PARAMETERS) stop("too many parameters");
    for (int i = 0; i < given; i++) parameters[i] = read_number(file);
    const int64_t arrays = read_number(file);
    if (arrays != operation->inputs + operation->outputs || arrays > ARRAYS) stop("not as many arrays as it takes");
    ck_view views[ARRAYS];
    void *expected[ARRAYS] = {0};
    for (int i = 0; i < arrays; i++) views[i] = read_array(file);
    for (int i = operation->inputs; i < arrays; i++) {
        expected[i] = views[i].data;
        const size_t bytes = count_of(&views[i]) * ck_dtype_size(views[i].dtype);
        if (!(views[i].data = malloc(bytes ? bytes : 1))) stop("no memory for a result");
    }
    const ck_request request = {.operation = operation,
                                .variant = variant,
                                .parameters = parameters,
                                .parameter_count = (int)given,
                                .views = views,
                                .view_count = (int)arrays};
    int worst = 0;
    for (int order = 0; order < ORDERS; order++) {
        ck_error error = {0};
        backend_configure("order", orders[order]);
        for (int i = operation->inputs; i < arrays; i++)
            memset(views[i].data, 0x5a, count_of(&views[i]) * ck_dtype_size(views[i].dtype));
        if (ck_execute(runtime, &request, &error) != CK_OK) {
            printf("%s %s: %s\n", operation->name, variant->name, error.message);
            worst = 2;
        } else
            for (int i = operation->inputs; i < arrays; i++) {
                const int found = differs(&views[i], expected[i]);
                if (found > worst) worst = found;
            }
    }
    for (int i = 0; i < arrays; i++) free(views[i].data), free(expected[i]);
    return worst;
}

static void tell(const ck_operation *operation, const ck_variant *variant, counts of_variant, counts *variants) {
    if (!variant) return;
    const char *verdict = of_variant.wrong ? "WRONG" : of_variant.near ? "near" : "same bits";
    of_variant.wrong ? variants->wrong++ : of_variant.near ? variants->near++ : variants->same++;
    printf("%-17s %-22s %-9s (%d cases the same, %d near, %d wrong)\n", operation->name, variant->name, verdict,
           of_variant.same, of_variant.near, of_variant.wrong);
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) stop("cannot be read");
    ck_runtime *runtime = ck_runtime_create();
    const ck_operation *operation = NULL;
    const ck_variant *entry = NULL;
    counts variants = {0}, of_variant = {0};
    int cases = 0;
    char name[64], variant[64];
    while (fscanf(file, "%63s %63s", name, variant) == 2) {
        if (!entry || strcmp(name, operation->name) != 0 || strcmp(variant, entry->name) != 0) {
            tell(operation, entry, of_variant, &variants);
            of_variant = (counts){0};
            operation = NULL;
            for (int i = 0; i < cudakern_set.operation_count; i++)
                if (strcmp(cudakern_set.operations[i]->name, name) == 0) operation = cudakern_set.operations[i];
            if (!operation) stop(name);
            ck_error error = {0};
            entry = ck_find_variant(operation, variant, &error);
            if (!entry) stop(error.message);
        }
        const int worst = try_case(runtime, file, operation, entry);
        worst == 2 ? of_variant.wrong++ : worst ? of_variant.near++ : of_variant.same++;
        cases++;
    }
    if (!feof(file)) stop("a case is cut off");
    tell(operation, entry, of_variant, &variants);
    fclose(file);
    ck_runtime_destroy(runtime);
    const int total = variants.same + variants.near + variants.wrong;
    printf("%d variants in %d cases and %d orders: %d with the same bits, %d near, %d wrong\n", total, cases, ORDERS,
           variants.same, variants.near, variants.wrong);
    return variants.wrong != 0 || total == 0;
}
