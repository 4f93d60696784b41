// matmul: C = A * B for two matrices, or for stacks of them. The launches and the table of the ladders; a kernel is in
// a file of its own.
//
// Begin with naive.cuh and follow the table. Views: the last two axes are the matrices, A is m x k, B is k x n, C is
// m x n; those before them are the stack's, as long in each view (a broadcast one has stride 0). Any strides.
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

// --- sizes

// Axes are counted from the end: 1 and 2 are the matrix, the stack begins at 3. A question about a row of the table
// may come with vectors, or with stacks that are not broadcast yet.
int64_t length(const ck_view &view, int axis) {
    return axis <= view.ndim ? view.shape[view.ndim - axis] : 1;
}
int64_t stride(const ck_view &view, int axis) {
    return view.strides[view.ndim - axis];
}

int64_t rows(const ck_call *call) {
    return length(call->views[0], 2);
}
int64_t inner(const ck_call *call) {
    return length(call->views[0], 1);
}
int64_t columns(const ck_call *call) {
    return length(call->views[1], 1);
}
int64_t products(const ck_call *call) {
    const ck_view &a = call->views[0], &b = call->views[1];
    int64_t count = 1;
    for (int axis = 3; axis <= a.ndim || axis <= b.ndim; ++axis)
        count = product(count, length(a, axis) == 1 ? length(b, axis) : length(a, axis));
    return count;
}
bool empty(const ck_call *call) {
    return rows(call) == 0 || columns(call) == 0 || products(call) == 0;
}

// --- types, layouts and tile widths: the one place where they become C++ ones

// visit(type, plain), with operands.cuh's word for how the operands lie.
template <typename T, typename Visit> int with_layout(const ck_call *call, Visit visit) {
    bool plain = products(call) == 1;
    for (int i = 0; i < 3; ++i) plain = plain && stride(call->views[i], 1) == sizeof(T);
    return plain ? visit(T{}, std::true_type{}) : visit(T{}, std::false_type{});
}

// A row that lists a type or a width which is not here fails its first call with it.
int no_kernel(const ck_call *call, ck_error *error) {
    const ck_types types = call->types;
    return ck_fail(error, CK_BAD_TYPE, "matmul",
                   "no kernel for input %s, accumulator %s and output %s: the row lists a type that its run lacks",
                   ck_dtype_name(types.input), ck_dtype_name(types.accumulator), ck_dtype_name(types.output));
}

template <typename Visit> int with_type(const ck_call *call, ck_error *error, Visit visit) {
    const ck_types types = call->types;
    if (types.input == types.accumulator && types.input == types.output) switch (types.input) {
        case CK_FLOAT32: return with_layout<float>(call, visit);
        case CK_FLOAT64: return with_layout<double>(call, visit);
        }
    return no_kernel(call, error);
}

// Rows for every type. Products and sums of integers are the same bits with a sign and without.
template <typename Visit> int with_any_type(const ck_call *call, ck_error *error, Visit visit) {
    const ck_types types = call->types;
    const bool half = types.input == CK_FLOAT16 || types.input == CK_BFLOAT16;
    if (types.input == types.output && types.accumulator == (half ? CK_FLOAT32 : types.input)) switch (types.input) {
        case CK_BOOL: return with_layout<bool8>(call, visit);
        case CK_INT8:
        case CK_UINT8: return with_layout<uint8_t>(call, visit);
        case CK_INT16:
        case CK_UINT16: return with_layout<uint16_t>(call, visit);
        case CK_INT32:
        case CK_UINT32: return with_layout<uint32_t>(call, visit);
        case CK_INT64:
        case CK_UINT64: return with_layout<uint64_t>(call, visit);
        case CK_FLOAT16: return with_layout<__half>(call, visit);
        case CK_BFLOAT16: return with_layout<__nv_bfloat16>(call, visit);
        case CK_COMPLEX64: return with_layout<complex<float>>(call, visit);
        case CK_COMPLEX128: return with_layout<complex<double>>(call, visit);
        }
    return with_type(call, error, visit);
}

template <typename Visit> int with_tile(const ck_call *call, ck_error *error, Visit visit) {
    switch (call->parameters[0]) {
    case 8: return visit(std::integral_constant<int, 8>{});
    case 16: return visit(std::integral_constant<int, 16>{});
    case 32: return visit(std::integral_constant<int, 32>{});
    }
    return ck_fail(error, CK_BAD_VALUE, "matmul", "tile=%lld: there are 8, 16 and 32",
                   static_cast<long long>(call->parameters[0]));
}

// --- plans

bool shapes_fit(const ck_call *call) {
    const ck_view &a = call->views[0], &b = call->views[1], &c = call->views[2];
    if (a.ndim < 2 || b.ndim != a.ndim || c.ndim != a.ndim) return false;
    for (int axis = 3; axis <= a.ndim; ++axis)
        if (length(b, axis) != length(a, axis) || length(c, axis) != length(a, axis)) return false;
    return length(b, 2) == inner(call) && length(c, 2) == rows(call) && length(c, 1) == columns(call);
}

