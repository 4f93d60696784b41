"""cudakern.trace: neighbors in shared memory that a source names one by one are loaded and stored together, as nvcc 13
does for sm_90 (by its SASS)."""

import numpy as np
import pytest

import cudakern as ck

FILL = "s[t] = y[t]; s[t + 256] = y[t + 256]; __syncthreads();"
READ = "__syncthreads(); y[t] = s[1023 - t];"
PITCHED = "__shared__ float s[8][{0}]; s[t / 32][t % 32] = y[t]; __syncthreads(); y[t] = s[t / 32][0]{1};"
TREE = (
    "s[t] = y[t]; __syncthreads(); for (int d = 1; d < blockDim.x; d *= 2)"
    " {{ if ({}) s[{}] += s[{} + d]; __syncthreads(); }}"
)

#: (type of s, body of the kernel): loads and stores of a block of 8 warps.
CASES = {
    ("float", f"{FILL} y[t] = s[2 * t] + s[2 * t + 1];"): (8, 16),  # LDS.64
    ("float", f"{FILL} y[t] = s[2 * t + 1] - s[2 * t];"): (8, 16),
    ("float", f"{FILL} float *p = s + 2 * t; y[t] = p[0] + p[1];"): (8, 16),
    ("float", f"{FILL} y[t] = s[2 * t + 1] + s[2 * t + 2];"): (16, 16),
    ("float", f"{FILL} y[t] = s[t] + s[t + 1] + s[t + 2];"): (24, 16),
    ("float", f"{FILL} y[t] = s[4 * t] + s[4 * t + 1] + s[4 * t + 2] + s[4 * t + 3];"): (8, 16),  # LDS.128
    ("float", f"{FILL} y[t] = s[4 * t] + s[4 * t + 1] + s[4 * t + 2];"): (8, 16),
    ("float", f"{FILL} y[t] = s[4 * t + 1] + s[4 * t + 2] + s[4 * t + 3];"): (8, 16),
    ("float", f"{FILL} y[t] = s[4 * t] + s[4 * t + 2];"): (16, 16),
    ("float", f"{FILL} y[t] = s[0] + s[1] + s[2] + s[3];"): (8, 16),
    ("float", f"{FILL} y[t] = s[n] + s[n + 1];"): (16, 16),  # n: 5
    ("float", f"{FILL} int b = t & ~1; y[t] = s[b] + s[b + 1];"): (8, 16),
    ("double", f"{FILL} y[t] = s[2 * t] + s[2 * t + 1];"): (8, 16),
    ("short", f"{FILL} y[t] = s[2 * t] + s[2 * t + 1];"): (16, 16),
    # A store between may be to the same place; one to global memory is not.
    ("float", f"{FILL} float a = s[2 * t]; s[t + 512] = a; y[t] = a + s[2 * t + 1];"): (16, 24),
    ("float", f"{FILL} float a = s[2 * t]; y[t] = a; y[t + 256] = s[2 * t + 1];"): (8, 16),
    ("float", f"{FILL} float a = s[2 * t]; __syncthreads(); y[t] = a + s[2 * t + 1];"): (16, 16),
    ("float", "s[2 * t] = y[t]; s[2 * t + 1] = 1; __syncthreads(); y[t] = s[t];"): (8, 8),
    ("float", f"s[4 * t] = y[t]; s[4 * t + 3] = 3; s[4 * t + 1] = 1; s[4 * t + 2] = 2; {READ}"): (8, 8),
    ("float", f"s[4 * t] = y[t]; s[4 * t + 1] = 1; s[4 * t + 2] = 2; {READ}"): (8, 16),
    # In which rows they are aligned, nvcc does not know.
    ("", PITCHED.format(32, " + s[t / 32][1] + s[t / 32][2] + s[t / 32][3]")): (8, 8),
    ("", PITCHED.format(33, " + s[t / 32][1] + s[t / 32][2] + s[t / 32][3]")): (32, 8),
    # Nor that they are neighbors, in a loop that it does not unroll.
    ("float", TREE.format("t % (2 * d) == 0", "t", "t")): (2 * (5 * 8 + 4 + 2 + 1), 8 + 5 * 8 + 4 + 2 + 1),
    ("float", f"{FILL} float a = 0; for (int k = 0; k < 64; ++k) a += s[2 * k] * s[2 * k + 1]; y[t] = a;"): (256, 16),
}


@pytest.fixture(scope="module")
def program():
    return ck.compile(
        "".join(
            f"__global__ void k{number}({of or 'float'} *y, int n) {{ {f'__shared__ {of} s[1024];' if of else ''}"
            f" int t = threadIdx.x; {body} }}\n"
            for number, (of, body) in enumerate(CASES)
        )
    )


@pytest.mark.parametrize("number, case", list(enumerate(CASES)))
def test_requests(program, number, case):
    with ck.use_backend("emulator"):
        y = np.zeros(1024, {"double": "f8", "short": "i2"}.get(case[0], "f4"))
        metrics = ck.trace(program[f"k{number}"][1, 256], y, 5).metrics
    requests = tuple(metrics[f"smsp__sass_inst_executed_op_shared_{op}.sum"] for op in ("ld", "st"))
    assert requests == CASES[case]
