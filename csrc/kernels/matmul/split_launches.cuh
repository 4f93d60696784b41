// The sizes of a call of "split_fp16" or "split_bf16", for its plan and its launches: the width of the tiles, the parts
// of k, and the layout of the workspace.
#ifndef CK_MATMUL_SPLIT_LAUNCHES_CUH
#define CK_MATMUL_SPLIT_LAUNCHES_CUH

#include "launches.cuh"
#include "split_bf16.cuh"

namespace matmul {

// The largest extents of C, and of k: coordinates have 32 bits, and so have the counts of a line.
enum : int64_t { SPLIT_MOST = INT32_MAX - 512, SPLIT_MOST_K = 1 << 24 };

// A width of tiles, with its measured rate at large sizes on an H200.
struct split_width {
    int columns;
    double rate; // multiply-adds of float32 per microsecond of one multiprocessor
};
constexpr double per_microsecond(double tflops) {
    return tflops * 1e6 / 2 / 132;
}
constexpr split_width SPLIT_FP16_WIDTHS[] = {
    {208, per_microsecond(270)}, {128, per_microsecond(216)}, {64, per_microsecond(155)}};
constexpr split_width SPLIT_BF16_WIDTHS[] = {{128, per_microsecond(133)}, {64, per_microsecond(109)}};

struct split_tiling {
    int columns, parts, part_slabs;
    double time; // estimated, in microseconds
};

// The width and the number of parts with the shortest estimated time. A sum in registers has at most `most` slabs, so that its rounding
// stays small; more parts give work to all multiprocessors where C is small, and cost a second kernel. `columns` and `parts`: the caller's
// choice, or 0.
template <int COUNT>
split_tiling split_tiling_of(const split_width (&widths)[COUNT], int64_t m, int64_t n, int64_t k, int64_t products,
                             int multiprocessors, int64_t most, int64_t columns, int64_t parts) {
    const int64_t slabs = k > 0 ? divide_up(k, SLAB_DEPTH) : 1, least = divide_up(slabs, most);
    split_tiling best = {widths[0].columns, 1, static_cast<int>(slabs), -1};
    for (const split_width &width : widths) {
        if (columns != 0 && columns != width.columns) continue;
        for (int64_t count = least; count <= slabs; count *= 2) {
            const int64_t pieces = parts > count ? smaller(parts, slabs) : count;
            const int64_t each = divide_up(slabs, pieces), number = divide_up(slabs, each);
            const double pairs = static_cast<double>(product(
                product(divide_up(m, SPLIT_PAIR * SPLIT_ROWS), divide_up(n, width.columns)), number * products));
            const double rounds = ceil(pairs * SPLIT_PAIR / multiprocessors);
            const double slab_time = SPLIT_ROWS * static_cast<double>(width.columns) * SLAB_DEPTH / width.rate;
            const double bytes = static_cast<double>(product(product(m, n), products * (2 * number + 1))) * 4;
            const double time =
                rounds * static_cast<double>(each + 2) * slab_time + (number > 1 ? 3 + bytes / 3e6 : 0);
            if (best.time < 0 || time < best.time)
                best = {width.columns, static_cast<int>(number), static_cast<int>(each), time};
            if (parts != 0 || pairs * SPLIT_PAIR > multiprocessors) break; // more parts would not help
        }
    }
    return best;
}

inline split_tiling split_fp16_tiling(const ck_call *call) {
    return split_tiling_of(SPLIT_FP16_WIDTHS, rows(call), columns(call), inner(call), products(call),
                           call->limits->multiprocessors, 128, call->parameters[0], call->parameters[1]);
}
// `chosen`: whether the caller's parameters are those of "split_bf16". A sum may have any number of slabs, because what it rounds off is
// carried on (carried_sums.cuh).
inline split_tiling split_bf16_tiling(const ck_call *call, bool chosen) {
    return split_tiling_of(SPLIT_BF16_WIDTHS, rows(call), columns(call), inner(call), products(call),
                           call->limits->multiprocessors, SPLIT_MOST_K, chosen ? call->parameters[0] : 0,
                           chosen ? call->parameters[1] : 0);
}

// The offsets of the parts of the workspace for a number of products, in bytes.
struct split_workspace {
    struct {
        int64_t pieces, factors;
    } side[2];
    int64_t findings, arrivals, sums, bytes;
};

inline int64_t split_pitch(const ck_call *call) {
    return divide_up(inner(call), 64) * 64; // whole lines of 128 bytes
}

inline split_workspace split_workspace_of(const ck_call *call, int64_t parts, int64_t products) {
    const int64_t m = rows(call), n = columns(call), k = inner(call), pieces = split_kind<__nv_bfloat16>::PIECES;
    split_workspace at = {};
    const auto take = [&](int64_t count, int64_t bytes) {
        const int64_t begin = at.bytes;
        at.bytes += divide_up(product(product(count, products), bytes), 256) * 256;
        return begin;
    };
    at.findings = take(1, 4), at.arrivals = take(1, 4);
    for (int i = 0; i < 2; ++i) {
        const int64_t lines = i == 0 ? m : n;
        at.side[i].pieces = take(lines, product(split_pitch(call), 2 * pieces));
        at.side[i].factors = take(product(divide_up(lines, SPLIT_LINES), divide_up(k, SPLIT_DEPTH)), 4);
    }
    at.sums = take(parts > 1 ? product(m, n) : 0, product(parts, 4));
    return at;
}

// The number of products of a stack that are computed at once: one, or as many as fit in a workspace of 1 GiB.
inline int64_t split_products_at_once(const ck_call *call, int64_t parts) {
    const int64_t fit = (int64_t{1} << 30) / (split_workspace_of(call, parts, 1).bytes + 1), most = 32768;
    return smaller(products(call), fit < 1 ? 1 : smaller(fit, most));
}

} // namespace matmul

#endif
