// The launches of "residues_int8". The table is in matmul.cu.
#include "../ladder/42_residues_int8.cuh"
#include "hopper.cuh"
#include "residues.cuh"

namespace matmul {

run_tensor_cores_double_unless_of run_tensor_cores_double_unless; // tensor_cores_double.cu

namespace {

// A map of an operand's planes; a box has 128 bytes along k and box_lines lines.
int map_planes(tensor_map *map, const residue_side &side, int moduli, int box_lines, ck_error *error) {
    const uint64_t pitch = static_cast<uint64_t>(side.pitch), lines = static_cast<uint64_t>(side.padded);
    const tensor_map_shape shape = {1,
                                    3,
                                    {pitch, lines, static_cast<uint64_t>(moduli)},
                                    {0, pitch, pitch * lines},
                                    {SLAB_BYTES, static_cast<uint32_t>(box_lines), 1},
                                    SLAB_BYTES};
    const cudaError_t code = static_cast<cudaError_t>(tensor_map_make(map, side.planes, &shape));
    return code == cudaSuccess ? static_cast<int>(CK_OK) : ck_fail_cuda(error, code, "residues_product");
}

// The kernels of one product of the stack, `first`.
int run_one(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error,
            const operand_stack<double, false> &stack) {
    const operands<double, false> &first = stack.first;
    const directions along_k = directions_of(call, plan);
    if (first.k == 0) return run_tensor_cores_double_unless(call, stack, along_k, nullptr, context, error);
    const int moduli = static_cast<int>(call->parameters[0]), m = static_cast<int>(first.m),
              n = static_cast<int>(first.n);
    const residue_system system(moduli);
    const residues_workspace at = residues_workspace_of(call);
    char *const workspace = static_cast<char *>(context->workspace);
    residue_operands split = {};
    split.findings = reinterpret_cast<residue_findings *>(workspace + at.findings),
    split.k = static_cast<int>(first.k);
    for (int i = 0; i < 2; ++i) {
        const operands<double, false> side = i == 0 ? first : first.transposed(); // B's columns are lines
        split.side[i] = {side.a,
                         at.pitch,
                         static_cast<int>(side.m),
                         static_cast<int>(at.side[i].padded),
                         reinterpret_cast<int *>(workspace + at.side[i].scales),
                         reinterpret_cast<int8_t *>(workspace + at.side[i].planes)};
    }
    CK_TRY(
        ck_launch(context, error, "residues_clear", residues_clear, dim3(1), dim3(32), 0, split.findings, split.k));

    const int64_t most = at.side[0].padded > at.side[1].padded ? at.side[0].padded : at.side[1].padded;
    const unsigned groups = static_cast<unsigned>(divide_up(most, RESIDUES_LINES)),
                   pitch = static_cast<unsigned>(at.pitch);
    CK_TRY(ck_launch_early(0, context, error, "residues_scale", residues_scale, dim3(groups, 2),
                           dim3(RESIDUES_SCALE_THREADS), 0, split, system.norm));
    const dim3 split_grid(groups * (pitch / RESIDUES_DEPTH), 2);
    const double per_unit = 15.99 * sqrt(static_cast<double>(split.k)) / system.norm; // 16, but for roundings
    CK_TRY(ck_launch_early(0, context, error, "residues_magnitudes", residues_magnitudes, split_grid,
                           dim3(RESIDUES_THREADS), 0, split, per_unit));

    tensor_map a_map, b_map;
    CK_TRY(map_planes(&a_map, split.side[0], moduli, residues_size::ROWS, error));
    CK_TRY(map_planes(&b_map, split.side[1], moduli, residues_size::COLUMNS / PAIR, error));
    int8_t *const planes = reinterpret_cast<int8_t *>(workspace + at.results);
    box_operands<int8_t> product = {{planes, at.results_pitch, 1}, m, n, static_cast<int>(pitch), 0, 1, 0, 0, {}};
    CK_TRY(ck_launch_early(PAIR, context, error, "residues_compare", residues_compare<residues_size>,
                           ck_dim3(plan->grid), ck_dim3(plan->block), plan->shared_bytes, a_map, b_map, product,
                           split.findings));
    CK_TRY(ck_launch_early(0, context, error, "residues_split", residues_split, split_grid, dim3(RESIDUES_THREADS), 0,
                           split, moduli));

    product.n = static_cast<int>(at.side[1].padded), product.products = moduli, product.axes = 1;
    product.axis[0] = {moduli, 1, 1, m * at.results_pitch};
    CK_TRY(ck_launch_early(PAIR, context, error, "residues_product", residues_product<residues_size>,
                           ck_dim3(plan->grid), ck_dim3(plan->block), plan->shared_bytes, a_map, b_map, product,
                           split.findings));

    const residue_results results = {
        planes, at.results_pitch, first.c, m, n, split.side[0].scales, split.side[1].scales, split.findings};
    // Blocks for four rounds: a block then has several rows, whose loads overlap, and the last round is short.
    const int64_t rounds = 4, wide = divide_up(n, 4 * RESIDUES_THREADS);
    const int64_t high = divide_up(rounds * RESIDUES_JOIN_BLOCKS * call->limits->multiprocessors, wide);
    CK_TRY(ck_launch_early(0, context, error, "residues_join", residues_join,
                           dim3(static_cast<unsigned>(wide), static_cast<unsigned>(smaller(m, high))),
                           dim3(RESIDUES_THREADS), 0, results, system));
    return run_tensor_cores_double_unless(call, stack, along_k, split.findings, context, error);
}

} // namespace

CK_RUN(residues_int8) {
    if (empty(call)) return CK_OK;
    return in_parts(operands_of_lines<double>(call), axes_of<double>(call), 1,
                    [&](const operand_stack<double, false> &stack, int64_t) {
                        return run_one(call, plan, context, error, stack);
                    });
}

} // namespace matmul
