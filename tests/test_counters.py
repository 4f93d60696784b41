"""cudakern.trace: its counters against Nsight Compute's on a GPU."""

import json
import pathlib

import numpy as np
import pytest

import cache_patterns
import counter_patterns
import cudakern as ck
from counter_reasons import PATTERNS
from cudakern.insight.variants import trace_variant

RECORD = pathlib.Path(__file__).parents[1] / "docs/results/gpu_counters.json"


def arrays():
    return ck.asarray(np.ones(counter_patterns.ELEMENTS, "f4")), ck.zeros(counter_patterns.ELEMENTS, "f4")


@pytest.fixture(scope="module")
def patterns():
    return ck.compile(counter_patterns.SOURCE, name="patterns")


@pytest.fixture(scope="module")
def measured():
    return json.loads(RECORD.read_text())


def counted(patterns, name):
    with ck.use_backend("emulator"):
        return ck.trace(patterns[name], *counter_patterns.shape(name), *arrays(), counter_patterns.ROUNDS)


@pytest.mark.parametrize("name", counter_patterns.BODIES)
def test_the_figures_are_those_of_a_gpu(patterns, measured, name):
    expected = dict(zip(measured["metrics"], measured["kernels"][name], strict=True))
    metrics = counted(patterns, name).metrics
    names = expected.keys() - {*counter_patterns.CODE_METRICS}
    differing = {key: (metrics[key], expected[key]) for key in names if metrics[key] != expected[key]}
    assert bool(differing) == (name in PATTERNS), differing


def test_the_same_figures_with_any_number_of_workers(patterns, emulator):
    figures = []
    for workers in (1, 2, 5):
        emulator.configure("workers", str(workers))
        try:
            figures.append(counted(patterns, "transposed_tile").to_dict()["metrics"])
        finally:
            emulator.configure("workers", "0")
    assert figures[0] == figures[1] == figures[2]


# --- caches ----------------------------------------------------------------------------------------------------------
#: Hit rates that differ by more than ten points from Nsight Compute's, and why: (kernel, metric).
_L1, _L2 = (f"{unit}__t_sector_hit_rate.pct" for unit in ("l1tex", "lts"))
FAR = {
    ("block_reads_much_twice", _L1): "a multiprocessor had fewer of the blocks than the model gives it",
    ("block_reads_much_twice", _L2): "what L1 had, L2 is not asked for",
    ("transposed", _L1): "how far warps drift apart",
    ("column_written", _L1): "how far warps drift apart",
    ("words_written_and_read", _L1): "the model reads only sectors that were written as a whole",
    ("words_written_and_read", _L2): "what L1 had, L2 is not asked for",
    ("volatile_reads", _L2): "not understood",
    ("reductions", _L2): "not understood",
}


@pytest.fixture(scope="module")
def modelled():
    return cache_patterns.model()


def test_hit_rates_are_near_those_of_a_gpu(measured, modelled):
    assert set(cache_patterns.far(measured["caches"], modelled)) == set(FAR)


@pytest.mark.parametrize(
    "name, l1, l2, dram",
    [
        ("copied", 0, 50, 1 << 20),  # half of the reads and writes cross to the other partition: all count
        ("added_arrays", 0, 100 / 3, 2 << 20),
        ("read_twice", 100 * 4 / 9, 20, 4 << 20),  # the second time of two, and no store
        ("written", 0, 100, 0),
        ("incremented", 50, 50, 1 << 20),  # the store
        ("column_written", 87.5, 100, 0),
        ("transposed", 77.78, 89, 1 << 20),  # seven of eight stores to a sector
        ("volatile_reads", 0, 81, 1 << 20),
        ("broadcast", 87.5, 93, 1 << 17),
    ],
)
def test_what_the_model_says(modelled, name, l1, l2, dram):
    figures = modelled[name]
    assert figures["l1tex__t_sector_hit_rate.pct"] == pytest.approx(l1, abs=0.01)
    assert figures["lts__t_sector_hit_rate.pct"] == pytest.approx(l2, abs=1)
    assert figures["dram__bytes_read.sum"] == dram


