"""What the documents say of memory and of conflicts (docs/sources.md), in exact figures of cudakern.trace."""

import functools

import numpy as np
import pytest

import cudakern as ck
from cudakern.operations.experiments import add_fields, vec3

LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
STORED = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"


compiled = functools.cache(ck.compile)


def launch(source, *arguments, block=32, number=0):
    """The trace of the source's kernel of that number."""
    program = compiled(source)
    with ck.use_backend("emulator"):
        return ck.trace(program[program.kernels[number]][1, block], *arguments)


def figures(trace, what, space="global"):
    """(requests, sectors, wavefronts, conflicts) of all accesses of a kind."""
    some = [one for one in trace.instructions if (one.what, one.space) == (what, space)]
    names = ("requests", "sectors", "wavefronts", "ideal")
    requests, sectors, wavefronts, ideal = (sum(getattr(one, name) for one in some) for name in names)
    return requests, sectors, wavefronts, wavefronts - ideal


# --- banks -----------------------------------------------------------------------------------------------------------
BANKS = {
    "tid": 1, "tid + 5": 1, "4 * tid": 4, "3": 1, "16 * tid": 16, "17 * tid": 1, "32 * tid": 32, "33 * tid": 1,
}  # fmt: skip


@pytest.mark.parametrize("index, wavefronts", BANKS.items())
def test_banks_of_an_index(index, wavefronts):
    """data[4 * tid] takes four passes, data[3] one for all, data[16 * tid] sixteen, and padded, data[17 * tid], one.
    (The documents' chips had 16 banks.)"""
    text = """__global__ void k{}(const int *index, int *y) {{
        __shared__ int data[33 * 32];
        const int tid = threadIdx.x;
        for (int i = tid; i < 33 * 32; i += 32) data[i] = index[0];
        __syncthreads();
        y[tid] = data[{}];
    }}
    """
    texts = "".join(text.format(number, each) for number, each in enumerate(BANKS))  # compiled together
    trace = launch(texts, np.zeros(1, "i4"), np.zeros(32, "i4"), number=[*BANKS].index(index))
    assert figures(trace, "load", "shared") == (1, 0, wavefronts, wavefronts - 1)


def test_data_stored_with_a_pitch_of_17():
    """The cure stores data[row * 17 + column]: two rows of 16 of a warp, of which one word meets another's bank."""
    text = """__global__ void k(const int *x, int *y) {
        __shared__ int data[17 * 32];
        const int tid = threadIdx.x, row = tid / 16, column = tid % 16;
        data[row * 17 + column] = x[tid];
        __syncthreads();
        y[tid] = data[tid];
    }"""
    trace = launch(text, np.zeros(32, "i4"), np.zeros(32, "i4"))
    assert figures(trace, "store", "shared") == (1, 0, 2, 1)  # words 0 and 32 are in one bank


TREE = """__global__ void tree(const int *x, int *y) {
    __shared__ int sums[256];
    const int tid = threadIdx.x;
    sums[tid] = x[tid];
    __syncthreads();
    %s
    if (tid == 0) y[0] = sums[0];
}"""
INTERLEAVED = """int offset = 1, mask = 1;
    while (offset < 256) {
        if ((tid & mask) == 0) sums[tid] += sums[tid + offset];
        offset += offset;
        mask = offset + mask;
        __syncthreads();
    }"""
STRIDED = """for (int offset = 1; offset < 256; offset *= 2) {
        const int i = 2 * offset * tid;
        if (i < 256) sums[i] += sums[i + offset];
        __syncthreads();
    }"""
SEQUENTIAL = """for (int offset = 128; offset > 0; offset /= 2) {
        if (tid < offset) sums[tid] += sums[tid + offset];
        __syncthreads();
    }"""


def of_tree(body):
    x, y = np.arange(256, dtype="i4"), np.zeros(1, "i4")
    trace = launch(TREE % body, x, y, block=256)
    assert y[0] == x.sum()
    (adds,) = {one.line for one in trace.instructions if one.what == "load" and one.space == "shared"} - {
        last_line(body)
    }
    requests, lanes, wavefronts, ideal = (
        sum(getattr(one, name) for one in trace.instructions if one.space == "shared" and one.line == adds)
        for name in ("requests", "lanes", "wavefronts", "ideal")
    )
    return requests, lanes, wavefronts - ideal


def last_line(body):
    return (TREE % body).splitlines().index("    if (tid == 0) y[0] = sums[0];") + 1


def test_interleaved_tree_against_sequential():
    """Both add 255 times, which are two loads and a store. Interleaved, the adding lanes are far apart, so that 47
    warps take part in all rounds; in order, 12. The documents blame conflicts: thread t works on word t, without any.
    """
    assert of_tree(INTERLEAVED) == (3 * 47, 3 * 255, 0)
    assert of_tree(SEQUENTIAL) == (3 * 12, 3 * 255, 0)


def test_a_tree_with_a_stride_has_conflicts():
    """The other form of an interleaved tree, sums[2 * offset * tid], takes as few warps, and has the conflicts.

    Lanes are 2, 4, 8, ... words apart: 4 warps with 2 words per bank, 2 with 4, then one with 8, 8, 8, 4, 2 and 1.
    """
    requests, lanes, conflicts = of_tree(STRIDED)
    assert (requests, lanes) == (3 * 12, 3 * 255)
    assert conflicts == 3 * (4 * 1 + 2 * 3 + 7 + 7 + 7 + 3 + 1)


