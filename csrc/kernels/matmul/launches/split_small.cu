// The launches of "split_small". The table is in matmul.cu.
#include "../plans/split_small.cuh"

namespace matmul {

namespace {

// Whether all lines of an operand begin at multiples of 16 bytes, and have a multiple of four elements.
bool aligned_lines(const void *data, int64_t lines, int64_t pitch, int64_t length, const stack_axes &axes,
                   int64_t stack_axis::*step) {
    bool aligned = reinterpret_cast<uintptr_t>(data) % 16 == 0 && (lines == 1 || pitch % 4 == 0) && length % 4 == 0;
    for (int i = 0; i < axes.count; ++i) aligned = aligned && axes.axis[i].*step % 4 == 0;
    return aligned;
}

} // namespace

CK_RUN(split_small) {
    if (empty(call)) return CK_OK;
    const auto first = first_operands<float, false>(call);
    const auto &[a, b, c, m, n, k] = first;
    const directions along_k = directions_of(call, plan);
    const stack_axes axes = axes_of<float>(call);
    const split_small_tiling tiling = choose_split_small(call).tiling;
    const bool aligned = aligned_lines(a.data, along_k.a ? m : k, along_k.a ? a.row_stride : a.column_stride,
                                       along_k.a ? k : m, axes, &stack_axis::a) &&
                         aligned_lines(b.data, along_k.b ? n : k, along_k.b ? b.column_stride : b.row_stride,
                                       along_k.b ? k : n, axes, &stack_axis::b);
    const bool whole = aligned && tiling.columns == 64 && axes.count <= 1 && k > 0 && m % SMALL_ROWS == 0 &&
                       n % 64 == 0 && k % SMALL_STEP == 0 && c.column_stride == 1 && c.row_stride % 2 == 0 &&
                       axes.axis[0].c % 2 == 0 && reinterpret_cast<uintptr_t>(c.data) % 8 == 0;
    const bool rest = !aligned && split_small_has_rest(k);
    const unsigned down = static_cast<unsigned>(divide_up(m, SMALL_ROWS));
    const int64_t at_once = call->limits->max_grid[1] * tiling.columns; // columns of C
    return with_directions(along_k, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return with_split_small_size(tiling, [&](auto size) {
            using own = decltype(size);
            constexpr int WHOLE = own::COLUMNS == 64 ? SMALL_WHOLE : SMALL_ALIGNED;
            const auto kernel = whole     ? split_small<own, A, B, WHOLE>
                                : aligned ? split_small<own, A, B, SMALL_ALIGNED>
                                : rest    ? split_small<own, A, B, SMALL_ANY_REST>
                                          : split_small<own, A, B, SMALL_ANY>;
            return in_parts(first, axes, plan->grid[2], [&](operand_stack<float, false> part, int64_t count) {
                for (int64_t left = first.n; left > 0; left -= at_once) {
                    part.first.n = smaller(left, at_once);
                    const dim3 grid(down, static_cast<unsigned>(divide_up(part.first.n, own::COLUMNS)),
                                    static_cast<unsigned>(count));
                    CK_TRY(ck_launch(context, error, "split_small", kernel, grid, dim3(SMALL_THREADS),
                                     plan->shared_bytes, part));
                    part.first.b.data += at_once * first.b.column_stride;
                    part.first.c.data += at_once * first.c.column_stride;
                }
                return static_cast<int>(CK_OK);
            });
        });
    });
}

} // namespace matmul
