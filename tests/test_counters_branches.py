"""cudakern.trace: divergent branches and floating-point operations, against numbers that follow from the source."""

import functools
import json
import pathlib
import shlex

import numpy as np
import pytest

import counter_patterns
import cudakern as ck
from cudakern import _driver
from cudakern.own import compilers

RECORD = pathlib.Path(__file__).parents[1] / "docs/results/gpu_counters.json"
pytestmark = pytest.mark.skipif(
    _driver.is_clang(shlex.join(compilers.compiler())), reason="clang's code is not in the source's order"
)

WORK = "for (int k = 0; k < m; ++k) s = s * 1.5f + x[k];"  #: of some size, so that nvcc makes a branch around it
ROUNDS = 10
GRID, BLOCK = 8, 256
WARPS, THREADS = GRID * BLOCK // 32, GRID * BLOCK


@functools.cache
def program(bodies):
    """Kernels with these bodies, compiled as one source, since the headers take most of the time of each. t: the thread
    in its block; i: in the grid."""
    kernels = "".join(
        f"""
        __global__ void k{number}(const float *x, float *y, int m) {{
            const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
            (void)i;
            {body}
        }}"""
        for number, body in enumerate(bodies)
    )
    return ck.compile(f"""
        #include <cuda_fp16.h>
        #include <cuda_bf16.h>
        #include <cuComplex.h>
        __device__ __noinline__ float work(float s, const float *x, int m) {{ {WORK} return s; }}{kernels}""")


def launch(body, among=()):
    """The trace of the kernel with this body, one of several that are compiled together."""
    bodies = tuple(among) or (body,)
    x = np.ones(1 << 16, "f4")
    with ck.use_backend("emulator"):
        return ck.trace(program(bodies)[f"k{bodies.index(body)}"][GRID, BLOCK], x, x.copy(), ROUNDS)


def divergent(trace):
    return trace.metrics["smsp__sass_branch_targets_threads_divergent.sum"]


# --- branches (the same figures as Nsight Compute's on an H200) ------------------------------------------------------
BRANCHES = {
    f"float s = x[i]; if (t % 32 > 2) {WORK} y[i] = s;": WARPS,
    f"float s = x[i]; if (t > 2) {WORK} y[i] = s;": GRID,
    f"float s = x[i]; if (t / 32 == 1) {WORK} y[i] = s;": 0,
    f"float s = x[i]; {WORK} y[i] = s;": 0,
    # Lane l goes round l times: lane 0 leaves in front of the loop, lanes 1 to 30 after their last rounds. The
    # last one is alone then.
    "float s = 0; for (int k = 0; k < t % 32; ++k) s = s * 1.5f + x[k]; y[i] = s;": 31 * WARPS,
    # Lanes meet again behind the inner loop: each time, they leave it in 5 ways.
    "float s = 0; for (int k = 0; k < m; ++k) for (int j = 0; j < (t + k) % 5; ++j) s = s * 1.5f + x[j]; y[i] = s;": 4
    * ROUNDS
    * WARPS,
    f"float s = x[i]; if (t % 4 == 0) {WORK} else for (int k = 0; k < m; ++k) s = s / 3 + x[k]; y[i] = s;": WARPS,
    # Lanes that end are no branch.
    f"if (t % 32 > 2) return; float s = 0; {WORK} y[i] = s;": 0,
    "if (t % 2) y[i] = x[i];": 0,
    "float s = x[i]; for (int d = 16; d; d /= 2) s += __shfl_down_sync(-1u, s, d); if (t % 32 == 0) y[i] = s;": 0,
    "float s = 0; for (int k = 0; k < m; ++k) { s = s * 1.5f + x[k]; if (k == t % 8) break; s += x[k + 1] / 3; }"
    " y[i] = s;": 7 * WARPS,
    "float s = 0; for (int k = 0; k < m; ++k) { if ((k + t) % 3 == 0) continue;"
    " for (int j = 0; j < 3; ++j) s = s * 1.5f + x[j * m]; } y[i] = s;": ROUNDS * WARPS,
    # Three ways are two branches.
    f"float s = x[i]; switch (t % 4) {{ case 0: {WORK} break; case 1: for (int k = 0; k < m; ++k) s = s / 3 + x[k];"
    " break; case 2: s = sqrtf(s); } y[i] = s;": 3 * WARPS,
    f"int s = t; for (int d = 16; d; d /= 2) {{ if (t % 32 < d) {WORK} __syncwarp(); }} y[i] = s;": 5 * WARPS,
    f"float s = t; for (int d = 16; d; d /= 2) {{ if (t % 32 < d) {WORK} __syncthreads(); }} y[i] = s;": 5 * WARPS,
    # A branch behind a call is the caller's.
    "float s = x[i]; if (t % 2) s = work(s, x, m); else s = work(s + 1, x, 2 * m); y[i] = s;": WARPS,
    "float s = x[i]; s = work(s, x, m + t % 2); y[i] = s;": WARPS,
    # As many blocks of code as do not fit into a lane's notes.
    "float s = 0; for (int k = 0; k < (t % 32 + 1) * 1000; ++k) s += x[0]; y[i] = s;": 31 * WARPS,
    "float s = 0; if (t % 32 == 7) for (int k = 0; k < 9999; ++k) s += x[0]; __syncthreads(); y[i] = s;": WARPS,
}