def test_the_packages_trees():
    """Their sums have 8 bytes. Warps that take part in all rounds, for 32 blocks: 47 against 12."""
    x = np.ones(1 << 14, "i4")
    accesses = {}
    for name in ("tree_interleaved", "tree_sequential"):
        trace = ck.trace(ck.sum_of_squares, x, variant=name)
        accesses[name] = max(one.requests for one in trace.instructions if (one.what, one.space) == ("store", "shared"))
        blocks = next(one.requests for one in trace.instructions if one.lanes == one.requests)  # each block's thread 0
        accesses[name] /= blocks
    assert accesses == {"tree_interleaved": 47, "tree_sequential": 12}


# --- sectors ---------------------------------------------------------------------------------------------------------
SECTORS_OF = {
    "tid": 4, "tid + 1": 5, "tid + 8": 4, "2 * tid": 8, "8 * tid": 32, "32 * tid": 32, "tid ^ 5": 4, "tid / 2": 2,
    "7": 1, "3 * tid": 12,
}  # fmt: skip


@pytest.mark.parametrize("index, sectors", SECTORS_OF.items())
def test_sectors_of_an_index(index, sectors):
    text = "__global__ void k{}(const float *x, float *y) {{ const int tid = threadIdx.x; y[tid] = x[{}]; }}\n"
    texts = "".join(text.format(number, each) for number, each in enumerate(SECTORS_OF))
    trace = launch(texts, np.zeros(1024, "f4"), np.zeros(32, "f4"), number=[*SECTORS_OF].index(index))
    assert figures(trace, "load") == (1, sectors, 0, 0)


def test_a_warp_that_leaves_out_a_lane():
    """``if (tid != 3)`` saves no sector."""
    text = "__global__ void k(const float *x, float *y) { int tid = threadIdx.x; if (tid != 3) y[tid] = x[tid]; }"
    (load,) = (one for one in launch(text, np.zeros(32, "f4"), np.zeros(32, "f4")).instructions if one.what == "load")
    assert (load.requests, load.lanes, load.sectors) == (1, 31, 4)


def test_chunked_against_coalesced():
    """A chunk of elements per thread takes 32 sectors per request; neighbors for neighboring threads take four."""
    x = np.ones(1 << 16, "i4")
    chunked, coalesced = (ck.trace(ck.sum_of_squares, x, variant=v).metrics for v in ("chunked", "coalesced"))
    assert (chunked[LOADS], chunked[SECTORS]) == (2048, 32 * 2048)
    assert (coalesced[LOADS], coalesced[SECTORS]) == (2048, 4 * 2048)


def by_field(x):
    """The same structs as an array per field."""
    return ck.asarray(np.ascontiguousarray(x.T)).T


def test_arrays_of_structs_against_structs_of_arrays():
    """Four fields of 4 bytes, added in place: a fourth of the sectors (the documents' transactions)."""
    x = np.ones((4096, 4), "i4")
    with ck.use_backend("emulator"):
        out = ck.zeros((4, 4096), "int32").T
        structs = ck.trace(add_fields, *map(ck.asarray, (x, x)), variant="array_of_structs").metrics
        arrays = ck.trace(add_fields, by_field(x), by_field(x), out=out, variant="struct_of_arrays").metrics
        at_once = ck.trace(add_fields, *map(ck.asarray, (x, x)), variant="aligned_structs").metrics
    # Arrays of fields may overlap: what has been stored is loaded again. Members of a struct do not.
    assert (structs[LOADS], arrays[LOADS]) == (4 * at_once[LOADS], 6 * at_once[LOADS])
    assert structs[SECTORS] == 16 * structs[LOADS] == 4 * at_once[SECTORS]
    assert arrays[SECTORS] == 4 * arrays[LOADS]
    assert structs[STORED] == 4 * arrays[STORED]


def test_structs_of_twelve_bytes():
    """Each field takes 12 sectors, for four that an array of its own would; by way of shared memory, four, too."""
    x = np.ones((4096, 3), "f4")
    with ck.use_backend("emulator"):
        structs = ck.trace(vec3, ck.asarray(x), variant="array_of_structs").metrics
        arrays = ck.trace(vec3, by_field(x), variant="struct_of_arrays").metrics
        staged = ck.trace(vec3, ck.asarray(x), variant="staged")
    assert structs[LOADS] == arrays[LOADS] == staged.metrics[LOADS] == 3 * 128
    assert [one[SECTORS] / one[LOADS] for one in (structs, arrays, staged.metrics)] == [12, 4, 4]
    assert figures(staged, "load", "shared")[3] == 0  # words 3t, 3t + 1 and 3t + 2 lie in different banks


# --- products --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("width", [8, 16, 32])
def test_naive_against_tiled_by_the_tiles_width(width):
    """Tiles divide the words that threads load by their width."""
    n = 64
    a = np.ones((n, n), "f4")
    naive = ck.trace(ck.matmul, a, a, variant="naive")
    tiled = ck.trace(ck.matmul, a, a, variant="tiled", tile=width)
    lanes = [
        sum(one.lanes for one in t.instructions if (one.what, one.space) == ("load", "global")) for t in (naive, tiled)
    ]
    assert lanes == [2 * n**3, 2 * n**3 // width]
    assert naive.metrics[LOADS] == width * tiled.metrics[LOADS] == 2 * n**3 / 32


def test_a_warp_of_a_square_block_reads_two_rows():
    """naive_2d: with blocks of 16 x 16, a load of A takes two sectors, and one of B two, too."""
    a = np.ones((64, 64), "f4")
    metrics = ck.trace(ck.matmul, a, a, variant="naive_2d").metrics
    assert metrics[SECTORS] / metrics[LOADS] == 2
