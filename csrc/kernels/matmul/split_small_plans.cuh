// The tiles of "split_small", and how long they take: for its plan, its launches and "fastest".
#ifndef CK_MATMUL_SPLIT_SMALL_PLANS_CUH
#define CK_MATMUL_SPLIT_SMALL_PLANS_CUH

#include "../variant.h"
#include "launches.cuh"
#include "split_small.cuh"

namespace matmul {

// A width of tiles, and how long one takes, relative to the narrow one.
struct split_small_width {
    int columns;
    double time;
};
constexpr split_small_width SPLIT_SMALL_WIDTHS[] = {{64, 1}, {80, 1.4}, {112, 1.74}};

struct split_small_tiling {
    int columns;
    double time; // estimated, in microseconds
};

// Fitted to an H200: the time that the tiles take a multiprocessor, or, where these are few, the chain of steps of a tile, and the
// time to move the data, part of which overlaps with it. Tiles that are not whole take longer, and so do lines that are not aligned.
inline double time_of_split_small(const ck_call *call, const split_small_width &width) {
    const int64_t m = rows(call), n = columns(call), k = inner(call);
    const int64_t tiles = product(product(divide_up(m, SMALL_ROWS), divide_up(n, width.columns)), products(call));
    const double own = static_cast<double>(divide_up(tiles, call->limits->multiprocessors));
    const double sixteens = static_cast<double>(divide_up(k, 16));
    const double all = own * (0.21 + 0.21 * sixteens) * width.time;
    const double chain = sixteens * (0.19 + 0.152 * own) * (1 + 0.62 * (width.time - 1));
    const bool whole = width.columns == 64 && m % 64 == 0 && n % 64 == 0 && k % SMALL_STEP == 0;
    const double slower = whole ? 1 : k % 4 == 0 && n % 4 == 0 ? 1.12 : 1.37;
    const double compute = (all > chain ? all : chain) * slower, move = bytes_of_floats(call) / 4.25e6;
    return (whole ? 4.8 : 5.2) + compute + move - 0.46 * (compute < move ? compute : move);
}

// The width with the shortest time, unless the caller chooses.
inline split_small_tiling split_small_tiling_of(const ck_call *call) {
    split_small_tiling best = {0, 0};
    for (const split_small_width &width : SPLIT_SMALL_WIDTHS) {
        if (call->parameters[0] != 0 && call->parameters[0] != width.columns) continue;
        const double time = time_of_split_small(call, width);
        if (best.columns == 0 || time < best.time) best = {width.columns, time};
    }
    return best;
}

// visit(size): the split_small_size of that width.
template <typename Visit> auto with_split_small_size(int columns, Visit visit) {
    return columns == 64   ? visit(split_small_size<64>{})
           : columns == 80 ? visit(split_small_size<80>{})
                           : visit(split_small_size<112>{});
}

} // namespace matmul

#endif
