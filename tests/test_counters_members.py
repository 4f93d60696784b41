"""cudakern.trace: members of one aligned element that the source names one by one are loaded and stored together, as
nvcc 13 does for sm_90a (by its SASS)."""

import shlex

import numpy as np
import pytest

import cudakern as ck
from cudakern import _driver
from cudakern.own import compilers

pytestmark = pytest.mark.skipif(
    _driver.is_clang(shlex.join(compilers.compiler())), reason="clang's code does not tell of types in the same way"
)

TYPES = """
struct Loose { float x, y, z, w; };
struct __align__(8) Halves { float x, y, z, w; };
struct __align__(16) Long { float x, y, z, w, r, s, t, u; };
"""


def members(of, names):
    return of, f"y[i] = {' + '.join(f'p[i].{one}' for one in names)};"


#: Of loads and stores, by one warp: (type of p and q, body of the kernel): requests.
CASES = {
    members("float4", "x"): (1, 1),
    members("float4", "xy"): (1, 1),  # LDG.64
    members("float4", "zw"): (1, 1),
    members("float4", "yz"): (2, 1),
    members("float4", "xz"): (2, 1),
    members("float4", "xw"): (2, 1),
    members("float4", "xyz"): (1, 1),  # LDG.128
    members("float4", "xyw"): (1, 1),
    members("float4", "xzw"): (1, 1),
    members("float4", "yzw"): (2, 1),
    members("float4", "xyzw"): (1, 1),
    members("float2", "xy"): (1, 1),
    members("double2", "xy"): (1, 1),
    members("int4", "xyz"): (1, 1),
    members("short4", "xyz"): (1, 1),
    members("uchar4", "xy"): (1, 1),
    members("uchar4", "yz"): (2, 1),
    members("uchar4", "xz"): (1, 1),
    members("Loose", "xyzw"): (4, 1),  # a struct of floats is not aligned
    members("Halves", "xyzw"): (2, 1),
    members("Long", "xyzwrstu"): (2, 1),
    members("Long", "xrs"): (2, 1),
    ("float4", "float a = p[i].x, b = p[i].y, c = p[i].z; y[i] = a + b * c;"): (1, 1),
    ("float4", "const float4 &at = p[i]; y[i] = at.x + at.y + at.z;"): (1, 1),
    ("float4", "float s = 0; for (int k = 0; k < n; ++k) s += p[k].x * p[k].y * p[k].z; y[i] = s;"): (32, 1),
    # Another float may be y's; another member of a float4 is none of those.
    ("float4", "float a = p[i].x; y[i] = a; y[i + n] = p[i].y;"): (2, 2),
    ("float4", "q[i].x += p[i].x; q[i].y += p[i].y; q[i].z += p[i].z;"): (2, 2),
    ("float4", "q[i].x = 1; q[i].y = 2; q[i].z = 3; q[i].w = 4;"): (0, 1),
    ("float4", "q[i].x = 1; q[i].y = 2; q[i].z = 3;"): (0, 2),
    ("float4", "q[i].x = y[i]; q[i].y = y[i + n];"): (2, 2),
    ("float4", "float s = p[i].x; for (int k = 0; k < n; ++k) s = s * 1.5f + y[k]; y[i] = s + p[i].y;"): (34, 1),
    ("float4", "y[i] = y[4 * i] + y[4 * i + 1] + y[4 * i + 2] + y[4 * i + 3];"): (4, 1),
}


@pytest.fixture(scope="module")
def program():
    return ck.compile(
        TYPES
        + "".join(
            f"__global__ void k{number}(const {of} *p, {of} *q, float *y, int n) {{ int i = threadIdx.x; {body} }}\n"
            for number, (of, body) in enumerate(CASES)
        )
    )


@pytest.mark.parametrize("number, case", list(enumerate(CASES)))
def test_requests(program, number, case):
    kind = {"uchar4": "u1", "short4": "i2", "int4": "i4", "double2": "f8"}.get(case[0], "f4")
    with ck.use_backend("emulator"):
        p, q, y = np.zeros(2048, kind), np.zeros(2048, kind), np.zeros(2048, "f4")
        metrics = ck.trace(program[f"k{number}"][1, 32], p, q, y, 32).metrics
    found = tuple(metrics[f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum"] for op in ("ld", "st"))
    assert found == CASES[case]


def test_bytes_of_joined_members():
    program = ck.compile("__global__ void k(const float4 *p, float *y) { int i = threadIdx.x; y[i] = p[i].x * p[i].z"
                         " - p[i].w; }")  # fmt: skip
    with ck.use_backend("emulator"):
        (load, _) = ck.trace(program.k[1, 32], np.zeros(128, "f4"), np.zeros(32, "f4")).instructions
    assert (load.requests, load.lanes, load.sectors, load.used) == (1, 32, 16, 512)
