// Every row of every operation, without Python: for processors that the test suite itself cannot run on. It is
// built with a cross compiler, with the emulator's core, the runtime and the kernels in one program, and run under an
// emulator of that processor (.ci/deep, step aarch64). Prints a line a row; exit status 1 if one is wrong.
//
// Inputs are small integers, so that every order of summation gives the same exact result in every type.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "runtime/runtime.h"

#define OPERATION(name) extern const ck_operation ck_operation_##name;
#include "operations.inc"
#undef OPERATION

static double get(const ck_view *view, int64_t i) {
    switch (view->dtype) {
    case CK_INT32: return ((const int32_t *)view->data)[i];
    case CK_INT64: return (double)((const int64_t *)view->data)[i];
    case CK_FLOAT32: return ((const float *)view->data)[i];
    default: return ((const double *)view->data)[i];
    }
}

static void put(const ck_view *view, int64_t i, double value) {
    switch (view->dtype) {
    case CK_INT32: ((int32_t *)view->data)[i] = (int32_t)value; break;
    case CK_INT64: ((int64_t *)view->data)[i] = (int64_t)value; break;
    case CK_FLOAT32: ((float *)view->data)[i] = (float)value; break;
    default: ((double *)view->data)[i] = value;
    }
}

static ck_view make(int dtype, int ndim, int64_t rows, int64_t columns, int salt) {
    const int64_t item = (int64_t)ck_dtype_size(dtype), count = rows * columns;
    ck_view view = {.dtype = dtype, .ndim = ndim};
    view.data = calloc((size_t)(count ? count : 1), (size_t)item);
    if (ndim == 2) view.shape[0] = rows, view.strides[0] = columns * item;
    if (ndim > 0) view.shape[ndim - 1] = columns, view.strides[ndim - 1] = item;
    for (int64_t i = 0; salt && i < count; i++) put(&view, i, (double)((i * 7 + salt) % 10));
    return view;
}

static int never(void *unused) {
    (void)unused;
    return 0;
}

// 0: right. n is the length of a sum, or the side of a product whose other sides are ragged.
static int try_row(ck_runtime *runtime, const ck_operation *operation, const ck_variant *row, const ck_types *types,
                   int64_t n) {
    const int product = operation->inputs == 2;
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
    const ck_request request = {.operation = operation,
                                .variant = row,
                                .views = views,
                                .view_count = operation->inputs + operation->outputs,
                                .interrupted = never};
    int wrong = ck_execute(runtime, &request, &error) != CK_OK;
    if (wrong) printf("%s %s: %s\n", operation->name, row->name, error.message);
    if (product) {
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < columns; j++) {
                double sum = 0;
                for (int64_t l = 0; l < k; l++) sum += get(&views[0], i * k + l) * get(&views[1], l * columns + j);
                wrong |= get(&views[2], i * columns + j) != sum;
            }
    } else {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += get(&views[0], i) * get(&views[0], i);
        wrong |= get(&views[1], 0) != sum;
    }
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
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
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
    ck_runtime_destroy(runtime);
    printf("%d rows right, %d wrong\n", right, wrong);
    return wrong != 0;
}
