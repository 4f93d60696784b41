// How "split_inside" divides the work, and how long it takes: for its plan, its launches and "fastest".
#ifndef CK_MATMUL_PLANS_SPLIT_INSIDE_CUH
#define CK_MATMUL_PLANS_SPLIT_INSIDE_CUH

#include "../../variant.h"
#include "cluster_tilings.cuh"
#include "../ladder/33_split_inside.cuh"

namespace matmul {

// Fitted to an H200. A sum in registers has at most 128 slabs, so that its rounding stays small.
inline cluster_tiling split_inside_tiling_of(const ck_call *call) {
    // The sums of groups need all products in one launch.
    const int64_t groups = products(call) > call->limits->max_grid[2] ? 1 : call->parameters[2];
    const double loads = inner(call) % 4 == 0 ? 1 : 1.13; // (fitted to odd sizes)
    const bool stack = products(call) > 1, aligned = columns(call) % 4 == 0;
    // The products of a stack have operands of their own, and each begins with the time to read them.
    const double read = stack ? bytes_of_floats(call) / 3.3e6 : 0;
    const double bytes = elements_of(call, rows(call), columns(call)) * 4; // of results
    const double write = !aligned ? bytes / (stack ? 4e6 : 1.1e6) : stack || bytes < 1e6 ? 0 : (bytes - 1e6) / 2.4e6;
    return shortest_tiling(call, split_inside_128::ROWS, 32, 1, groups, [=](const cluster_load &load) {
        const double rounds = ceil(load.clusters / static_cast<double>(load.at_once));
        const double first = load.slabs < 16 ? load.slabs : 16;
        const double slabs_time = load.columns == 128  ? load.slabs * 2.5 + first * 0.35
                                  : load.columns == 64 ? load.slabs * 1.75
                                                       : load.slabs * 1.2;
        const double sum_time = load.parts > 1 ? 0.04 * static_cast<double>(load.columns) : 0; // of the parts' sums
        // (Rows of a tile that are columns of B, in C order, are loaded in shorter pieces than rows of A.)
        double time =
            6.5 + read + write + rounds * (1 + slabs_time * loads * (load.transposed ? 1.17 : 1) + sum_time);
        if (load.groups > 1) time += 3 + load.results * static_cast<double>(2 * load.groups + 1) * 4 / 3e6;
        return load.slabs > 128 ? time + 1e6 : time; // only if there is no other way
    });
}

// The threads of a block and the bytes of its shared memory.
struct split_inside_block {
    unsigned threads;
    size_t shared_bytes;
};
inline split_inside_block split_inside_block_of(const cluster_tiling &tiling) {
    const auto of = [](auto size) {
        using type = decltype(size);
        return split_inside_block{type::THREADS, type::SHARED_BYTES};
    };
    return tiling.columns == 128  ? of(split_inside_128{})
           : tiling.columns == 64 ? of(split_inside_64{})
                                  : of(split_inside_32{});
}

// As a step of "split_fp16": by the sizes, but without groups, for which there is no workspace.
inline cluster_tiling split_inside_fallback(const ck_call *call) {
    const int64_t parameters[CK_MAX_PARAMETERS] = {0, 0, 1, 0};
    ck_call own = *call;
    own.parameters = parameters;
    return split_inside_tiling_of(&own);
}

} // namespace matmul

#endif
