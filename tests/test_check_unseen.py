"""What a check reads in a kernel's text, because no access to memory shows it: local variables without a value, and
loops that wait for a plain variable. All kernels of a kind are one source, so that they compile once."""

import functools
import re

import numpy as np
import pytest

import cudakern as ck

WITHOUT_A_VALUE = {
    "sum": ("float sum; for (int i = 0; i < n; ++i) sum += x[i]; y[t] = sum;", "sum"),
    "only read": ("float v; y[t] = 2 * v;", "v"),
    "largest": ("float best; for (int i = 0; i < n; ++i) best = fmaxf(best, x[i]); y[t] = best;", "best"),
    "one of two": ("float a = 0, b; b -= x[t]; y[t] = a + b;", "b"),
    "array": ("float acc[2][2]; for (int j = 0; j < 2; ++j) acc[j][0] += x[j]; y[t] = acc[1][0];", "acc"),
    "vector": ("float4 v; v.x += x[t]; y[t] = v.x;", "v"),
    "counter": ("unsigned int count; count++; y[t] = count;", "count"),
    "largest so far": ("float m; for (int j = 0; j < n; ++j) if (x[j] > m) m = x[j]; y[t] = m;", "m"),
    "used again": ("float s; for (int j = 0; j < n; ++j) s += x[j]; y[t] = s; s = 2; y[t] += s;", "s"),
    "in a function": ("y[t] = total(x, n);", "sum"),
}
WITH_A_VALUE = {
    "in a branch": "float v; if (t < n) v = x[t]; __syncthreads(); if (t < n) y[t] = v;",
    "for lane 0": "int b; if (t % 32 == 0) b = n; b = __shfl_sync(~0u, b, 0); y[t] = b;",
    "of the round before": "float last; for (int j = 0; j < n; ++j) { if (j > 0) y[t] = x[j] - last; last = x[j]; }",
    "by choice": "float last; for (int j = 0; j < n; ++j) { y[t] = j > 0 ? last : 0; last = x[j]; }",
    "by and": "float last; for (int j = 0; j < n; ++j) { if (j > 0 && last > 1) y[t] = 1; last = x[j]; }",
    "by switch": "float v; for (int j = 0; j < 2; ++j) switch (j) { case 1: y[t] = v; break; case 0: v = x[t]; }",
    "by else": "float v; for (int j = 0; j < 2; ++j) if (j == 0) v = x[t]; else { y[t] = v; }",
    "by reference": "float v; set(v); y[t] = v;",
    "by address": "float v; float *p = &v; *p = 1; y[t] = v;",
    "by a lambda": "float v; auto f = [&] { v = 1; }; f(); y[t] = v;",
    "in PTX": 'unsigned int lane; asm("mov.u32 %0, %%laneid;" : "=r"(lane)); y[t] = lane;',
    "array filled": "float a[4]; for (int j = 0; j < 4; ++j) a[j] = x[j]; a[1] += a[2]; y[t] = a[1];",
    "array passed": "float a[4]; fill(a); y[t] = a[1];",
    "members": "float2 v; v.x = x[t]; v.y = v.x; y[t] = v.x + v.y;",
    "another one": "{ float sum = 1; y[t] = sum; } float sum; sum = 2; y[t] += sum;",
    "comment": "float sum = 0; // float sum; sum += 1;\n y[t] = sum;",
    "braces": "float a[4]{}, b{1}; a[t % 4] += x[t]; b += 1; y[t] = a[1] + b;",
    "parentheses": "float a(0); a += x[t]; y[t] = a;",
    "chain": "float a, b, c; a = b = c = x[t]; y[t] = a + b + c;",
    "in a condition": "int i; while ((i = n--) > 3) y[t] = i;",
    "never read": "float unused; y[t] = 1;",
    "loop": "int i; for (i = 0; i < 3; ++i) y[t] = i;",
}
_FUNCTIONS = """
__device__ float total(const float *x, int n) { float sum; for (int i = 0; i < n; ++i) sum += x[i]; return sum; }
__device__ void set(float &v) { v = 1; }
__device__ void fill(float *a) { for (int j = 0; j < 4; ++j) a[j] = j; }
"""
_KERNEL = """
__global__ void NAME(const float *x, float *y, int n) {
    int t = threadIdx.x;
    BODY
}
"""


def _named(bodies):
    return {f"kernel_{i}": body for i, body in enumerate(bodies)}


