// The plan of "residues_int8".
#ifndef CK_MATMUL_PLANS_RESIDUES_CUH
#define CK_MATMUL_PLANS_RESIDUES_CUH

#include "../launches/residues.cuh"
#include "hopper.cuh"

namespace matmul {

enum { RESIDUES_DEFAULT = 15 }; // moduli

// The grid is that of the products: pairs of blocks, as many as run at once. Operands have the layout that
// "tensor_cores_double" needs, which takes over where residues are not good enough.
inline int plan_residues_int8(const ck_call *call, ck_plan *plan, ck_error *error) {
    using size = residues_size;
    const int64_t tiles = product(divide_up(rows(call), PAIR * size::ROWS), divide_up(columns(call), size::COLUMNS));
    const int64_t pairs = smaller(product(tiles, call->parameters[0]), call->limits->multiprocessors / PAIR);
    CK_TRY(plan_grid(call, plan, error, PAIR * pairs, 1, size::THREADS, 1));
    if (rows(call) > RESIDUES_MOST_LINES || columns(call) > RESIDUES_MOST_LINES || inner(call) > RESIDUES_MOST_K)
        return ck_fail(error, CK_BAD_VALUE,
                       "\"residues_int8\" takes m and n of at most %lld and k at most %lld, but k is %lld",
                       static_cast<long long>(RESIDUES_MOST_LINES), static_cast<long long>(RESIDUES_MOST_K),
                       static_cast<long long>(inner(call)));
    plan->grid[2] = 1;
    plan->shared_bytes = size::SHARED_BYTES;
    plan->layout[0].pitch = plan->layout[1].pitch = 8;
    if (!empty(call)) plan->workspace_bytes = static_cast<size_t>(residues_workspace_of(call).bytes);
    return CK_OK;
}

} // namespace matmul

#endif
