// matmul: C = A * B for two matrices. The launches and the table of the ladders; a kernel is in a file of its own.
//
// Begin with naive.cuh and follow the table. Views: A is m x k, B is k x n, C is m x n; rows contiguous, any distance
// from row to row.
#include <type_traits>

#include "naive.cuh"
#include "kahan.cuh"
#include "shared_row.cuh"
#include "pitched.cuh"
#include "tiled.cuh"
#include "tiled_padded.cuh"
#include "naive_2d.cuh"
#include "tiled_plain.cuh"

#include "../launch.cuh"
#include "../sizes.h"
#include "../table.h"

namespace matmul {
namespace {

// --- types and tile widths: the one place where they become C++ ones

// A row that lists a type or a width which is not here fails its first call with it.
template <typename Visit> int with_type(const ck_call *call, ck_error *error, Visit visit) {
    const ck_types types = call->types;
    if (types.input == types.accumulator && types.input == types.output) switch (types.input) {
        case CK_FLOAT32: return visit(float{});
        case CK_FLOAT64: return visit(double{});
        }
    return ck_fail(error, CK_BAD_TYPE, "matmul",
                   "no kernel for input %s with accumulator %s; there are float32 and float64",
                   ck_dtype_name(types.input), ck_dtype_name(types.accumulator));
}

template <typename Visit> int with_type_and_tile(const ck_call *call, ck_error *error, Visit visit) {
    return with_type(call, error, [&](auto type) {
        switch (call->parameters[0]) {
        case 8: return visit(type, std::integral_constant<int, 8>{});
        case 16: return visit(type, std::integral_constant<int, 16>{});
        case 32: return visit(type, std::integral_constant<int, 32>{});
        }
        return ck_fail(error, CK_BAD_VALUE, "matmul", "tile=%lld: there are 8, 16 and 32",
                       static_cast<long long>(call->parameters[0]));
    });
}

// --- sizes

int64_t rows(const ck_call *call) {
    return call->views[0].shape[0];
}
int64_t inner(const ck_call *call) {
    return call->views[0].shape[1];
}
int64_t columns(const ck_call *call) {
    return call->views[1].shape[1];
}
bool empty(const ck_call *call) {
    return rows(call) == 0 || columns(call) == 0;
}

// Elements from one row to the next.
template <typename T> int64_t leading(const ck_view &view) {
    return view.strides[0] / static_cast<int64_t>(sizeof(T));
}

// --- plans

// An empty C launches nothing; its plan still names one block, for reports.
int plan_grid(const ck_call *call, ck_plan *plan, ck_error *error, int64_t grid_x, int64_t grid_y, int block_x,
              int block_y) {
    *plan = ck_plan{};
    const ck_view &a = call->views[0], &b = call->views[1], &c = call->views[2];
    if (a.ndim != 2 || b.ndim != 2 || c.ndim != 2 || a.shape[1] != b.shape[0] || c.shape[0] != a.shape[0] ||
        c.shape[1] != b.shape[1])
        return ck_fail(error, CK_BAD_VALUE, "matmul", "the shapes do not fit: (m, k) by (k, n) gives (m, n)");
    if (empty(call)) grid_x = grid_y = 1;
    if (grid_x > call->limits->max_grid[0])
        return ck_fail(error, CK_BAD_VALUE, "matmul",
                       "a %lld x %lld result needs a grid of %lld blocks in x; this device allows %lld",
                       static_cast<long long>(rows(call)), static_cast<long long>(columns(call)),
                       static_cast<long long>(grid_x), static_cast<long long>(call->limits->max_grid[0]));
    plan->grid[0] = static_cast<unsigned>(grid_x);
    plan->grid[1] = static_cast<unsigned>(smaller(grid_y, call->limits->max_grid[1]));
    plan->grid[2] = 1;
    plan->block[0] = static_cast<unsigned>(block_x);
    plan->block[1] = static_cast<unsigned>(block_y);
    plan->block[2] = 1;
    return CK_OK;
}

int plan_naive(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_grid(call, plan, error, divide_up(product(rows(call), columns(call)), FLAT_THREADS), 1, FLAT_THREADS,
                     1);
}
constexpr auto plan_kahan = plan_naive;

// Elements of a row of A that a block keeps at a time.
int64_t row_segment(const ck_call *call) {
    const int64_t room = static_cast<int64_t>(call->limits->shared_per_block / ck_dtype_size(call->types.input));
    return smaller(inner(call), room);
}

int plan_shared_row(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_grid(call, plan, error, rows(call), 1, ROW_THREADS, 1));
    // Whole 16-byte units: nvcc reads the row four words at a time, also where fewer are left of it.
    const int64_t bytes = row_segment(call) * static_cast<int64_t>(ck_dtype_size(call->types.input));
    plan->shared_bytes = static_cast<size_t>(divide_up(bytes, 16) * 16);
    return CK_OK;
}

int plan_pitched(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_shared_row(call, plan, error));
    pad_rows_to_the_pitch(plan);
    return CK_OK;
}