@pytest.mark.parametrize("body, expected", BRANCHES.items())
def test_divergent_branches(body, expected):
    assert divergent(launch(body, BRANCHES)) == expected


def test_many_small_branches():
    """How small they are is found out once for each."""
    many = " ".join(f"if (x[t + {k}] > {k}) s += {k}; else if (x[t] > {k}) s *= 2;" for k in range(40))
    trace = launch(f"float s = x[i]; {many} y[i] = s;")
    assert divergent(trace) == 0
    assert all(branch.predicated for branch in trace.branches)


def test_by_line():
    trace = launch("float s = 0;\nfor (int k = 0; k < t % 32; ++k)\ns += x[k];\ny[i] = s;")
    (branch,) = trace.branches
    assert (branch.warps, branch.divergent) == (32 * WARPS, 31 * WARPS)
    assert branch.threads == WARPS * sum(range(33))
    (arithmetic,) = trace.arithmetic
    assert arithmetic.line == branch.line + 1
    assert (arithmetic.type, arithmetic.operations) == ("float", WARPS * sum(range(32)))
    assert "1,984" in trace.table().text()
    assert "31,744" in trace.by_line().text()


def test_blocks_that_take_turns():
    """Those of a cooperative launch: each has notes of its own."""
    program = ck.compile("""
        #include <cooperative_groups.h>
        __global__ void k(const float *x, float *y) {
            float s = 0;
            for (int k = 0; k < threadIdx.x % 32; ++k) s += x[k];
            y[blockIdx.x * blockDim.x + threadIdx.x] = s;
            cooperative_groups::this_grid().sync();
            for (int k = 0; k < threadIdx.x % 32 * 100; ++k) s = s * 1.5f + y[k];
            y[blockIdx.x * blockDim.x + threadIdx.x] = s;
        }""")
    x, y = np.ones(4096, "f4"), np.zeros(4096, "f4")
    with ck.use_backend("emulator"):
        trace = ck.trace(lambda: program.k(GRID, BLOCK, x, y, cooperative=True))
    assert divergent(trace) == 2 * 31 * WARPS
    assert trace.flops == {"float": WARPS * sum(range(32)) * 201}


# --- floating-point operations ---------------------------------------------------------------------------------------
OPERATIONS = {
    "y[i] = 2.5f * x[i] + y[i];": {"float": 2},
    "y[i] = x[i] - y[i] - 1;": {"float": 2},
    "y[i] = -x[i];": {},
    "y[i] = fmaf(x[i], y[i], 3);": {"float": 2},
    "y[i] = __fmaf_rn(x[i], y[i], 3) + __fmul_rn(x[i], y[i]);": {"float": 4},
    "y[i] = fminf(x[i], y[i]) - fabsf(-x[i]) + (x[i] > 1 ? 1 : 0);": {"float": 2},
    "double *d = reinterpret_cast<double *>(y); d[i] = d[i] * d[i] + 1 - x[i];": {"double": 3},
    "double *d = reinterpret_cast<double *>(y); d[i] = fma(d[i], d[i], d[i + 1]);": {"double": 2},
    "y[i] = x[i] * 1.1;": {"double": 1},
    "__half *h = reinterpret_cast<__half *>(y); h[i] = __hadd(__hmul(h[i], h[i + 1]), h[i + 2]);": {"half": 2},
    "__half *h = reinterpret_cast<__half *>(y); h[i] = __hfma(h[i], h[i + 1], h[i + 2]);": {"half": 2},
    "__half2 *h = reinterpret_cast<__half2 *>(y); h[i] = h[i] * h[i + 1] + h[i + 2];": {"half": 4},
    "__nv_bfloat16 *h = reinterpret_cast<__nv_bfloat16 *>(y); h[i] = h[i] * h[i + 1] - h[i];": {"half": 2},
    "y[i] = i * 3 + t;": {},
    "y[i] = floorf(x[i]) + rintf(y[i]);": {"float": 1},
    "y[i] = x[i] / y[i];": {"float": 10},  # as nvcc does it
    "y[i] = sqrtf(x[i]) + expf(y[i]);": {"float": 6 + 10 + 1},
    "y[i] = 1 / x[i] + __frcp_rn(y[i]);": {"float": 5 + 5 + 1},
    "double *d = reinterpret_cast<double *>(y); d[i] = 1 / d[i];": {"double": 10},
    "y[i] = __expf(x[i]) + __logf(y[i]) + exp2f(x[i]) + rsqrtf(x[i]);": {"float": 2 + 3},
    "y[i] = __powf(x[i], y[i]) - __fdividef(x[i], y[i]);": {"float": 2 + 1},
    "y[i] = __sinf(x[i]); y[i + 1] = __cosf(x[i]); y[i + 2] = __tanf(x[i]);": {"float": 4},
    "__sincosf(x[i], y + i, y + i + 1);": {"float": 1},
    "cuFloatComplex *z = reinterpret_cast<cuFloatComplex *>(y); z[i] = cuCmulf(z[i], z[i + 1]);": {"float": 6},
    "cuFloatComplex *z = reinterpret_cast<cuFloatComplex *>(y); z[i] = cuCdivf(z[i], z[i + 1]);": {
        "float": 1 + 5 + 4 + 3 + 5 + 6 + 2
    },
    "atomicAdd(&y[i], x[i]);": {},
}


