// The grids of "few_rows", for its plan, its launches and "fastest".
#ifndef CK_MATMUL_PLANS_FEW_ROWS_CUH
#define CK_MATMUL_PLANS_FEW_ROWS_CUH

#include "../../sizes.h"
#include "../ladder/19_few_rows.cuh"

namespace matmul {

// The kernels count in 32 bits.
enum : int64_t { FEW_LONGEST = INT32_MAX - few_along_depth(1) };
inline bool few_rows_can(int64_t m, int64_t n, int64_t k) {
    return m <= FEW_LONGEST && n <= FEW_LONGEST && k <= FEW_LONGEST;
}

// The parts of k for so many blocks (of all products): as many as run at once, so that loads of B are always under
// way, but none is shorter than a step.
inline int64_t few_parts(int64_t few, bool along_k, size_t bytes_of_element, int64_t k, int64_t blocks,
                         int64_t multiprocessors) {
    const int64_t each = few_blocks(along_k, few, bytes_of_element);
    const int64_t fit = each * multiprocessors / (blocks > 0 ? blocks : 1);
    const int64_t steps = k / (along_k ? few_along_depth(bytes_of_element) : FEW_ACROSS_DEPTH);
    const int64_t parts = fit < steps ? fit : steps;
    return parts > 1 ? parts : 1;
}

// The grid of a call with `few` rows and so many columns (or the other way round): the columns and threads of a
// block, the blocks for all columns and rows, and the parts of k. For one row of float32 and enough columns, blocks
// of few columns have all of k, so that no second kernel adds parts. (Not where rows of B would probably not begin at
// multiples of 32 bytes: of a short piece of a row, a larger part of what is read is outside.)
struct few_grid {
    int columns, threads;
    int64_t blocks, parts;
};
inline few_grid few_grid_of(int64_t few, int64_t columns, bool along_k, size_t bytes_of_element, int64_t k,
                            int64_t products, int64_t multiprocessors) {
    const int each = few_columns(along_k, bytes_of_element), threads = along_k ? +FEW_THREADS : +FEW_ACROSS_THREADS;
    const int64_t blocks = product(divide_up(columns, each), divide_up(few, FEW_MOST));
    const int64_t parts = few_parts(few, along_k, bytes_of_element, k, product(blocks, products), multiprocessors);
    const int64_t narrow = divide_up(columns, FEW_NARROW);
    const bool enough = product(narrow, products) >= multiprocessors - multiprocessors / 4;
    if (!along_k && few == 1 && bytes_of_element == 4 && columns % 8 == 0 && parts > 1 && enough)
        return {FEW_NARROW, FEW_NARROW_THREADS, narrow, 1};
    return {each, threads, blocks, parts};
}

} // namespace matmul

#endif