@functools.cache
def _program():
    bodies = _named([*(body for body, _ in WITHOUT_A_VALUE.values()), *WITH_A_VALUE.values()])
    kernels = (f'#line 1 "{name}"' + _KERNEL.replace("NAME", name).replace("BODY", bodies[name]) for name in bodies)
    return ck.compile(_FUNCTIONS + "\n".join(kernels)), {body: name for name, body in bodies.items()}


def _found(body):
    program, names = _program()
    name = names[body]
    found = ck.check(getattr(program, name)[1, 32], np.ones(32, "f4"), np.zeros(32, "f4"), 4)
    return [(one.kind, one.array, one.line, one.file == name) for one in found]


@pytest.mark.parametrize("body, name", WITHOUT_A_VALUE.values(), ids=WITHOUT_A_VALUE)
def test_locals_without_a_value(body, name):
    in_function = "total" in body
    assert _found(body) == [("uninitialised", name, 2 if in_function else 3, not in_function)]


@pytest.mark.parametrize("body", WITH_A_VALUE.values(), ids=WITH_A_VALUE)
def test_locals_with_a_value(body):
    assert not _found(body)


PLAIN = [
    "while (*flag == 0);",
    "while (flag[0] != 1) {}",
    "while (!ready);",
    "if (data[0] > 1) { data[0] = 3; } while (!*flag);",
]
NOT_PLAIN = [
    "while (atomicAdd(flag, 0) == 0);",
    "volatile int *f = flag; while (*f == 0);",
    "int i = 0; while (data[i++] == 1);",
    "int n = 3; do { --n; } while (n > flag[0] + 2);",
    "int n = 3; do --n; while (n > flag[0] + 2);",
    "int n = 3; do if (n > 1) { --n; } while (n > flag[0] + 2);",
]
_WAITS = """
__global__ void NAME(int *flag, int *data) {
    if (threadIdx.x == 0 && blockIdx.x == 0) { WAIT }
    if (threadIdx.x == 32) { data[0] = 1; __threadfence(); atomicExch(flag, 1); atomicExch(&ready, 1); }
}
"""


@functools.cache
def _waiting():
    kernels = (
        f'#line 1 "{name}"' + _WAITS.replace("NAME", name).replace("WAIT", wait)
        for name, wait in _named([*PLAIN, *NOT_PLAIN]).items()
    )
    return ck.compile("__device__ int ready;\n" + "\n".join(kernels))


@pytest.mark.parametrize("wait", PLAIN)
def test_waiting_for_a_plain_variable(wait):
    kernel = getattr(_waiting(), f"kernel_{PLAIN.index(wait)}")
    found = ck.check(kernel[1, 64], np.zeros(1, "i4"), np.zeros(1, "i4"))
    assert [(one.kind, one.line) for one in found] == [("race", 2)]
    assert "was not run" in found[0].advice
    with pytest.raises(ck.CudaError, match="plainly"), ck.checking():
        kernel[1, 64](np.zeros(1, "i4"), np.zeros(1, "i4"))


@pytest.mark.parametrize("wait", NOT_PLAIN)
def test_waiting_otherwise(wait):
    kernel = getattr(_waiting(), f"kernel_{len(PLAIN) + NOT_PLAIN.index(wait)}")
    found = ck.check(kernel[1, 32], np.ones(1, "i4"), np.zeros(1, "i4"))
    assert not [one for one in found if "was not run" in one.advice]


def test_written_constants():
    """The compiler refuses assignments; an atomic operation gets an address."""
    source = """
        __constant__ float table[32], factor = 2;
        __constant__ int count;
        __constant__ int counts[2];
        __constant__ float2 pair;
        __global__ void kernel(float *y, int n) {
            float table_2[2] = {1, 2};
            table_2[0] = table[3];
            if (n > 5) atomicAdd(&counts[1], 2);
            float factor = 1;
            factor *= 2;
            ++count; pair.x = 1; table[threadIdx.x] = y[threadIdx.x];
            y[threadIdx.x] = table_2[0];
        }
        """
    with ck.use_backend("emulator"):
        with pytest.raises(ck.CompileError) as failure:
            ck.compile(source)
        assert re.findall(r":12:\d+: error: .*only read (\w+),", failure.value.log) == ["count", "pair", "table"]
        program = ck.compile(source.replace("++count; pair.x = 1; table[threadIdx.x] = y[threadIdx.x];", ""))
    found = ck.check(program.kernel[1, 32], np.ones(32, "f4"), 0)
    assert [(one.array, one.line) for one in found if "constant memory" in one.message] == [("counts", 9)]
