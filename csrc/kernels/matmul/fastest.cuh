// matmul "fastest": has no kernel of its own. It runs one of the other variants, depending on type, sizes and chip.
//
// Change  The variant is chosen first. The plan, the kernels and the results are those of the chosen variant.
// Why     No variant is the fastest everywhere. Large tiles read least, but a small C has too few of them for all
//         multiprocessors; splitting float32 into pieces costs passes over the operands, which a short k does not
//         repay.
// Claim   the time is that of the chosen variant
// Gain    see docs/speed.md, where the variants are compared over many shapes
// Price   The estimates below were measured on an H200. On another chip they may choose the second best variant.
// Edges   as in the chosen variant
// Map     as in the chosen variant
// Limit   as in the chosen variant
#ifndef CK_MATMUL_FASTEST_CUH
#define CK_MATMUL_FASTEST_CUH

#include "split_inside.cuh" // the kernel for products of float32 of about 1000 on compute capability 9.0
#include "warp_tiles_plans.cuh"
#include "../variant.h"
#include "split_launches.cuh"
#include "split_plans.cuh"

namespace matmul {

// Estimates in microseconds, fitted to an H200 (docs/results/gpu_bench.json).
//
// "warp_tiles": a block of its small tile takes 34 ns for each step of k while it has a multiprocessor for itself, and
// 24.5 ns of the multiprocessor's time where there are several.
inline double time_of_warp_tiles(const ck_call *call) {
    const double tiles = static_cast<double>(
        product(product(divide_up(rows(call), 64), divide_up(columns(call), 64)), products(call)));
    const double blocks = ceil(tiles / call->limits->multiprocessors) * 0.0245;
    return 5.7 + static_cast<double>(inner(call)) * (blocks > 0.034 ? blocks : 0.034);
}

// "split_fp16": its ten launches, twelve bytes of traffic for each element of the operands, and the product.
inline double time_of_split(const ck_call *call) {
    const double elements =
        static_cast<double>(product(product(rows(call) + columns(call), inner(call)), products(call)));
    return 20 + elements * 12 / 3.3e6 + split_fp16_tiling(call).time;
}

// Rows of operands that do not start at lines of 128 bytes are read in two halves; "wgmma_multicast" reads fewer of
// them.
inline const char *fastest_of_halves(const ck_call *call) {
    const int64_t n = columns(call), k = inner(call);
    const int64_t tiles = product(product(divide_up(rows(call), 128), divide_up(n, 64)), products(call));
    if (tiles * 3 <= call->limits->multiprocessors * 2 && k >= 2048) return "wgmma_split";
    const bool in_place = n % 8 == 0 && k % 8 == 0, lines = n % 64 == 0 && k % 64 == 0;
    return in_place && !lines && tiles * 4 >= call->limits->multiprocessors * 3 ? "wgmma_multicast"
                                                                                : "wgmma_persistent";
}

// The name of the fastest variant for this call. It depends on nothing but types, sizes and the chip.
inline const char *fastest_of(const ck_call *of) {
    const int64_t by_size[CK_MAX_PARAMETERS] = {}; // of every variant
    ck_call own = *of;
    own.parameters = by_size;
    const ck_call *const call = &own;
    const int capability = call->limits->capability;
    const bool hopper = capability == 90 && call->limits->exact; // wgmma runs on no other chip
    if (rows(call) <= 32 && columns(call) <= 32) return "tiled"; // smaller than the tiles of the others
    switch (call->types.input) {
    case CK_FLOAT32:
        if (rows(call) <= FEW_MOST && columns(call) > FEW_MOST) return "few_rows";
        if (hopper) {
            const double plain = time_of_warp_tiles(call), parts = parts_of_warp_tiles(call).time;
            const double split = time_of_split(call), least = plain < parts ? plain : parts;
            const double inside = split_inside_tiling_of(call).time;
            // (For a short k, the sums of the tensor cores would be less accurate than those of float32.)
            if (inside < least && inside < split && inner(call) >= 512) return "split_inside";
            return split < least ? "split_fp16" : parts < plain ? "warp_tiles_split" : "warp_tiles";
        }
        return capability >= 80 ? "warp_tiles" : "vectorized";
    case CK_FLOAT64: return capability >= 90 ? "tensor_cores_double" : "register_tile";
    case CK_FLOAT16:
    case CK_BFLOAT16: return hopper ? fastest_of_halves(call) : capability >= 80 ? "tensor_cores" : "tiled";
    default: return "tiled";
    }
}

} // namespace matmul

#endif