def test_l1_shrinks_by_the_shared_memory_of_resident_blocks():
    """Blocks read 64 KB twice. With 100 KB of shared memory each, two are resident, and L1 has 56 KB left."""
    text = "__global__ void k(const float *x, float *y) { extern __shared__ float s[]; s[threadIdx.x] = 0;" \
           " for (int r = 0; r < 2; ++r) { for (int k = 0; k < 64; ++k)" \
           " s[threadIdx.x] += x[blockIdx.x * 16384 + k * 256 + threadIdx.x]; __syncthreads(); }" \
           " y[threadIdx.x] = s[threadIdx.x]; }"  # fmt: skip
    x, y = np.zeros(1 << 14, "f4"), np.zeros(256, "f4")
    hits = {}
    for kilobytes in (1, 100):
        trace = launch(text, x, y, block=256, shared=kilobytes << 10)
        hits[kilobytes] = trace.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"]
    assert hits[1] == 2048
    assert hits[100] < 300


# --- lanes that are far apart ----------------------------------------------------------------------------------------
FAR_APART = """
__global__ void loop(const float *x, float *y, int n) {
    float s = 0;
    for (int k = 0; k < n; ++k) s += x[(k * 64 + threadIdx.x) % 4096];
    y[threadIdx.x] = s;
}
__global__ void one_lane(const float *x, float *y, int n) {
    float s = 0;
    if (threadIdx.x == 0)
        for (int k = 0; k < n; ++k) s += x[k % 4096];
    __syncthreads();
    y[threadIdx.x] = s;
}
__global__ void some_wait(const float *x, float *y, int n) {
    if (threadIdx.x % 2) __syncwarp(0xaaaaaaaa);
    float s = 0;
    for (int k = 0; k < n; ++k) s += x[k % 4096];
    y[threadIdx.x] = s;
}"""