int plan_squares(const ck_call *call, ck_plan *plan, ck_error *error, int side) {
    return plan_grid(call, plan, error, divide_up(columns(call), side), divide_up(rows(call), side), side, side);
}
int plan_tiled(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_squares(call, plan, error, static_cast<int>(call->parameters[0]));
}
constexpr auto plan_tiled_plain = plan_tiled;

int plan_tiled_padded(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_tiled(call, plan, error));
    for (int view = 0; view < 3; ++view)
        plan->layout[view].row_multiple = plan->layout[view].column_multiple = static_cast<int>(call->parameters[0]);
    return CK_OK;
}

int plan_naive_2d(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_squares(call, plan, error, SQUARE);
}

// --- runs

// The six arguments that all kernels begin with, then their own.
template <typename T, typename Kernel, typename... Sizes>
int launch(Kernel kernel, const char *name, const ck_call *call, const ck_plan *plan, const ck_context *context,
           ck_error *error, Sizes... sizes) {
    if (empty(call)) return CK_OK;
    const ck_view &a = call->views[0], &b = call->views[1], &c = call->views[2];
    return ck_launch(context, error, name, kernel, ck_dim3(plan->grid), ck_dim3(plan->block), plan->shared_bytes,
                     static_cast<const T *>(a.data), leading<T>(a), static_cast<const T *>(b.data), leading<T>(b),
                     static_cast<T *>(c.data), leading<T>(c), sizes...);
}

#define RUN_FLAT(name)                                                                                               \
    int run_##name(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {           \
        return with_type(call, error, [&](auto type) {                                                               \
            using T = decltype(type);                                                                                \
            return launch<T>(name<T>, #name, call, plan, context, error, rows(call), columns(call), inner(call));    \
        });                                                                                                          \
    }
RUN_FLAT(naive)
RUN_FLAT(kahan)
RUN_FLAT(naive_2d)

#define RUN_TILED(name)                                                                                              \
    int run_##name(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {           \
        return with_type_and_tile(call, error, [&](auto type, auto tile) {                                           \
            using T = decltype(type);                                                                                \
            return launch<T>(name<T, decltype(tile)::value>, #name, call, plan, context, error, rows(call),          \
                             columns(call), inner(call));                                                            \
        });                                                                                                          \
    }
RUN_TILED(tiled)
RUN_TILED(tiled_plain)

int run_tiled_padded(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return with_type_and_tile(call, error, [&](auto type, auto tile) {
        using T = decltype(type);
        constexpr int TILE = decltype(tile)::value;
        return launch<T>(tiled_padded<T, TILE>, "tiled_padded", call, plan, context, error,
                         divide_up(rows(call), TILE) * TILE, divide_up(inner(call), TILE) * TILE);
    });
}

int run_shared_row(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return with_type(call, error, [&](auto type) {
        using T = decltype(type);
        const int segment = static_cast<int>(row_segment(call));
        return launch<T>(shared_row<T>, "shared_row", call, plan, context, error, columns(call), inner(call),
                         segment);
    });
}
constexpr auto run_pitched = run_shared_row; // the layout came with the plan

// --- error depth and work

