// Every row of the two operations whose results this file can compute itself, without Python: for processors that the test suite itself cannot run on. It is
// built with a cross compiler, with the emulator's core, the runtime and the kernels in one program, and run under an
// emulator of that processor (.ci/deep, step aarch64). Prints a line a row; exit status 1 if one is wrong.
//
// The other operations are named at the end: what they need of a processor, fibers, atomics and barriers, these two
// have as well.
//
// Inputs are small integers (0 and 1 where an element has fewer than 32 bits), so that every order of summation gives
// the same exact result in every type.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "runtime/runtime.h"

#define OPERATION(name) extern const ck_operation ck_operation_##name;
#include "operations.inc"
#undef OPERATION

// A half is 1 bit of sign, `exponent` bits and the fraction; here only 0 and normal numbers.
static double half_value(uint16_t bits, int exponent) {
    const int fraction = 15 - exponent, bias = (1 << (exponent - 1)) - 1;
    const double tail = (bits & ((1 << fraction) - 1)) / (double)(1 << fraction);
    return (bits & 0x7fff) == 0 ? 0 : ldexp(1 + tail, (bits >> fraction & ((1 << exponent) - 1)) - bias);
}

// Part 0 is a number, or the real part of one; part 1 the imaginary part.
static double get(const ck_view *view, int64_t i, int part) {
    switch (view->dtype) {
    case CK_BOOL:
    case CK_UINT8: return ((const uint8_t *)view->data)[i];
    case CK_INT8: return ((const int8_t *)view->data)[i];
    case CK_INT16: return ((const int16_t *)view->data)[i];
    case CK_UINT16: return ((const uint16_t *)view->data)[i];
    case CK_INT32: return ((const int32_t *)view->data)[i];
    case CK_UINT32: return ((const uint32_t *)view->data)[i];
    case CK_INT64: return (double)((const int64_t *)view->data)[i];
    case CK_UINT64: return (double)((const uint64_t *)view->data)[i];
    case CK_FLOAT16: return half_value(((const uint16_t *)view->data)[i], 5);
    case CK_BFLOAT16: return half_value(((const uint16_t *)view->data)[i], 8);
    case CK_FLOAT32: return ((const float *)view->data)[i];
    case CK_FLOAT64: return ((const double *)view->data)[i];
    case CK_COMPLEX64: return ((const float *)view->data)[2 * i + part];
    default: return ((const double *)view->data)[2 * i + part];
    }
}

static void put(const ck_view *view, int64_t i, int value) {
    switch (view->dtype) {
    case CK_BOOL:
    case CK_INT8:
    case CK_UINT8: ((uint8_t *)view->data)[i] = (uint8_t)value; break;
    case CK_INT16:
    case CK_UINT16: ((uint16_t *)view->data)[i] = (uint16_t)value; break;
    case CK_INT32:
    case CK_UINT32: ((uint32_t *)view->data)[i] = (uint32_t)value; break;
    case CK_INT64:
    case CK_UINT64: ((uint64_t *)view->data)[i] = (uint64_t)value; break;
    case CK_FLOAT16: ((uint16_t *)view->data)[i] = value ? 0x3c00 : 0; break; // 1
    case CK_BFLOAT16: ((uint16_t *)view->data)[i] = value ? 0x3f80 : 0; break;
    case CK_FLOAT32: ((float *)view->data)[i] = (float)value; break;
    case CK_FLOAT64: ((double *)view->data)[i] = value; break;
    case CK_COMPLEX64:
        ((float *)view->data)[2 * i] = (float)value;
        ((float *)view->data)[2 * i + 1] = (float)(value - 4);
        break;
    case CK_COMPLEX128:
        ((double *)view->data)[2 * i] = value;
        ((double *)view->data)[2 * i + 1] = value - 4;
        break;
    }
}

static ck_view make(int dtype, int ndim, int64_t rows, int64_t columns, int salt) {
    const int64_t item = (int64_t)ck_dtype_size(dtype), count = rows * columns;
    ck_view view = {.dtype = dtype, .ndim = ndim};
    view.data = calloc((size_t)(count ? count : 1), (size_t)item);
    if (ndim == 2) view.shape[0] = rows, view.strides[0] = columns * item;
    if (ndim > 0) view.shape[ndim - 1] = columns, view.strides[ndim - 1] = item;
    for (int64_t i = 0; salt && i < count; i++) put(&view, i, (int)((i * 7 + salt) % 10) % (item < 4 ? 2 : 10));
    return view;
}