@pytest.mark.parametrize("name, lanes, sectors", [("loop", 64, 8), ("one_lane", 1, 1), ("some_wait", 64, 2)])
def test_lanes_far_ahead_let_others_run(name, lanes, sectors):
    """Lanes run one after another, and a loop of 50000 rounds is more than one lane may be ahead of its warp."""
    n = 50000
    with ck.use_backend("emulator"):
        x, y = np.zeros(4096, "f4"), np.zeros(64, "f4")
        (load,) = lines(ck.trace(ck.compile(FAR_APART)[name], 1, 64, x, y, n), "load")
    assert (load.requests, load.lanes, load.sectors) == (n * (lanes // 64 + 1), n * lanes, n * sectors)


# --- kinds of memory -------------------------------------------------------------------------------------------------
def launch(source, *arguments, grid=1, block=32, shared=0):
    program = ck.compile(source)
    (name,) = program.kernels
    with ck.use_backend("emulator"):
        return ck.trace(program[name], grid, block, *arguments, shared=shared)


def lines(trace, what, space="global"):
    return [one for one in trace.instructions if (one.what, one.space) == (what, space)]


def test_constant_memory_is_not_global():
    trace = launch(
        """__constant__ float table[64];
        __device__ float others[64];
        __global__ void k(float *y) { int t = threadIdx.x; y[t] = table[t % 4] + others[t]; }""",
        np.zeros(32, "f4"),
    )
    assert {one.space: one.requests for one in trace.instructions if one.what == "load"} == {"constant": 1, "global": 1}
    assert trace.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 4


def test_atomics_in_shared_memory():
    """Additions of 1 come together; operations that return a value, or others to several words, take turns."""
    text = "__global__ void k(int *y) {{ __shared__ int s[8]; int t = threadIdx.x; if (t < 8) s[t] = 0;" \
           " __syncthreads(); {0} __syncthreads(); if (t < 8) y[t] = s[t]; }}"  # fmt: skip
    passes = {}
    for line in ("atomicAdd(&s[t % 8], 1);", "atomicMax(&s[t % 8], t);", "y[t] = atomicAdd(&s[t % 8], 1);"):
        (atomic,) = lines(launch(text.format(line), np.zeros(32, "i4")), "atomic", "shared")
        passes[line] = atomic.wavefronts
    assert [*passes.values()] == [1, 4, 4]


#: By one warp, as nvcc 13 compiles for sm_90a: (type of c, statement): how many lanes make the operation.
_ATOMICS = {
    ("int", "atomicAdd(c, 1);"): 1,
    ("int", "atomicAdd(c, x[t]);"): 1,
    ("int", "atomicMax(&c[blockIdx.x], x[t]);"): 1,
    ("unsigned", "atomicOr(c, x[t]);"): 1,
    ("int", "y[t] = atomicAdd(c, 1);"): 1,
    ("int", "y[t] = atomicMax(c, 1);"): 32,
    ("int", "atomicAdd(&c[x[t]], 1);"): 32,  # as far as nvcc knows
    ("int", "atomicExch(c, t);"): 32,
    ("int", "atomicCAS(c, 0, 1);"): 32,
    ("unsigned", "atomicInc(c, 9);"): 32,
    ("unsigned long long", "atomicAdd(c, 1ull);"): 1,
    ("unsigned long long", "atomicAdd(c, (unsigned long long)x[t]);"): 32,
    ("float", "atomicAdd(c, 1.0f);"): 32,
    ("double", "atomicAdd(c, 1.0);"): 32,
}


def test_atomics_on_one_word():
    """nvcc combines the operands of a warp's lanes where it knows that they have one address, if they are integers."""
    kernels = [
        f"__global__ void k{number}({of} *c, const int *x, int *y) {{ int t = threadIdx.x; {line} }}"
        for number, (of, line) in enumerate(_ATOMICS)
    ]
    program, x = ck.compile("\n".join(kernels)), np.zeros(32, "i4")
    found = {}
    for number, (of, line) in enumerate(_ATOMICS):
        c = np.zeros(4, {"int": "i4", "unsigned": "u4", "unsigned long long": "u8", "float": "f4", "double": "f8"}[of])
        metrics = ck.trace(program[f"k{number}"][1, 32], c, x, x.copy()).metrics
        units = [f"pipe_lsu_mem_global_op_{op}.sum" for op in ("atom", "red")]
        assert sum(metrics[f"l1tex__t_requests_{unit}"] for unit in units) == 1
        found[of, line] = sum(metrics[f"l1tex__t_sectors_{unit}"] for unit in units)
    assert found == _ATOMICS


@pytest.mark.parametrize(
    "body",
    [
        "cuda::atomic_ref<int> a(x[t]), b(y[t]); b.store(a.load());",
        "cuda::atomic_ref<int> a(x[t]), b(y[t]); b.store(a.load(cuda::memory_order_relaxed));",
        """int v; asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(x + t) : "memory");
        asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" :: "l"(y + t), "r"(v) : "memory");""",
        "int v; __nv_atomic_load(x + t, &v, __NV_ATOMIC_ACQUIRE); __nv_atomic_store(y + t, &v, __NV_ATOMIC_RELEASE);",
    ],
)
def test_atomic_loads_and_stores_are_loads_and_stores(body):
    """LDG and STG, with .STRONG."""
    source = f"#include <cuda/atomic>\n__global__ void k(int *x, int *y) {{ const int t = threadIdx.x; {body} }}"
    trace = ck.trace(ck.compile(source).k[1, 32], np.zeros(32, "i4"), np.zeros(32, "i4"))
    found = [(one.what, one.requests, one.sectors, one.hits) for one in trace.instructions]
    assert found == [("load", 1, 4, 0), ("store", 1, 4, 0)]


# --- samples ------------------------------------------------------------------------------------------------------
_GATHER = """__global__ void k(const float *x, const int *at, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[at[i]];
}"""


def _gathered(**keywords):
    n = 1000 * 64 + 5
    at = np.random.default_rng(3).integers(0, n, n).astype("i4")
    x, y = np.arange(n, dtype="f4"), np.zeros(n, "f4")
    program = ck.compile(_GATHER)
    trace = ck.trace(program.k[1001, 64], x, at, y, n, **keywords)
    np.testing.assert_array_equal(y, x[at])
    return trace


def test_operations_of_warps():
    program = ck.compile("""
        __global__ void sum(const float *x, float *y) {
            float s = x[threadIdx.x];
            for (int d = 16; d; d /= 2)
                s += __shfl_down_sync(0xffffffff, s, d);
            if (threadIdx.x % 32 < 8)
                s += __popc(__ballot_sync(0xff, s > 0));
            if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = s;
        }""")
    with ck.use_backend("emulator"):
        trace = ck.trace(program.sum[4, 64], np.zeros(64, "f4"), np.zeros(2, "f4"))
        assert [(one.line, one.name, one.warps, one.threads) for one in trace.operations] == [
            (5, "__shfl_down_sync", 5 * 8, 5 * 8 * 32),
            (7, "__ballot_sync", 8, 8 * 8),
        ]
        assert [row[1] for row in trace.table().rows if row[0] == "kernels.cu:5"] == ["__shfl_down_sync", "float"]
        a = np.zeros((64, 64), "f2")
        # 64 x 64 x 64 by instructions of 16 x 8 x 16
        assert [(one.name, one.warps) for one in ck.trace(ck.matmul, a, a, variant="tensor_cores").operations] == [
            ("mma.sync.m16n8k16", 4 * 8 * 4)
        ]


def test_copies_by_tma_and_products_of_warp_groups():
    a = np.zeros((64, 64), "f2")
    with ck.use_backend("emulator"):
        trace = ck.trace(ck.matmul, a, a, variant="wgmma_tiles")
    of = {one.name: one for one in trace.operations}
    load, product = of["TMA load"], of["wgmma.m64n128k16"]
    assert (load.used, load.sectors) == (2 * a.nbytes, 2 * a.nbytes / 32)
    assert load.shared_bytes == 2 * 128 * 64 * 2  # boxes are filled up with zeros
    # A tile of 128 x 128 by two groups of four warps: rows of A are read once, B by each group.
    assert (product.warps, product.operations) == (4 * 2 * 4, 2 * 128 * 128 * 64)
    assert product.shared_bytes == 128 * 64 * 2 + 2 * 128 * 64 * 2
    assert trace.flops["matrix"] == 2 * 128 * 128 * 64
    assert trace.metrics["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"] == load.shared_bytes
    assert trace.metrics["lts__t_sectors_op_read.sum"] >= load.sectors


def test_a_multicast_reads_its_array_once():
    a, b = np.zeros((256, 64), "f2"), np.zeros((64, 256), "f2")
    with ck.use_backend("emulator"):
        loads = [
            one for one in ck.trace(ck.matmul, a, b, variant="wgmma_multicast").operations if one.name == "TMA load"
        ]
    assert sum(one.used for one in loads) < sum(one.shared_bytes for one in loads)


@pytest.mark.parametrize("variant, count", [("wgmma_tiles", 409_792), ("wgmma_multicast", 647_680)])
def test_tma_at_the_edges_of_arrays(variant, count):
    """What Nsight Compute counts on an H200: whole boxes, and more for rows that the edge of an array cuts."""
    metrics = trace_variant("matmul", variant).metrics
    assert metrics["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"] == count


def test_texture_reads():
    x, at = np.zeros((40, 40), "f4"), np.full(100, 0.5, "f4")
    with ck.use_backend("emulator"):
        trace = ck.trace(ck.lookup_2d, x, at, at, variant="texture")
    (read,) = [one for one in trace.operations if one.name == "texture read"]
    assert (read.warps, read.threads) == (4, 100)
    assert trace.metrics["l1tex__t_requests_pipe_tex_mem_texture.sum"] == 25  # of four lanes each


def test_copies_of_structs():
    """By as many requests as the type's alignment asks for: nvcc 13, as its PTX shows."""
    structs = [
        ("float re, im;", 8, 4),
        ("long long a, b;", 16, 8),
        ("double a, b, c;", 24, 8),
        ("alignas(8) float re; float im;", 8, 8),
        ("alignas(16) float a; float b, c, d;", 16, 16),
    ]
    text = """
        struct some{0} {{ {1} }};
        __global__ void copy{0}(const some{0} *x, some{0} *y) {{ y[threadIdx.x] = x[threadIdx.x]; }}"""
    program = ck.compile("".join(text.format(number, members) for number, (members, _, _) in enumerate(structs)))
    for number, (members, nbytes, size) in enumerate(structs):
        x = np.zeros(32, f"V{nbytes}")
        with ck.use_backend("emulator"):
            trace = ck.trace(program[f"copy{number}"][1, 32], x, x.copy())
        assert {one.what: (one.bytes, one.requests) for one in trace.instructions} == dict.fromkeys(
            ("load", "store"), (size, nbytes // size)
        ), members


def test_what_has_just_been_stored_is_in_a_register():
    program = ck.compile("""
        __global__ void sums(const float *x, float *y, float *z, int n) {
            y[threadIdx.x] = 0;
            for (int k = 0; k < n; ++k) y[threadIdx.x] += x[k * 32 + threadIdx.x];
        }
        __global__ void both(const float *x, float *y, float *z, int n) {
            y[threadIdx.x] = 0;
            for (int k = 0; k < n; ++k) {
                y[threadIdx.x] += x[k * 32 + threadIdx.x];
                z[threadIdx.x] = x[k];
            }
        }""")
    arrays = np.zeros(320, "f4"), np.zeros(32, "f4"), np.zeros(32, "f4")
    with ck.use_backend("emulator"):
        loads = [
            sum(one.requests for one in ck.trace(program[name][1, 32], *arrays, 10).instructions if one.what == "load")
            for name in ("sums", "both")
        ]
    assert loads == [10, 10 + 9 + 10]  # z[...] may be y[...]: it is loaded again in all rounds but the first


def test_shared_memory_of_other_blocks():
    """In clusters of two blocks, which add up half of their sums each."""
    trace = trace_variant("matmul", "tensor_cores_split_k", parts=2, tile=64)
    (other,) = [one for one in trace.operations if one.name == "cluster load"]
    own = [one for one in trace.instructions if (one.file, one.line) == (other.file, other.line)]
    assert sum(one.requests for one in own) == other.warps == 195  # on an H200, too


def test_arrays_in_local_memory():
    """Only those that nvcc cannot keep in registers: their index varies."""
    program = ck.compile("""
        __global__ void histogram(const int *x, int *y, int n) {
            int bins[16] = {}, t = blockIdx.x * blockDim.x + threadIdx.x;
            for (int i = 0; i < n; ++i)
                bins[x[t * n + i] & 15]++;
            for (int k = 0; k < 16; ++k) y[t * 16 + k] = bins[k];
        }
        __global__ void window(const float *x, float *y) {
            const int N = 4;
            float w[N], s = 0;
            for (int k = 0; k < N; ++k) w[k] = x[threadIdx.x + k];
            for (int k = 0; k < N; ++k) s += w[k];
            y[threadIdx.x] = s;
        }
        __global__ void sorted(float *x) {
            float a[8];
            for (int k = 0; k < 8; ++k) a[k] = x[8 * threadIdx.x + k];
            for (int k = 1; k < 8; ++k) {
                float one = a[k];
                int j = k - 1;
                for (; j >= 0 && a[j] > one; --j)
                    a[j + 1] = a[j];
                a[j + 1] = one;
            }
            for (int k = 0; k < 8; ++k) x[8 * threadIdx.x + k] = a[k];
        }
        __global__ void ring(const float *x, float *y, int n) {
            float last[4] = {};
            for (int i = 0; i < n; ++i) {
                const int slot = i % 4;
                last[slot] = x[32 * i + threadIdx.x];
            }
            for (int k = 0; k < 4; ++k) y[4 * threadIdx.x + k] = last[k];
        }""")
    with ck.use_backend("emulator"):
        x = np.arange(1280, dtype="i4")
        trace = ck.trace(program.histogram[2, 64], x, np.zeros(128 * 16, "i4"), 10)
        local = [one for one in trace.instructions if one.space == "local"]
        assert [(one.line, one.what, one.requests) for one in local] == [(5, "load", 40), (5, "store", 40)]
        assert trace.metrics["l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"] == 40
        assert "Local: of arrays of a thread by an index that varies" in trace.table().note
        window = ck.trace(program.window[1, 64], np.zeros(100, "f4"), np.zeros(64, "f4"))
        assert not [one for one in window.instructions if one.space == "local"]
        down = ck.trace(program.sorted[1, 32], np.arange(256, 0, -1, "f4"))
        assert not [one for one in down.instructions if one.space == "local"]  # at most 7 rounds: may be unrolled
        ring = ck.trace(program.ring[1, 32], np.zeros(320, "f4"), np.zeros(128, "f4"), 10)
        kept = [(one.line, one.what, one.requests) for one in ring.instructions if one.space == "local"]
        assert kept == [(31, "store", 10)]


def test_a_sample_is_scaled_to_all_blocks():
    every, some = _gathered(), _gathered(sample=80)
    assert every.sample is None
    assert some.sample[:2] == (80, 1001)
    assert "80 of 1,001 blocks" in str(some)
    for name, value in every.metrics.items():
        if "requests" in name or "sectors_pipe_lsu_mem_global_op_st" in name:
            assert some.metrics[name] == pytest.approx(value, rel=0.002)  # but for the last block
    name = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    assert abs(some.metrics[name] / every.metrics[name] - 1) < 5 * some.sample.error + 0.002 < 0.05
    assert _gathered(sample=80).metrics == some.metrics


def test_samples_of_small_grids_and_wrong_ones():
    assert _gathered(sample=5000).sample is None
    assert _gathered(sample=0).sample is None
    with pytest.raises(ValueError, match="sample must be 0 or more"):
        _gathered(sample=-1)
    with pytest.raises(TypeError):
        _gathered(sample="many")


def test_large_launches_are_sampled_by_themselves():
    program = ck.compile("__global__ void k(char *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }")
    y = np.zeros(1 << 21, "i1")
    trace = ck.trace(program.k[1 << 13, 256], y)
    assert y.all()
    assert trace.sample == (1 << 10, 1 << 13, 0)
    assert trace.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == (1 << 21) / 32


# --- displays, errors ------------------------------------------------------------------------------------------------
def test_displays(patterns):
    trace = counted(patterns, "transposed_tile")
    assert "32" in str(trace)
    assert "63,488" in trace.table().text()
    text = "\n".join(map(str, trace.by_line().rows))
    assert "__syncthreads();" in text
    assert "<table" in trace._repr_html_()
    (load,) = lines(trace, "load", "shared")
    picture = trace.heatmap(load.line)
    assert "32 lanes, 32 wavefronts" in picture.axes[0].get_title()
    (store,) = lines(counted(patterns, "transposed"), "store")
    assert "32 sectors" in counted(patterns, "transposed").heatmap(store.line).axes[0].get_title()
    with pytest.raises(ValueError, match="line 1 accesses no memory that is counted; these do: "):
        trace.heatmap(1)


def test_launches_and_their_sum():
    trace = ck.trace(ck.sum_of_squares, np.ones(5000, "f4"), variant="tree_sequential")
    assert len(trace.launches) >= 1
    for name, value in trace.metrics.items():
        if name.endswith(".sum"):
            assert value == sum(launch.metrics[name] for launch in trace.launches)


@pytest.mark.parametrize("op, variant", [("saxpy", "naive"), ("bincount", "shared_atomics")])
def test_lines_of_the_package(op, variant):
    trace = trace_variant(op, variant)
    assert {pathlib.Path(one.file).name for one in trace.instructions} == {f"{variant}.cuh"}
    assert all(one.line > 0 for one in trace.instructions)


def test_errors():
    with pytest.raises(TypeError, match="trace takes a function and its arguments, not an object of type ndarray"):
        ck.trace(np.zeros(3))


def test_inside_a_check():
    """A trace pauses the check around it."""
    with ck.checking():
        trace = ck.trace(ck.sum_of_squares, np.ones(100, "f4"), variant="tree_sequential")
    assert trace.instructions
