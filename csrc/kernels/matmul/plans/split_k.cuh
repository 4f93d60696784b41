// The plans of "warp_tiles_split_k", "tensor_cores_split_k" and "tensor_cores_double", and how long they take.
#ifndef CK_MATMUL_PLANS_SPLIT_K_CUH
#define CK_MATMUL_PLANS_SPLIT_K_CUH

#include "../ladder/21_tensor_cores_split_k.cuh"
#include "../ladder/41_tensor_cores_double.cuh"
#include "cores.cuh"

namespace matmul {

// The parts of k and groups with the shortest estimated time (in microseconds, fitted to an H200), unless the caller
// chooses. A step of k takes 34 ns, and less where several blocks share a multiprocessor. Groups of clusters cost a
// second launch, so they need a long k.
struct k_parts {
    int64_t tiles, parts, groups; // of one product; in each tile; in each tile
    double time;
};
inline k_parts parts_of_warp_tiles(const ck_call *call) {
    using size = warp_tiles_small;
    const int64_t parts = call->parameters[0];
    int64_t groups = call->parameters[1];
    const int64_t slabs = divide_up(inner(call), size::DEPTH), at_once = call->limits->multiprocessors;
    const int64_t tiles = product(divide_up(rows(call), size::ROWS), divide_up(columns(call), size::COLUMNS));
    const int64_t all = product(tiles, products(call));
    const double results = static_cast<double>(product(product(rows(call), columns(call)), products(call)));
    const double read =
        static_cast<double>(product(product(rows(call) + columns(call), inner(call)), products(call)));
    if (products(call) > call->limits->max_grid[2]) groups = 1; // the sums of groups need all products in one launch
    k_parts best = {};
    for (int64_t own = 1; own <= MOST_PARTS; own *= 2) {
        if (parts != 0 ? own != parts : own > 1 && own > slabs) continue;
        for (int64_t count = groups != 0 ? groups : 1;; count *= 2) {
            const double rounds = static_cast<double>(divide_up(product(all, own * count), at_once));
            const double steps = static_cast<double>(divide_up(slabs, own * count) * size::DEPTH);
            double time = 6 + read * 4 / 4.5e6 +
                          rounds * (1.1 + steps * (rounds > 2   ? 0.024
                                                   : rounds > 1 ? 0.03
                                                                : 0.034));
            if (count > 1) time += 3 + results * static_cast<double>(2 * count + 1) * 4 / 3e6;
            if (best.parts == 0 || time < best.time) best = {tiles, own, count, time};
            if (groups != 0 || count * 2 > slabs / own / 16) break;
        }
    }
    return best;
}

// The same for "tensor_cores_split_k", for one size of its tiles. A block takes `first` microseconds of its
// multiprocessor and `slab` for each slab, whatever else runs there; and it is there for `wait` and `alone` for each
// slab. The last slab of k may be shorter. `own_parts`: more where k is divided.
struct any_lines_times {
    double start, first, slab, wait, alone, own_parts, read;
};
template <typename size> k_parts parts_of_any_lines(const ck_call *call, const any_lines_times &times) {
    const int64_t parts = call->parameters[0], m = rows(call), n = columns(call), k = inner(call);
    int64_t groups = call->parameters[1];
    const int64_t slabs = divide_up(k, size::DEPTH), at_once = call->limits->multiprocessors;
    const int64_t tiles = product(divide_up(m, size::ROWS), divide_up(n, size::COLUMNS));
    const int64_t all = product(tiles, products(call));
    if (products(call) > call->limits->max_grid[2]) groups = 1; // the sums of groups need all products in one launch
    k_parts best = {};
    for (int64_t own = 1; own <= MOST_PARTS; own *= 2) {
        if (parts != 0 ? own != parts : own > 1 && own > slabs) continue;
        for (int64_t count = groups != 0 ? groups : 1;; count *= 2) {
            const int64_t blocks = product(all, own * count);
            const double whole = static_cast<double>(divide_up(slabs, own * count));
            const double own_slabs = own * count == 1 ? static_cast<double>(k) / size::DEPTH : whole;
            const double busy =
                static_cast<double>(divide_up(blocks, at_once)) * (times.first + own_slabs * times.slab);
            const double there = static_cast<double>(divide_up(blocks, at_once * size::BLOCKS)) *
                                 (times.wait + own_slabs * times.alone);
            double time = times.start + (busy > there ? busy : there) + (own > 1 ? times.own_parts : 0) +
                          elements_of(call, m + n, k) * times.read;
            if (count > 1) time += 3 + elements_of(call, m, n) * static_cast<double>(2 * count + 1) * 4 / 2.5e6;
            if (best.parts == 0 || time < best.time) best = {tiles, own, count, time};
            if (groups != 0 || count * 8 > slabs / own) break;
        }
    }
    return best;
}

struct any_lines_choice {
    bool large; // tiles
    k_parts parts;
};
inline any_lines_choice parts_of_tensor_cores(const ck_call *call) {
    const k_parts large = parts_of_any_lines<any_lines_large>(call, {5.8, 0.9, 0.69, 0.4, 0.9, 0, 0.4e-6});
    const k_parts small = parts_of_any_lines<any_lines_small>(call, {5.2, 0.4, 0.33, 0, 0.53, 0.2, 1.3e-6});
    const int64_t tile = call->parameters[2];
    const bool use_large = tile == 0 ? large.time <= small.time : tile == any_lines_large::ROWS;
    return {use_large, use_large ? large : small};
}

// "tensor_cores_double": as C^T if C has few columns.
inline bool few_columns_of_doubles(const ck_call *call) {
    return columns(call) <= tensor_cores_double_flat::ROWS && columns(call) < rows(call);
}

// The same for one size of its tiles. A slab takes `slab` microseconds of a multiprocessor that has as many blocks as
// it can hold, and `alone` where it has one; `first`: what a block takes besides. Reading takes longer with few
// blocks, and where the last ones leave room.
struct double_times {
    double slab, alone, first;
};
template <typename size> k_parts parts_of_double_tiles(const ck_call *call, const double_times &times) {
    const int64_t parts = call->parameters[0], groups = call->parameters[1];
    const bool transposed = few_columns_of_doubles(call);
    const int64_t m = transposed ? columns(call) : rows(call), n = transposed ? rows(call) : columns(call);
    const int64_t k = inner(call), slabs = divide_up(k, size::DEPTH);
    const int64_t tiles = product(divide_up(m, size::ROWS), divide_up(n, size::COLUMNS));
    const int64_t all = product(tiles, products(call));
    const double read = elements_of(call, m + n, k) * 8, results = elements_of(call, m, n) * 8;
    const double singles = columns(call) % 2 == 0 && k % 2 == 0 ? 1 : 1.1; // copies take longer
    const bool one_launch = products(call) <= call->limits->max_grid[2];   // which the sums of groups need
    k_parts best = {};
    for (int64_t own = 1; own <= MOST_PARTS; own *= 2) {
        if (parts != 0 ? own != parts : own > 1 && own > slabs) continue;
        const int64_t at_once = own * clusters_at_once(call, own), room = at_once * size::BLOCKS;
        for (int64_t count :
             {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, room / (all > 0 ? product(all, own) : 1)}) {
            if (groups != 0)
                count = groups;
            else if (count != 1 && count * 2 > slabs / own)
                continue;
            if (count < 1 || !one_launch) count = 1;
            const int64_t blocks = product(all, own * count), each = divide_up(blocks, at_once);
            const int64_t last = each % size::BLOCKS, rounds = divide_up(blocks, room);
            const double own_slabs = static_cast<double>(divide_up(slabs, own * count)) * singles;
            const double first = times.first + (own > 1 ? 0.6 : 0);
            const double shared = first + own_slabs * times.slab, alone = first + own_slabs * times.alone;
            const double after = last == 0 ? 0 : static_cast<double>(last) * shared;
            const double busy =
                static_cast<double>(each - last) * shared + (last > 0 && after < alone ? alone : after);
            const double full = rounds > 1 ? static_cast<double>(rounds * room) / static_cast<double>(blocks) : 1;
            const double memory = read / (blocks * 2 >= at_once * 3 ? 3.5e6 : 3e6) * full;
            double time = 4.3 + (busy > memory ? busy : memory) + (own > 1 ? 1.1 : 0);
            if (count > 1)
                time +=
                    3.1 + 0.075 * static_cast<double>(count) + results * static_cast<double>(2 * count + 1) / 6.7e6;
            if (best.parts == 0 || time < best.time) best = {tiles, own, count, time};
        }
    }
    return best;
}

template <typename size>
int plan_parts(const ck_call *call, ck_plan *plan, ck_error *error, const k_parts &k, int pitch) {
    CK_TRY(plan_tiles(call, plan, error, size::ROWS, size::COLUMNS, size::THREADS));
    const int64_t blocks = product(k.tiles, k.parts * k.groups);
    if (blocks > call->limits->max_grid[0])
        return ck_fail(error, CK_BAD_VALUE, "the result needs %lld blocks, but this device allows at most %lld",
                       static_cast<long long>(blocks), static_cast<long long>(call->limits->max_grid[0]));
    for (int view = 0; view < 3; ++view) plan->layout[view].contiguous = axes_of<uint8_t>(call).count > STACK_AXES;
    if (!empty(call)) plan->grid[0] = static_cast<unsigned>(blocks);
    plan->shared_bytes = size::SHARED_BYTES;
    plan->layout[0].pitch = plan->layout[1].pitch = pitch; // bytes of an element: rows or columns are contiguous
    return plan_groups(call, plan, error, k.groups);
}
inline int plan_warp_tiles_split_k(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_parts<warp_tiles_small>(call, plan, error, parts_of_warp_tiles(call), 4);
}
inline int plan_tensor_cores_split_k(const ck_call *call, ck_plan *plan, ck_error *error) {
    const any_lines_choice choice = parts_of_tensor_cores(call);
    return choice.large ? plan_parts<any_lines_large>(call, plan, error, choice.parts, 2)
                        : plan_parts<any_lines_small>(call, plan, error, choice.parts, 2);
}

inline k_parts parts_of_square_doubles(const ck_call *call) {
    return parts_of_double_tiles<tensor_cores_double_square>(call, {0.301, 0.39, 1.15});
}
inline k_parts parts_of_flat_doubles(const ck_call *call) {
    return parts_of_double_tiles<tensor_cores_double_flat>(call, {0.19, 0.293, 0.44});
}
inline int plan_tensor_cores_double(const ck_call *call, ck_plan *plan, ck_error *error) {
    using square = tensor_cores_double_square;
    using flat = tensor_cores_double_flat;
    const k_parts of_square = parts_of_square_doubles(call), of_flat = parts_of_flat_doubles(call);
    const int64_t tile = call->parameters[2];
    return tile == square::ROWS || (tile == 0 && of_square.time <= of_flat.time)
               ? plan_parts<square>(call, plan, error, of_square, 8)
               : plan_parts<flat>(call, plan, error, of_flat, 8);
}

} // namespace matmul

#endif