// Whether element i of the result is the sum of the products that begin at these elements of a and b.
static int is_sum(const ck_view *result, int64_t i, const ck_view *a, int64_t at, int64_t a_step, const ck_view *b,
                  int64_t from, int64_t b_step, int64_t count) {
    const int is_complex = a->dtype == CK_COMPLEX64 || a->dtype == CK_COMPLEX128;
    double re = 0, im = 0;
    for (int64_t l = 0; l < count; l++, at += a_step, from += b_step) {
        const double x = get(a, at, 0), y = get(b, from, 0);
        re += x * y;
        if (!is_complex) continue;
        re -= get(a, at, 1) * get(b, from, 1);
        im += x * get(b, from, 1) + get(a, at, 1) * y;
    }
    if (result->dtype == CK_BOOL) return get(result, i, 0) == (re > 0);
    return get(result, i, 0) == re && (!is_complex || get(result, i, 1) == im);
}

// 0: right. n is the length of a sum, or the side of a product whose other sides are ragged.
static int try_row(ck_runtime *runtime, const ck_operation *operation, const ck_variant *row, const ck_types *types,
                   int64_t n) {
    const int product = strcmp(operation->name, "matmul") == 0;
    const int64_t m = n, k = n / 2 + 3, columns = n + 5;
    ck_view views[3];
    if (product) {
        views[0] = make(types->input, 2, m, k, 1);
        views[1] = make(types->input, 2, k, columns, 2);
        views[2] = make(types->output, 2, m, columns, 0);
    } else {
        views[0] = make(types->input, 1, 1, n, 3);
        views[1] = make(types->output, 0, 1, 1, 0);
    }
    ck_error error = {0};
    const ck_request request = {
        .operation = operation, .variant = row, .views = views, .view_count = operation->inputs + operation->outputs};
    int wrong = ck_execute(runtime, &request, &error) != CK_OK;
    if (wrong) printf("%s %s: %s\n", operation->name, row->name, error.message);
    for (int64_t i = 0; product && i < m; i++)
        for (int64_t j = 0; j < columns; j++)
            wrong |= !is_sum(&views[2], i * columns + j, &views[0], i * k, 1, &views[1], j, columns, k);
    if (!product) wrong |= !is_sum(&views[1], 0, &views[0], 0, 1, &views[0], 0, 1, n);
    for (int i = 0; i < request.view_count; i++) free(views[i].data);
    return wrong;
}

int main(void) {
    static const ck_operation *const operations[] = {
#define OPERATION(name) &ck_operation_##name,
#include "operations.inc"
    };
    static const char *const orders[] = {"fixed", "reversed", "seed:5"};
    ck_runtime *runtime = ck_runtime_create();
    int wrong = 0, right = 0;
    char others[600] = "";
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
        const char *name = operations[o]->name;
        if (strcmp(name, "matmul") != 0 && strcmp(name, "sum_of_squares") != 0) {
            const size_t used = strlen(others);
            snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", name);
            continue;
        }
        for (int v = 0; v < operations[o]->variant_count; v++) {
            const ck_variant *row = &operations[o]->variants[v];
            int failed = 0;
            if (!(row->backends & CK_ON_EMULATOR)) continue;
            for (size_t order = 0; order < 3; order++) {
                backend_configure("order", orders[order]);
                for (const ck_types *types = row->types; types->input >= 0; types++)
                    for (int64_t n = 0; n < 140; n = 2 * n + 9)
                        failed += try_row(runtime, operations[o], row, types, n);
            }
            printf("%-16s %-16s %s\n", operations[o]->name, row->name, failed ? "WRONG" : "right");
            failed ? wrong++ : right++;
        }
    }
    ck_runtime_destroy(runtime);
    printf("%d rows right, %d wrong; not tried: %s\n", right, wrong, others[0] ? others : "none");
    return wrong != 0;
}
