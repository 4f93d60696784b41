// The tiles of "split_small", and how long they take: for its plan, its launches and "fastest".
#ifndef CK_MATMUL_PLANS_SPLIT_SMALL_CUH
#define CK_MATMUL_PLANS_SPLIT_SMALL_CUH

#include "../../variant.h"
#include "../launches/common.cuh"
#include "../ladder/34_split_small.cuh"

namespace matmul {

// Tiles, and how long one takes, relative to the narrowest one: where each multiprocessor has many, and where it has
// few.
struct split_small_tiling {
    int columns;
    double many, few;
};
constexpr split_small_tiling SPLIT_SMALL_TILINGS[] = {{64, 1, 1}, {80, 1.44, 1.31}, {128, 1.79, 1.5}};

// Whether k is a little more than a number of whole steps (split_small_rest).
inline bool split_small_has_rest(int64_t k) {
    return k > SMALL_STEP && k % SMALL_STEP > 0 && k % SMALL_STEP <= SMALL_REST;
}

// Fitted to an H200: the time that the tiles take a multiprocessor, or, where these are few, the chain of steps of a
// tile, and the time to move the data, part of which overlaps with it. Tiles that are not whole take longer, and so
// do lines that are not aligned, and each element of a rest takes a fifth of the time of 16 others.
inline double time_of_split_small(const ck_call *call, const split_small_tiling &tiling) {
    const int64_t m = rows(call), n = columns(call), k = inner(call);
    const int64_t tiles = product(product(divide_up(m, SMALL_ROWS), divide_up(n, tiling.columns)), products(call));
    const double own = static_cast<double>(divide_up(tiles, call->limits->multiprocessors));
    const bool aligned = k % 4 == 0 && n % 4 == 0; // as far as is known here
    const bool rest = !aligned && split_small_has_rest(k);
    const double sixteens = rest ? static_cast<double>(k / 16) + 0.2 * static_cast<double>(k % 16)
                                 : static_cast<double>(divide_up(k, 16));
    const double many = own * (0.216 + 0.212 * sixteens) * tiling.many;
    const double few = sixteens * (0.216 + 0.154 * own) * tiling.few;
    const bool whole = tiling.columns == 64 && m % 64 == 0 && n % 64 == 0 && k % SMALL_STEP == 0;
    const double slower = whole ? 1 : aligned ? 1.09 : 1.32;
    const double compute = (many > few ? many : few) * slower, move = bytes_of_floats(call) / 3.84e6;
    return (whole ? 4.7 : 5.1) + compute + move - 0.54 * (compute < move ? compute : move);
}

// The tiles with the shortest time, of those that the caller allows.
struct split_small_choice {
    split_small_tiling tiling;
    double time; // estimated, in microseconds
};
inline split_small_choice choose_split_small(const ck_call *call) {
    split_small_choice best = {};
    for (const split_small_tiling &tiling : SPLIT_SMALL_TILINGS) {
        if (call->parameters[0] != 0 && call->parameters[0] != tiling.columns) continue;
        const double time = time_of_split_small(call, tiling);
        if (best.tiling.columns == 0 || time < best.time) best = {tiling, time};
    }
    return best;
}

// visit(size): the split_small_size of those tiles.
template <typename Visit> auto with_split_small_size(const split_small_tiling &tiling, Visit visit) {
    return tiling.columns == 64   ? visit(split_small_size<64>{})
           : tiling.columns == 80 ? visit(split_small_size<80>{})
                                  : visit(split_small_size<128>{});
}

} // namespace matmul

#endif
