"""Where counters of cudakern.trace differ from Nsight Compute's, and why. docs/results/counters.md shows each figure;
test_counters.py and test_counters_ladders.py compare them."""

import re

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
    "threads wait for others, for as long as it takes": """
        sum_of_squares cooperative; exclusive_scan lookback; inclusive_scan lookback""",
    "not understood": "matmul tensor_cores, tensor_cores_split_k; bincount global_atomics, warp_aggregated",
}
_OF_LOCAL = {
    # (gpu_kernels.json says which spill; in that of split_inside, 160 bytes are an array.)
    "what nvcc spills is not counted": "matmul register_tile, split_fp16, split_bf16; moving_sum spilled",
    "of arrays, accesses by constant indices, or through a pointer or a lambda, are not counted": """
        matmul split_inside; moving_sum runtime_index""",
    "nvcc copies a table of constants to the stack": "matmul residues_int8",
}


def _by_variant(reasons: dict[str, str]) -> dict[tuple[str, str], list[str]]:
    result: dict[tuple[str, str], list[str]] = {}
    for reason, some in reasons.items():
        for of in some.split(";"):
            operation, _, names = " ".join(of.split()).partition(" ")
            for name in names.split(", "):
                result.setdefault((operation, name), []).append(reason)
    return result


#: Of variants: {(operation, variant): reasons}; and of their figures of local memory.
VARIANTS, LOCAL = _by_variant(_OF_VARIANTS), _by_variant(_OF_LOCAL)

MEET = "Nsight counts passes more where accesses of several warps meet"
_PASSES = re.compile(r"l1tex__data_(?:pipe_lsu_wavefronts|bank_conflicts_pipe_lsu)_mem_shared_op_(\w+)\.sum")


def meeting(name: str, measured: dict[str, float]) -> float:
    """The part of a figure by Nsight that is not of single instructions, but of accesses of several warps that meet:
    it differs between runs. (Nsight counts stmatrix by no instruction: then it cannot be told.)"""
    if not (match := _PASSES.fullmatch(name)):
        return 0
    of_all = measured[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{match[1]}.sum"]
    kinds = ("ld", "ldsm") if match[1] == "ld" else match.groups()
    passes = (measured.get(f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{kind}.sum", 0) for kind in kinds)
    of_instructions = sum(passes)
    return of_all - of_instructions if of_instructions else 0


#: Of variants' branches and arithmetic, by the figure.
_ARITHMETIC = ["nvcc unrolls, computes indices and functions in its own way; products of matrices are not counted"]
CODE = {
    "smsp__sass_branch_targets_threads_divergent.sum": ["nvcc unrolls loops, and has predicates or other branches"]
} | {
    f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum": _ARITHMETIC
    for op in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma")
}