// An empty C launches nothing; its plan still names one block, for reports.
int plan_grid(const ck_call *call, ck_plan *plan, ck_error *error, int64_t grid_x, int64_t grid_y, int block_x,
              int block_y) {
    *plan = ck_plan{};
    if (!shapes_fit(call))
        return ck_fail(error, CK_BAD_VALUE, "matmul",
                       "the shapes do not fit: (..., m, k) by (..., k, n) gives (..., m, n)");
    const int64_t *most = call->limits->max_grid;
    int64_t grid_z = products(call);
    if (empty(call)) grid_x = grid_y = grid_z = 1;
    if (grid_x > most[0])
        return ck_fail(error, CK_BAD_VALUE, "matmul",
                       "a %lld x %lld result needs a grid of %lld blocks in x; this device allows %lld",
                       static_cast<long long>(rows(call)), static_cast<long long>(columns(call)),
                       static_cast<long long>(grid_x), static_cast<long long>(most[0]));
    plan->grid[0] = static_cast<unsigned>(grid_x);
    plan->grid[1] = static_cast<unsigned>(smaller(grid_y, most[1])); // the rest goes to further launches
    plan->grid[2] = static_cast<unsigned>(smaller(grid_z, most[2]));
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

// Elements from one index to the next. A view whose distances are no whole elements is packed beforehand.
template <typename T> int64_t step(const ck_view &view, int axis) {
    return stride(view, axis) / static_cast<int64_t>(sizeof(T));
}

template <typename T, bool PLAIN> operands<T, PLAIN> first_operands(const ck_call *call) {
    const ck_view &a = call->views[0], &b = call->views[1], &c = call->views[2];
    return {{static_cast<const T *>(a.data), step<T>(a, 2), step<T>(a, 1)},
            {static_cast<const T *>(b.data), step<T>(b, 2), step<T>(b, 1)},
            {static_cast<T *>(c.data), step<T>(c, 2), step<T>(c, 1)},
            rows(call),
            columns(call),
            inner(call)};
}

// The axes of a stack, innermost first. Those that lie in all three views as one would are one: what is left is none
// for two matrices, one for a plain stack, seldom more than two.
struct stack_axes {
    int count;
    stack_axis axis[CK_MAX_DIMS];
};

template <typename T> stack_axes axes_of(const ck_call *call) {
    const ck_view &a = call->views[0], &b = call->views[1], &c = call->views[2];
    stack_axes axes = {};
    for (int axis = 3; axis <= a.ndim; ++axis) {
        const stack_axis next = {length(a, axis), step<T>(a, axis), step<T>(b, axis), step<T>(c, axis)};
        if (next.length == 1) continue;
        if (axes.count > 0 && axes.axis[axes.count - 1].goes_on_with(next))
            axes.axis[axes.count - 1].length *= next.length;
        else
            axes.axis[axes.count++] = next;
    }
    return axes;
}

// Calls launch(part, products) for parts of a stack that one launch can take, of at most `most` products: as many
// slices of the outermost axis at a time as fit, or, where one alone is too much, the parts of each.
template <typename T, bool PLAIN, typename Launch>
int in_parts(operands<T, PLAIN> first, const stack_axes &axes, int64_t most, Launch launch) {
    if (axes.count == 0) return launch(operand_stack<T, PLAIN>{first, 0, {}}, 1);
    stack_axes slice = axes;
    const stack_axis outer = axes.axis[--slice.count];
    int64_t size = 1;
    for (int i = 0; i < slice.count; ++i) size = product(size, axes.axis[i].length);
    const bool too_much = size > most || axes.count > STACK_AXES;
    const int64_t at_once = too_much ? 1 : most / size;
    for (int64_t done = 0; done < outer.length; done += at_once) {
        if (too_much) {
            CK_TRY(in_parts(first, slice, most, launch));
        } else {
            operand_stack<T, PLAIN> part = {first, axes.count, {}};
            for (int i = 0; i < axes.count; ++i) part.axis[i] = axes.axis[i];
            part.axis[slice.count].length = smaller(at_once, outer.length - done);
            CK_TRY(launch(part, size * part.axis[slice.count].length));
        }
        first.skip(outer, at_once);
    }
    return CK_OK;
}

// As many launches as it takes: for parts of the stack, and of each product for as many rows as fit a grid's y. `own`
// are a kernel's arguments beside the operands.
template <typename T, bool PLAIN, typename Kernel, typename... Own>
int launch(Kernel kernel, const char *name, const operands<T, PLAIN> &first, const ck_call *call, const ck_plan *plan,
           const ck_context *context, ck_error *error, Own... own) {
    if (empty(call)) return CK_OK;
    const int64_t m = first.m, side = plan->block[1];
    const int64_t at_once = plan->grid[1] > 1 ? plan->grid[1] * side : m; // one block in y: rows are counted in x
    return in_parts(
        first, axes_of<T>(call), plan->grid[2], [&](const operand_stack<T, PLAIN> &part, int64_t products) {
            for (int64_t top = 0; top < m; top += at_once) {
                operand_stack<T, PLAIN> rows = part;
                rows.first.m = smaller(at_once, m - top);
                rows.first.a.data += top * first.a.row_stride;
                rows.first.c.data += top * first.c.row_stride;
                const dim3 grid(plan->grid[0], plan->grid[1] > 1 ? divide_up(rows.first.m, side) : 1, products);
                CK_TRY(ck_launch(context, error, name, kernel, grid, ck_dim3(plan->block), plan->shared_bytes, rows,
                                 own...));
            }
            return static_cast<int>(CK_OK);
        });
}

#define RUN_FLAT(name, with_types)                                                                                   \
    int run_##name(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {           \
        return with_types(call, error, [&](auto type, auto plain) {                                                  \
            using T = decltype(type);                                                                                \
            constexpr bool PLAIN = decltype(plain)::value;                                                           \
            return launch(name<T, PLAIN>, #name, first_operands<T, PLAIN>(call), call, plan, context, error);        \
        });                                                                                                          \
    }
RUN_FLAT(naive, with_any_type)
RUN_FLAT(kahan, with_type)
RUN_FLAT(naive_2d, with_type)

#define RUN_TILED(name, with_types)                                                                                  \
    int run_##name(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {           \
        return with_types(call, error, [&](auto type, auto plain) {                                                  \
            return with_tile(call, error, [&](auto tile) {                                                           \
                using T = decltype(type);                                                                            \
                constexpr bool PLAIN = decltype(plain)::value;                                                       \
                return launch(name<T, PLAIN, decltype(tile)::value>, #name, first_operands<T, PLAIN>(call), call,    \
                              plan, context, error);                                                                 \
            });                                                                                                      \
        });                                                                                                          \
    }
