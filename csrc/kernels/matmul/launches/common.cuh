// Definitions that the launches in this folder share: sizes, the types that a kernel is compiled for, and operands of
// a call.
//
// The launches are in several files, so that a build compiles them in parallel. RUN_FLAT and RUN_TILED define a run
// function.
#ifndef CK_MATMUL_LAUNCHES_COMMON_CUH
#define CK_MATMUL_LAUNCHES_COMMON_CUH

#include <type_traits>

#include "../parts/operands.cuh"

#include "../../launch.cuh"
#include "../../sizes.h"
#include "../../types.cuh"

namespace matmul {

// --- sizes

// Axes are counted from the end: 1 and 2 are those of the matrix, and the stack begins at 3. A question about an
// entry of the table may contain vectors, or stacks that are not broadcast yet.
inline int64_t length(const ck_view &view, int axis) {
    return axis <= view.ndim ? view.shape[view.ndim - axis] : 1;
}
inline int64_t stride(const ck_view &view, int axis) {
    return view.strides[view.ndim - axis];
}

inline int64_t rows(const ck_call *call) {
    return length(call->views[0], 2);
}
inline int64_t inner(const ck_call *call) {
    return length(call->views[0], 1);
}
inline int64_t columns(const ck_call *call) {
    return length(call->views[1], 1);
}
inline int64_t products(const ck_call *call) {
    const ck_view &a = call->views[0], &b = call->views[1];
    int64_t count = 1;
    for (int axis = 3; axis <= a.ndim || axis <= b.ndim; ++axis)
        count = product(count, length(a, axis) == 1 ? length(b, axis) : length(a, axis));
    return count;
}
inline bool empty(const ck_call *call) {
    return rows(call) == 0 || columns(call) == 0 || products(call) == 0;
}

// The elements of an m x n matrix of each product of the call.
inline double elements_of(const ck_call *call, int64_t m, int64_t n) {
    return static_cast<double>(product(product(m, n), products(call)));
}

// The bytes of the operands and results.
inline double bytes_of_floats(const ck_call *call) {
    const int64_t m = rows(call), n = columns(call), k = inner(call);
    return (elements_of(call, m, k) + elements_of(call, k, n) + elements_of(call, m, n)) * 4;
}

// --- layouts and tile widths

// For RUN_FLAT and RUN_TILED: visit(type, plain). PLAIN is explained in operands.cuh.
template <typename T, typename Visit> int with_layout(const ck_call *call, Visit visit) {
    bool plain = products(call) == 1;
    for (int i = 0; i < 3; ++i) plain = plain && stride(call->views[i], 1) == sizeof(T);
    return plain ? visit(T{}, std::true_type{}) : visit(T{}, std::false_type{});
}

template <typename Visit> int with_tile(const ck_call *call, ck_error *error, Visit visit) {
    switch (call->parameters[0]) {
    case 8: return visit(std::integral_constant<int, 8>{});
    case 16: return visit(std::integral_constant<int, 16>{});
    case 32: return visit(std::integral_constant<int, 32>{});
    }
    return ck_fail(error, CK_BAD_VALUE, "tile must be 8, 16 or 32, not %lld",
                   static_cast<long long>(call->parameters[0]));
}

// For kernels that copy slabs of A and B: visit(a_along_k, b_along_k), true types for an operand whose lines are
// along k. The plan asked for rows (or else columns) that are contiguous and start at multiples of `pitch` bytes.
inline bool lines_are_rows(const ck_view &view, int pitch) {
    const int64_t item = static_cast<int64_t>(ck_dtype_size(view.dtype));
    return (length(view, 1) == 1 || stride(view, 1) == item) &&
           (length(view, 2) == 1 || stride(view, 2) % pitch == 0);
}
struct directions {
    bool a, b; // whether the operand is contiguous along k
};
inline directions directions_of(const ck_call *call, const ck_plan *plan) {
    return {lines_are_rows(call->views[0], plan->layout[0].pitch),
            !lines_are_rows(call->views[1], plan->layout[1].pitch)};
}
template <typename Visit> int with_directions(const directions &along_k, Visit visit) {
    const auto [a, b] = along_k;
    if (a) return b ? visit(std::true_type{}, std::true_type{}) : visit(std::true_type{}, std::false_type{});
    return b ? visit(std::false_type{}, std::true_type{}) : visit(std::false_type{}, std::false_type{});
}
template <typename Visit> int with_directions(const ck_call *call, const ck_plan *plan, Visit visit) {
    return with_directions(directions_of(call, plan), visit);
}

// --- launches

// A stride in elements. A view whose strides are not multiples of the element size is packed beforehand.
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

// The same for copies of 16 bytes, which need aligned addresses, also past the last line, where they read nothing.
// The plan leaves the stride of a single line as it is, whatever it is: 0 serves.
template <typename T> operands<T, false> operands_of_lines(const ck_call *call) {
    auto first = first_operands<T, false>(call);
    if (first.m == 1) first.a.row_stride = 0;
    if (first.k == 1) first.a.column_stride = first.b.row_stride = 0;
    if (first.n == 1) first.b.column_stride = 0;
    return first;
}

// The axes of a stack, innermost first. Axes that form a single axis in all three views are merged. The result has no
// axis for two matrices, one for a contiguous stack, and rarely more than two.
struct stack_axes {
    int count;
    stack_axis axis[CK_MAX_DIMS];
};

template <typename T, typename Result = T> stack_axes axes_of(const ck_call *call) {
    const ck_view &a = call->views[0], &b = call->views[1], &c = call->views[2];
    stack_axes axes = {};
    for (int axis = 3; axis <= a.ndim; ++axis) {
        const stack_axis next = {length(a, axis), step<T>(a, axis), step<T>(b, axis), step<Result>(c, axis)};
        if (next.length == 1) continue;
        if (axes.count > 0 && axes.axis[axes.count - 1].goes_on_with(next))
            axes.axis[axes.count - 1].length *= next.length;
        else
            axes.axis[axes.count++] = next;
    }
    return axes;
}

// Calls launch(part, products) for parts of a stack with at most `most` products, the limit of one launch. A part
// consists of as many slices of the outermost axis as fit; if a single slice is too large, it is split in turn.
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

// Launches the kernel as often as necessary: for parts of the stack, and for as many rows of each product as fit in y
// of a grid. `own`: the arguments of the kernel in addition to the operands.
template <typename T, bool PLAIN, typename Kernel, typename... Own>
int launch(Kernel kernel, const char *name, const operands<T, PLAIN> &first, const ck_call *call, const ck_plan *plan,
           const ck_context *context, ck_error *error, Own... own) {
    if (empty(call)) return CK_OK;
    const int64_t m = first.m, side = plan->block[1];
    const int64_t at_once = plan->grid[1] > 1 ? plan->grid[1] * side : m; // one block in y: the rows are in x
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

// warp_tiles.cu: as a step of another variant, those products i of a stack for which findings[i] has the bit `bit`
// when it comes to that.
typedef int run_warp_tiles_if_of(const operand_stack<float, false> &stack, int64_t products,
                                 const directions &along_k, const unsigned *findings, unsigned bit,
                                 const ck_context *context, ck_error *error);

// split_inside.cu: likewise, those for which "split_fp16" is not good enough.
struct cluster_tiling;
typedef int run_split_inside_if_of(const cluster_tiling &tiling, const operand_stack<float, false> &stack,
                                   int64_t products, const directions &along_k, const unsigned *findings,
                                   const ck_context *context, ck_error *error);

// tensor_cores_double.cu: likewise, a product for which "residues_int8" is not good enough.
struct residue_findings;
typedef int run_tensor_cores_double_unless_of(const ck_call *call, const operand_stack<double, false> &stack,
                                              const directions &along_k, const residue_findings *unless,
                                              const ck_context *context, ck_error *error);

#define RUN_FLAT(name, kernel, with)                                                                                 \
    CK_RUN(name) {                                                                                                   \
        return with(call, error, [&](auto element) {                                                                 \
            return with_layout<decltype(element)>(call, [&](auto type, auto plain) {                                 \
                using T = decltype(type);                                                                            \
                constexpr bool PLAIN = decltype(plain)::value;                                                       \
                return launch(kernel<T, PLAIN>, #kernel, first_operands<T, PLAIN>(call), call, plan, context,        \
                              error);                                                                                \
            });                                                                                                      \
        });                                                                                                          \
    }

#define RUN_TILED(name, kernel, with)                                                                                \
    CK_RUN(name) {                                                                                                   \
        return with(call, error, [&](auto element) {                                                                 \
            return with_layout<decltype(element)>(call, [&](auto type, auto plain) {                                 \
                return with_tile(call, error, [&](auto tile) {                                                       \
                    using T = decltype(type);                                                                        \
                    constexpr bool PLAIN = decltype(plain)::value;                                                   \
                    return launch(kernel<T, PLAIN, decltype(tile)::value>, #kernel, first_operands<T, PLAIN>(call),  \
                                  call, plan, context, error);                                                       \
                });                                                                                                  \
            });                                                                                                      \
        });                                                                                                          \
    }

} // namespace matmul

#endif
