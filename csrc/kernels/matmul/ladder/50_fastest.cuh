// matmul "fastest": has no kernel of its own. It runs one of the other variants, depending on type, sizes and chip.
//
// Change  The variant is chosen first. The plan, the kernels and the results are those of the chosen variant.
// Why     No variant is the fastest everywhere. Large tiles read least, but a small C has too few of them for all
//         multiprocessors; splitting float32 into pieces costs a pass over the operands, which a short k does not
//         repay.
// Claim   the time is that of the chosen variant
// Gain    see docs/speed.md, where the variants are compared over many shapes
// Price   The estimates below were measured on an H200. On another chip they may choose the second best variant.
// Edges   as in the chosen variant
// Map     as in the chosen variant
// Limit   as in the chosen variant
#ifndef CK_MATMUL_FASTEST_CUH
#define CK_MATMUL_FASTEST_CUH

#include "33_split_inside.cuh" // the kernel for most products of float32 with few rows, or up to about 1000
#include "17_small_tiles.cuh"
#include "../plans/split_k.cuh"
#include "../../variant.h"
#include "../launches/split.cuh"
#include "../plans/split.cuh"
#include "../plans/hopper.cuh"
#include "../plans/residues.cuh"

namespace matmul {

// Estimates in microseconds, fitted to an H200 (docs/results/gpu_bench.json) and an H100. Where lines of operands
// begin is not known here: they are taken for those of matrices in C order.
//
// "warp_tiles": a step along k takes a block of its small tile 31 ns while it has a multiprocessor for itself, and
// 24.5 ns of the multiprocessor's time where there are several. Tiles that are not whole take more, and rows of C
// that are not aligned are written by single elements.
inline double time_of_warp_tiles(const ck_call *call) {
    const double tiles = static_cast<double>(
        product(product(divide_up(rows(call), 64), divide_up(columns(call), 64)), products(call)));
    const double blocks = ceil(tiles / call->limits->multiprocessors) * 0.0245;
    return (rows(call) % 64 == 0 && columns(call) % 64 == 0 ? 4.9 : 6.9) +
           static_cast<double>(inner(call)) * (blocks > 0.031 ? blocks : 0.031) +
           elements_of(call, rows(call), columns(call)) * 4 / (columns(call) % 4 == 0 ? 8e6 : 1e6) +
           (products(call) > 1 ? elements_of(call, rows(call) + columns(call), inner(call)) * 4 / 8e6 : 0);
}

// "tiled" and "small_tiles": the chain of steps of a tile, or, with many tiles, the rate at which the multiprocessors
// compute them, and the time to move the data.
inline double time_of_tiled(const ck_call *call) {
    const int64_t tiles = product(product(divide_up(rows(call), 16), divide_up(columns(call), 16)), products(call));
    const double step = 0.0165 * static_cast<double>(tiles) / call->limits->multiprocessors;
    return 3.6 + static_cast<double>(divide_up(inner(call), 16) * 16) * (step > 0.042 ? step : 0.042) +
           bytes_of_floats(call) / 4e6;
}
inline int64_t tiles_of_small(const ck_call *call) {
    const int64_t down = divide_up(rows(call), small_tiles_size::ROWS);
    return product(product(down, divide_up(columns(call), small_tiles_size::COLUMNS)), products(call));
}
inline double time_of_small_tiles(const ck_call *call) {
    const double k =
        static_cast<double>(divide_up(inner(call), small_tiles_size::DEPTH / 2) * small_tiles_size::DEPTH / 2);
    const double tiles = static_cast<double>(divide_up(tiles_of_small(call), call->limits->multiprocessors));
    const double few = 0.5 + 0.0035 * k, many = 0.0095 * k; // for each tile of a multiprocessor, by k
    const double slower = inner(call) % 4 == 0 && columns(call) % 4 == 0 ? 1 : 1.3;
    const double chain = 4.6 + 0.0115 * k * slower, all = 4.9 + tiles * (few > many ? few : many) * slower;
    return (all > chain ? all : chain) + bytes_of_floats(call) / 8e6; // half of the data moves meanwhile
}

// "few_rows": its two launches, the time to read the large operand, which is longer with more rows or columns, and
// that of the blocks of a stack. (With more than one row of 16 bits, it takes much longer if B's columns are
// contiguous, which is not known here.)
inline double time_of_few_rows(const ck_call *call) {
    const int64_t m = rows(call), n = columns(call), few = smaller(m, n), many = m < n ? n : m;
    if (few > FEW_MOST || many <= 2 * FEW_MOST || !few_rows_can(m, n, inner(call))) return HUGE_VAL;
    const size_t item = ck_dtype_size(call->types.input);
    const double more = static_cast<double>(few) * (few > 8 ? 0.05 : 0.015), further = static_cast<double>(few - 1);
    const double each = item == 4 ? (m < n ? more : 0.1 * further) : 3 * further;
    const double blocks = static_cast<double>(product(products(call) - 1, divide_up(many, few_columns(false, item))));
    const double bytes = elements_of(call, many, inner(call)) * static_cast<double>(item);
    return (item == 4 ? 7.7 + bytes / 4.1e6 * (1 + each) : 9.6 + bytes / 4.4e6 * (1 + each)) +
           blocks / call->limits->multiprocessors * (few > 8 ? 3.2 : 1.2);
}

// "split_fp16": its launches, eight bytes of traffic for each element of the operands, the product, and the results.
inline double time_of_split(const ck_call *call) {
    const int64_t m = rows(call), n = columns(call), k = inner(call);
    if (m > SPLIT_MOST || n > SPLIT_MOST || k > SPLIT_MOST_K) return HUGE_VAL;
    const int64_t at_once = split_products_at_once(call);
    if (at_once < 1) return HUGE_VAL;
    const split_tiling tiling = split_fp16_tiling(call, at_once);
    return (n % 4 == 0 ? 18 : 22) + elements_of(call, m + n, k) * 8 / 2.4e6 +
           1.03 * tiling.time * ceil(static_cast<double>(products(call)) / static_cast<double>(at_once)) +
           elements_of(call, m, n) * 4 / 5e6;
}

// "wgmma_persistent", without copies of operands: its tiles, their width and its time, which is at least that of
// reading.
inline double time_of_wgmma(const ck_call *call) {
    const int64_t width = persistent_width(call);
    const double slabs = static_cast<double>(divide_up(inner(call), SLAB_DEPTH));
    const double tile = width == 256   ? 3.7 + slabs * 0.59
                        : width == 192 ? 2.8 + slabs * 0.47
                        : width == 128 ? 1.9 + slabs * 0.37
                                       : 0.9 + slabs * 0.33;
    const double all =
        static_cast<double>(divide_up(tiles_of_wgmma(call, width), call->limits->multiprocessors)) * tile;
    const double read = elements_of(call, rows(call) + columns(call), inner(call)) * 2 / 2.1e6;
    return 3.8 + (all > read ? all : read);
}

// The variants on wgmma need lines that are aligned to 16 bytes: other operands are copied first, and rows of C that
// are not aligned are written by pairs of elements. Lines that do not start at multiples of 128 bytes are read in two
// halves, and narrow tiles read more than wide ones; "wgmma_multicast" reads less of both.
inline const char *fastest_of_halves(const ck_call *call) {
    const int64_t m = rows(call), n = columns(call), k = inner(call);
    const bool in_place = n % 8 == 0 && k % 8 == 0, lines = n % 64 == 0 && k % 64 == 0;
    const double unaligned = (k % 8 == 0 ? 0 : 3.6 + elements_of(call, m, k) * 4 / 2e6) +
                             (n % 8 == 0 ? 0 : 3.6 + elements_of(call, k, n) * 4 / 2e6) +
                             elements_of(call, m, n) * (n % 8 == 0 ? 0 : 6e-7);
    const double whole = time_of_wgmma(call), split = wgmma_split_tiling_of(call).time;
    const wgmma_groups_tiling in_groups = wgmma_groups_of(call);
    const double groups = in_groups.groups > 1 ? in_groups.time : HUGE_VAL;
    const double divided = (groups < split ? groups : split) * 1.1;
    const double least = unaligned + (whole < divided ? whole : divided);
    const double cores = unaligned > 0 ? parts_of_tensor_cores(call).parts.time : HUGE_VAL;
    if (time_of_few_rows(call) < (cores < least ? cores : least)) return "few_rows";
    if (cores < least) return "tensor_cores_split_k";
    if (divided < whole) return groups < split ? "wgmma_groups" : "wgmma_split_k";
    const int64_t at_once = call->limits->multiprocessors;
    const bool halves = in_place && !lines && k >= 256 && tiles_of_wgmma(call, 64) * 4 >= at_once * 3;
    const bool narrow = !in_place && persistent_width(call) == 128 && tiles_of_wgmma(call, 128) >= at_once * 4;
    return halves || narrow ? "wgmma_multicast" : "wgmma_persistent";
}

// "residues_int8": its launches and its passes over the operands and the results; then, for each modulus, rounds of
// pairs of tiles. No more than 16 GiB of workspace.
inline double time_of_residues(const ck_call *call) {
    using size = residues_size;
    const int64_t m = rows(call), n = columns(call), k = inner(call);
    if (m > RESIDUES_MOST_LINES || n > RESIDUES_MOST_LINES || k > RESIDUES_MOST_K) return HUGE_VAL;
    ck_call own = *call;
    const int64_t parameters[CK_MAX_PARAMETERS] = {RESIDUES_DEFAULT};
    own.parameters = parameters;
    if (residues_workspace_of(&own).bytes > int64_t{16} << 30) return HUGE_VAL;
    const int64_t pairs = product(divide_up(m, PAIR * size::ROWS), divide_up(n, size::COLUMNS)) * RESIDUES_DEFAULT;
    const double rounds = static_cast<double>(divide_up(pairs, call->limits->multiprocessors / PAIR));
    const double slabs = static_cast<double>(divide_up(k, SLAB_BYTES));
    const double lines = static_cast<double>(m + n) * static_cast<double>(k);
    const double results = static_cast<double>(m) * static_cast<double>(n);
    return static_cast<double>(products(call)) *
           (25 + lines * 31 / 3.6e6 + results * 23 / 3.2e6 + rounds * (1.7 + slabs * 0.66));
}

// (With a k below 100, the check of "residues_int8" often fails by chance, and below 512 it is never faster.)
inline const char *fastest_of_doubles(const ck_call *call) {
    const k_parts square = parts_of_square_doubles(call), flat = parts_of_flat_doubles(call);
    const double tensor_cores = square.time < flat.time ? square.time : flat.time;
    const bool exact = call->limits->capability == 90 && call->limits->exact && inner(call) >= 512;
    return exact && time_of_residues(call) < tensor_cores ? "residues_int8" : "tensor_cores_double";
}

// The name of the fastest variant for this call. It depends on nothing but types, sizes and the chip.
inline const char *fastest_of(const ck_call *of) {
    const int64_t by_size[CK_MAX_PARAMETERS] = {}; // of every variant
    ck_call own = *of;
    own.parameters = by_size;
    const ck_call *const call = &own;
    const int capability = call->limits->capability;
    const bool hopper = capability == 90 && call->limits->exact; // wgmma runs on no other chip
    const bool tiny = rows(call) <= 32 && columns(call) <= 32;   // smaller than the tiles of most others
    switch (call->types.input) {
    case CK_FLOAT32:
        if (hopper) {
            struct choice {
                const char *name;
                double time;
            };
            const choice all[] = {
                {"tiled", time_of_tiled(call)},
                {"small_tiles", time_of_small_tiles(call)},
                {"warp_tiles", time_of_warp_tiles(call)},
                {"warp_tiles_split_k", parts_of_warp_tiles(call).time},
                {"few_rows", time_of_few_rows(call)},
                // For a k below 128, the sums of the tensor cores would be less accurate than those of float32. And
                // "split_inside" has the advantage that it takes the same time for nearly all data.
                {"split_fp16",
                 inner(call) >= 128 ? time_of_split(call) * (products(call) > 1 ? 1.2 : 1.05) : HUGE_VAL},
                {"split_inside", inner(call) >= 128 ? split_inside_tiling_of(call).time : HUGE_VAL},
                // From 1024 on, its sums, with a rounding for every 16 elements, would lose more than the others.
                {"split_small", inner(call) < 1024 ? choose_split_small(call).time : HUGE_VAL}};
            const auto *best = all;
            for (const auto &each : all)
                if (each.time < best->time) best = &each;
            return best->name;
        }
        if (tiny && (capability < 80 || inner(call) <= 32)) return "tiled";
        if (rows(call) <= FEW_MOST && columns(call) > FEW_MOST &&
            few_rows_can(rows(call), columns(call), inner(call)))
            return "few_rows";
        // So few tiles that larger ones would leave most multiprocessors without work.
        if (capability >= 80 && tiles_of_small(call) <= 2 * call->limits->multiprocessors) return "small_tiles";
        return capability >= 80 ? "warp_tiles" : "vectorized";
    case CK_FLOAT64:
        if (tiny && (capability < 90 || inner(call) <= 32)) return "tiled";
        return capability >= 90 ? fastest_of_doubles(call) : "register_tile";
    case CK_FLOAT16:
    case CK_BFLOAT16:
        return tiny ? "tiled" : hopper ? fastest_of_halves(call) : capability >= 80 ? "tensor_cores" : "tiled";
    default: return "tiled";
    }
}

} // namespace matmul

#endif