double depth_in_a_row(const ck_call *call) {
    return inner(call) > 0 ? static_cast<double>(inner(call)) : 1;
}
double depth_compensated(const ck_call *) {
    return 2;
}

void work(const ck_call *call, ck_work *work) {
    const double m = static_cast<double>(rows(call)), n = static_cast<double>(columns(call));
    const double k = static_cast<double>(inner(call));
    work->flops = 2 * m * n * k;
    work->bytes = (m * k + k * n) * static_cast<double>(ck_dtype_size(call->types.input)) +
                  m * n * static_cast<double>(ck_dtype_size(call->types.output));
}

// --- the table

#define CK_FOLDER  "matmul/"
#define BOTH_TYPES TYPES(F32_F32_F32, F64_F64_F64)
#define TILE_WIDTH PARAMETERS(CHOICE(tile, "elements a side of a tile", 16, 8, 32))

// What NumPy multiplies by itself: every type in its own, integers modulo their size.
// clang-format off
#define SAME(type) {CK_##type, CK_##type, CK_##type}
// clang-format on
#define NUMPY_TYPES                                                                                                  \
    TYPES(F32_F32_F32, F64_F64_F64, SAME(BOOL), SAME(INT8), SAME(UINT8), SAME(INT16), SAME(UINT16), SAME(INT32),     \
          SAME(UINT32), SAME(INT64), SAME(UINT64), SAME(FLOAT16), SAME(COMPLEX64), SAME(COMPLEX128))

const ck_variant variants[] = {
    HOST_VARIANT(numpy, NUMPY_TYPES, SEQUENTIAL, CK_DETERMINISTIC, depth_in_a_row, "matmul/matmul.cu",
                 "NumPy's own product, on the host",
                 "A tuned library uses caches and vector units of the CPU as well", "the reference of T5"),
    VARIANT(naive, FIRST, AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS, depth_in_a_row,
            KERNELS("naive"), "A thread an element", "The outer loops become threads", "T5, step 1"),
    VARIANT(kahan, AFTER(naive), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_compensated, KERNELS("kahan"), "Compensated summation",
            "Arithmetic is cheap while loads are the limit: some of it buys accuracy", "T5, step 2"),
    VARIANT(shared_row, AFTER(kahan), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_compensated, KERNELS("shared_row"), "A block a row of A, kept in shared memory",
            "Load once what a whole block uses", "T5, step 3"),
    VARIANT(pitched, AFTER(shared_row), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, NO_PARAMETERS,
            depth_compensated, KERNELS("shared_row"), "Rows padded to the device's pitch",
            "Begin rows where memory segments begin", "T5, step 4"),
    VARIANT(tiled, AFTER(pitched), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, TILE_WIDTH,
            depth_compensated, KERNELS("tiled"), "Tiles of A and B shared by a block", "Fetch once, use TILE times",
            "T5, step 5"),
    VARIANT(tiled_padded, AFTER(tiled), AT_LEAST(60), BOTH_TYPES, COMPENSATED, CK_DETERMINISTIC, TILE_WIDTH,
            depth_compensated, KERNELS("tiled_padded"), "Operands padded to whole tiles",
            "Settle the edges in the data, not in the inner loop", "T5, step 6"),
    VARIANT(naive_2d, FIRST, AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS, depth_in_a_row,
            KERNELS("naive_2d"), "A thread an element, in square blocks", "Let the grid have the shape of the data",
            "P8"),
    VARIANT(tiled_plain, AFTER(naive_2d), AT_LEAST(60), BOTH_TYPES, SEQUENTIAL, CK_DETERMINISTIC, TILE_WIDTH,
            depth_in_a_row, KERNELS("tiled_plain"), "Tiles, with a plain sum",
            "What compensation costs, and what it buys", "P10"),
};

} // namespace
} // namespace matmul

extern "C" {
extern const ck_operation ck_operation_matmul;
const ck_operation ck_operation_matmul = {
    "matmul",
    "The product of two matrices",
    2,
    1,
    matmul::variants,
    ck_length_of(matmul::variants),
    matmul::work,
    NULL,
    NULL,
};
}
