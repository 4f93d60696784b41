"""Where counters of cudakern.trace differ from Nsight Compute's, and why. docs/results/counters.md shows each figure;
test_counters.py and test_counters_ladders.py compare them."""

#: Of the kernels of counter_patterns.py.
PATTERNS = {
    "two_branches": "nvcc chooses one of two addresses and loads and stores once, without a branch",
    "rounds_by_lane": "nvcc unrolls the loop so that lanes leave it at other times",
    "shared_stored_to_one": "nvcc knows the value, and does without shared memory",
    "shared_walk_updated": "nvcc keeps the element that it has just stored in a register",
    "shared_floats_added": "on a GPU a loop of compare-and-swap, whose rounds depend on the other warps",
}

_OF_VARIANTS = {
    "nvcc unrolls a loop, moves a load out of it, or makes one access of those in two branches": """
        saxpy grid_stride; stencil_1d global_memory, register_window; sum_of_squares chunked, chunked_global;
        matmul warp_tiles, warp_tiles_split_k; sort many_blocks, sample_sort_sequential, sample_sort;
        exclusive_scan block_chunks; inclusive_scan block_chunks; bank_conflicts strided, padded;
        moving_sum compile_time_index, spilled""",
    "nvcc joins accesses to shared memory otherwise": """
        sum_of_squares shared_serial; matmul shared_row, pitched, split_inside""",
    "Nsight counts a few passes more where accesses of several warps meet": """
        sum_of_squares vectorized, cooperative; matmul register_tile, vectorized, few_rows, split_fp16,
        split_bf16, split_inside, warp_tiles_split_k, tensor_cores_split_k, wgmma_persistent, wgmma_multicast;
        sort many_blocks""",
    "threads wait for others, for as long as it takes": """
        sum_of_squares cooperative; exclusive_scan lookback; inclusive_scan lookback""",
    "kernels of the runtime, which lay out operands, are not traced": "matmul wgmma_tf32, wgmma_int8",
    "not understood": """
        matmul tensor_cores, tensor_cores_double; bincount global_atomics, warp_aggregated""",
}
#: Of variants: {(operation, variant): reasons}.
VARIANTS: dict[tuple[str, str], list[str]] = {}
for _reason, _some in _OF_VARIANTS.items():
    for _of in _some.split(";"):
        _operation, _, _names = " ".join(_of.split()).partition(" ")
        for _name in _names.split(", "):
            VARIANTS.setdefault((_operation, _name), []).append(_reason)

#: Of variants' branches and arithmetic, by the figure.
_ARITHMETIC = ["nvcc unrolls, computes indices and functions in its own way; products of matrices are not counted"]
CODE = {
    "smsp__sass_branch_targets_threads_divergent.sum": ["nvcc unrolls loops, and has predicates or other branches"]
} | {
    f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum": _ARITHMETIC
    for op in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma")
}