@pytest.mark.parametrize("body, expected", OPERATIONS.items())
def test_operations(body, expected):
    assert launch(body, OPERATIONS).flops == {name: count * THREADS for name, count in expected.items()}


@pytest.mark.parametrize("dtype, name", [("f4", "float"), ("f8", "double")])
def test_operations_of_matmul(dtype, name):
    a, b = np.ones((48, 40), dtype), np.ones((40, 64), dtype)
    for variant in ("naive", "tiled"):
        assert ck.trace(ck.matmul, a, b, variant=variant).flops[name] >= 2 * 48 * 40 * 64


def test_a_library_that_another_process_has_replaced(tmp_path, monkeypatch):
    """Two that compile the same source at once put the same file into the cache, one after the other."""
    monkeypatch.setenv("CUDAKERN_CACHE", str(tmp_path))
    program = ck.compile("__global__ void k(float *x) { x[threadIdx.x] *= 3.5f; }")
    x = np.ones(32, "f4")
    with ck.use_backend("emulator"):
        first = ck.trace(program.k[1, 32], x)
        for library in tmp_path.glob("*.so"):
            (tmp_path / "part").write_bytes(library.read_bytes())
            (tmp_path / "part").replace(library)
        assert ck.trace(program.k[1, 32], x).metrics == first.metrics
    assert first.metrics["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"] == 32


def test_the_same_figures_with_any_number_of_workers(emulator):
    figures = []
    for workers in (1, 5):
        emulator.configure("workers", str(workers))
        try:
            trace = launch(f"float s = x[i]; if (t % 3) {WORK} y[i] = s;")
        finally:
            emulator.configure("workers", "0")
        figures.append((trace.branches, trace.arithmetic))
    assert figures[0] == figures[1]


# --- against Nsight Compute ------------------------------------------------------------------------------------------
#: Kernels whose figures differ, and why. (How many branches there are, nvcc decides: only the divergent ones count.)
EXPLAINED: dict[str, str] = {}


@pytest.fixture(scope="module")
def patterns():
    return ck.compile(counter_patterns.SOURCE, name="patterns")


@pytest.mark.parametrize("name", counter_patterns.CODE_BODIES)
def test_the_figures_are_those_of_a_gpu(patterns, name):
    measured = json.loads(RECORD.read_text())
    expected = dict(zip(measured["metrics"], measured["kernels"][name], strict=True))
    x, y = (np.zeros(counter_patterns.ELEMENTS, "f4") for _ in range(2))
    with ck.use_backend("emulator"):
        metrics = ck.trace(patterns[name], *counter_patterns.shape(name), x, y, counter_patterns.ROUNDS).metrics
    names = {*counter_patterns.CODE_METRICS} - {
        "smsp__sass_branch_targets.sum",
        "smsp__sass_branch_targets_threads_uniform.sum",
    }
    differing = {key: (metrics[key], expected[key]) for key in names if metrics[key] != expected[key]}
    assert bool(differing) == (name in EXPLAINED), differing


def test_a_loop_at_the_end_has_branches():
    """The branch to the next round is none that only ends threads."""
    program = ck.compile(
        """
        __global__ void grid_stride(const float *x, float *y, int n) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i];
        }
        __global__ void triangle(const int *x, int *y) {
            int t = threadIdx.x;
            for (int i = 0; i < x[t]; i++) y[t] = y[t] + i * x[t + 1];
        }
        """
    )
    x = np.zeros(1000, "f4")
    (branch,) = ck.trace(program.grid_stride[2, 64], x, x.copy(), 1000).branches
    assert (branch.warps, branch.divergent) == (32, 1)
    (branch,) = ck.trace(program.triangle[1, 32], np.arange(33, dtype="i4"), np.zeros(33, "i4")).branches
    assert (branch.warps, branch.divergent) == (31, 30)