RUN_TILED(tiled, with_any_type)
RUN_TILED(tiled_plain, with_type)

int run_tiled_padded(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return with_type(call, error, [&](auto type, auto plain) {
        return with_tile(call, error, [&](auto tile) {
            using T = decltype(type);
            constexpr bool PLAIN = decltype(plain)::value;
            constexpr int TILE = decltype(tile)::value;
            auto first = first_operands<T, PLAIN>(call);
            first.k = divide_up(inner(call), TILE) * TILE;
            return launch(tiled_padded<T, PLAIN, TILE>, "tiled_padded", first, call, plan, context, error);
        });
    });
}

int run_shared_row(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return with_type(call, error, [&](auto type, auto plain) {
        using T = decltype(type);
        constexpr bool PLAIN = decltype(plain)::value;
        const int segment = static_cast<int>(row_segment(call));
        return launch(shared_row<T, PLAIN>, "shared_row", first_operands<T, PLAIN>(call), call, plan, context, error,
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

// Elements that a view has memory for: a broadcast axis has one.
double elements(const ck_view &view) {
    double count = 1;
    for (int axis = 1; axis <= view.ndim; ++axis)
        if (stride(view, axis) != 0 || length(view, axis) == 0) count *= static_cast<double>(length(view, axis));
    return count;
}

void work(const ck_call *call, ck_work *work) {
    const int input = call->types.input;
    const double results =
        static_cast<double>(rows(call)) * static_cast<double>(columns(call)) * static_cast<double>(products(call));
    // A complex product is four real ones and two additions; with the sum's, four additions.
    const double each = input == CK_COMPLEX64 || input == CK_COMPLEX128 ? 8 : 2;
    work->flops = each * results * static_cast<double>(inner(call));
    work->bytes = (elements(call->views[0]) + elements(call->views[1])) * static_cast<double>(ck_dtype_size(input)) +
                  results * static_cast<double>(ck_dtype_size(call->types.output));
}

// --- the table

#define CK_FOLDER  "matmul/"
#define BOTH_TYPES TYPES(F32_F32_F32, F64_F64_F64)
#define TILE_WIDTH PARAMETERS(CHOICE(tile, "elements a side of a tile", 16, 8, 32))

const ck_variant variants[] = {
    HOST_VARIANT(numpy, TYPES(ALL_NUMPY_TYPES), SEQUENTIAL, CK_DETERMINISTIC, depth_in_a_row, "matmul/matmul.cu",
                 "NumPy's own product, on the host",
                 "A tuned library uses caches and vector units of the CPU as well", "the reference of T5"),
    VARIANT(naive, FIRST, AT_LEAST(60), TYPES(ALL_TYPES), SEQUENTIAL, CK_DETERMINISTIC, NO_PARAMETERS, depth_in_a_row,
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
    VARIANT(tiled, AFTER(pitched), AT_LEAST(60), TYPES(ALL_TYPES), COMPENSATED, CK_DETERMINISTIC, TILE_WIDTH,
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

CK_OPERATION(matmul, "The product of two matrices, or of stacks of them", 2, 1, matmul::variants, matmul::work, NULL,
             NULL)
