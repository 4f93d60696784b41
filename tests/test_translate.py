"""CUDA C++ as the translator takes it: what becomes of a text, and which kernels count as ones whose threads wait."""

import re

import pytest

import cudakern as ck
from cudakern.own import translate


def translated(text, launches=True):
    return translate.translated(f'# 1 "a.cu"\n{text}', "plain", "/headers", launches).text


STEP = "::emu::in_step(", "), ::emu::in_step()"


@pytest.mark.parametrize(
    "text",
    [
        "__device__ void f(volatile float *s, int t) { s[t] += «s[t + 16]»; }",
        "template <int N> void f(volatile int *s) { if (N > 8) s[0] = «max(s[1], N)»; else s[0] = «N + 1»; }",
        "__global__ void f() { __shared__ volatile int s[2][32]; s[0][threadIdx.x] -= «1 + 1»; }",
        "__global__ void f() { extern volatile __shared__ int s[]; for (;;) { s[1] <<= «2 * 1»; break; } }",
        "__global__ void f(int *g) { volatile int *s = g, *t = g; t[0] = «s[1] = g[2]»; }",
        "__global__ void f(int *g) { int *s = g; s[0] = 1; g[1] = s[2] == 3; }",  # nothing is volatile
        "__global__ void f(volatile int *s) {} __global__ void g(int *s) { s[0] = 1; }",  # another s
        "__global__ void f(int *g) { *(volatile int *)g = 1; g[0] = 2; }",  # a cast declares nothing
        "__global__ void f(volatile int *s, int i) { if (s[i] == 1) g(s[i]); s[i]++; int x = s[i]; }",  # no assignments
    ],
)  # fmt: skip
def test_lanes_wait_for_each_other_around_a_store_to_volatile_memory(text):
    plain = text.replace("«", "").replace("»", "")
    spaced = translated(plain).replace("in_step( ", "in_step(").replace("static __thread", "__shared__")
    if "«" in text:
        first, last = text.index("«"), text.rindex("»")
        statement = text[text.rindex("=", 0, first) : last + 2]
        assert statement.replace("«", STEP[0]).replace("»", STEP[1]) in spaced
    assert spaced.count("::emu::in_step(") == 2 * text.count("«")
    assert "in_step" not in translated(plain, launches=False)  # a kernel for Python has its own rules


def test_a_constant_that_is_stored_in_volatile_memory_stays_one():
    text = "__device__ void f(int *volatile *p, int i) { if (i) p[i] = 0; else p[i] = nullptr; }"
    expected = "if (i) ::emu::in_step(), p[i] = 0, ::emu::in_step(); else ::emu::in_step(), p[i] = nullptr, ::emu"
    assert expected in translated(text)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("while (flag == 0) ;", "while (::emu::let_others_run(), flag == 0) ;"),
        ("do { } while (*f == 1);", "do { } while (::emu::let_others_run(), *f == 1);"),
        ("while (true) { if (flag) break; }", "while (::emu::let_others_run(), true) { if (flag)"),
        ("for (int i = 0; flag == 0; ++i) { }", "for (int i = 0; flag == 0; ++i, ::emu::let_others_run())"),
        ("for (; flag;) { }", "for (; flag;::emu::let_others_run())"),
        ("while (__ldcg(p) == 0) __threadfence();", "while (::emu::let_others_run(), __ldcg(p) == 0)"),
        ("while (*(volatile int *)p == 0) {}", "while (::emu::let_others_run(), *(volatile int *)p == 0)"),
        ("while (flag) ;", "while (::emu::let_others_run(), flag) ;"),
        ("while (n > 0) { --n; }", "while (n > 0)"),
        ("for (int x : all) use(x, flag);", "for (int x : all)"),
        ("while (int x = flag) use(x);", "while (int x = flag)"),
        ('while (n--) asm volatile("mov.u32 %0, 1;" : "=r"(n));', "while (n--)"),
    ],
)  # fmt: skip
def test_a_loop_that_may_wait_lets_other_threads_run(text, expected):
    whole = "__device__ volatile int flag; __global__ void k(int *p, volatile int *f, int n) { " + text + " }"
    assert expected in translated(whole)


@pytest.mark.parametrize(
    "text, waits",
    [
        ("__global__ void k(float *x, int n) { int i = threadIdx.x; if (i < n) x[i] = sqrtf(x[i]); }", False),
        ("__global__ void k(int *x) { for (int i = 0; i < 3; ++i) atomicAdd(x, 1); }", False),
        ("__global__ void k(int *x) { while (atomicAdd(x, 0) == 0) ; }", True),
        ("__global__ void k(int *x) { for (;;) if (atomicMax(x, 1)) break; }", True),
        ("__global__ void k(int *x) { if (x[0]) __syncthreads(); }", True),
        ("__device__ int g(int v) { return __shfl_sync(1, v, 1); } __global__ void k(int *x) { *x = g(*x); }", True),
        ("__device__ int g(int v) { return v; } __device__ int h(int v) { __syncwarp(); return v; } "
         "__global__ void k(int *x) { *x = g(*x); }", False),
        ("struct S { __device__ void go() { __syncthreads(); } }; __global__ void k(int *x) { S s; s.go(); }", True),
        ("struct S { __device__ S(int) { } __device__ S operator+(S) { __syncwarp(); return *this; } }; "
         "__global__ void k(S *x) { *x = *x + *x; }", True),
        ("template <class F> __global__ void k(F f) { f(1); } "
         "void run() { k<<<1, 1>>>([=] __device__ (int i) { __syncthreads(); }); }", True),
        ("template <class F> __global__ void k(F f) { f(1); } "
         "void run() { k<<<1, 1>>>([=] __device__ (int i) { use(i); }); auto g = [&] { k<<<1, 1>>>(0); }; }", False),
        ("__global__ void k(volatile int *x) { x[0] = 1; }", True),
        ("__global__ void k(int *x) { extern __shared__ int s[]; s[0] = *x; }", False),
        ("__global__ void g(int *x) { *x = 1; } __global__ void k(int *x) { g<<<1, 1>>>(x); }", True),
        ("__global__ void k(int *x) { while (*x > 1) *x /= 2; }", False),
        ("int far(int); __global__ void k(int *x) { *x = far(*x); }", True),
        ("int near(int); __global__ void k(int *x) { *x = near(*x); } int near(int v) { return v; }", False),
        ("struct S { int get() const; }; __global__ void k(S *x, int *y) { *y = x->get(); }", True),
        ("struct S { int get() { return 1; } void run(); }; __global__ void k(S *x, int *y) { *y = x->get(); }", False),
        ("template <class F> __global__ void k(F f) { f(1); } "
         "void run() { k<<<1, 1>>>([=] (int i) { __syncthreads(); }); }", True),
    ],
)  # fmt: skip
def test_which_kernels_have_threads_that_wait(text, waits):
    assert ("::emu::THEY_WAIT" in translated(text)) == waits


def test_a_long_kernel_is_called_in_the_loop_over_its_threads():
    text = "__global__ void k(int *x) { " + "x[0] += 1; " * 100 + "}"
    assert "::emu::THEY_NEVER_WAIT>" in translated(text)


KERNEL = "__device__ int size; const unsigned FULL = 0xffffffffu; template <int N> __global__ void k(int *x, int n) { "


@pytest.mark.parametrize(
    "text",
    [
        "int t = threadIdx.x; __syncthreads(); x[t] = n;",
        "for (int i = N; i > 0; i >>= 1) { if (threadIdx.x < i) x[0] += i; __syncthreads(); }",
        "int i = (n + blockDim.x - 1) / blockDim.x; while (i-- > 0) x[i] = 1; __syncthreads();",
        "int i = blockDim.x; do { i /= 2; __syncthreads(); } while (i > 1);",
        "if (n > 5 && blockIdx.x == 0) { __syncthreads(); } else x[0] = 1;",
        "if (threadIdx.x >= n) return; __syncthreads(); x[threadIdx.x] = 1;",
        "int v = x[n]; v += __shfl_xor_sync(~0u, v, 1); x[0] = __ballot_sync(0xFFFFFFFF, v > 1);",
        "x += threadIdx.x; __syncwarp(); *x = n;",
        "for (int i = 0, tile = 0; i < n; i += blockDim.x, tile++) { x[tile] = i; __syncthreads(); }",
        "const unsigned mask = ~0u, every = mask; x[0] = __shfl_sync(every, n, 0) + __any_sync(FULL, n);",
    ],
)
def test_kernels_whose_threads_are_loops_between_barriers(text):
    assert "IN_SILENT_LOOPS, (static" in translated(KERNEL + text + " }")
    assert "LOOPS" not in translate.translated(KERNEL + text + " }", "plain", "/", True, loops=False).text


@pytest.mark.parametrize(
    "text",
    [
        "if (threadIdx.x < 32) __syncthreads();",
        "if (x[0]) __syncthreads();",
        "int t = threadIdx.x; while (t > 0) { --t; __syncthreads(); }",
        "for (int i = threadIdx.x; i < n; i += 32) { __syncthreads(); }",
        "int i = 5; i += x[0]; while (i > 0) { __syncthreads(); --i; }",
        "int i = 5; if (x[0]) i = 3; while (i > 0) { __syncthreads(); --i; }",
        "int i = 5; int *p = &i; *p = x[0]; while (i > 0) { __syncthreads(); --i; }",
        "n = x[0]; while (n > 0) { __syncthreads(); n /= 2; }",
        "__shared__ int n2; n2 = x[0]; __syncthreads(); if (n2) __syncthreads();",
        "if (size > 0) __syncthreads();",
        "if (*x > 0 || *(int *)x) __syncthreads();",
        "for (int i = 0; i < n; ++i) { if (x[i]) break; __syncthreads(); }",
        "switch (n) { case 1: __syncthreads(); }",
        "int &r = x[threadIdx.x]; __syncthreads(); r = 1;",
        "int v = 1; v += __shfl_xor_sync(0xff, v, 1);",
        "unsigned mask = ~0u; mask >>= 1; x[0] = __shfl_sync(mask, n, 0);",
        "unsigned mask = n; x[0] = __shfl_sync(mask, n, 0);",
        "int v = 1; if (n && __any_sync(~0, v)) x[0] = 1;",
        "int v = n ? __shfl_sync(~0, v, 1) : 0;",
        "int v = 1; v = __shfl_sync(~0, v++, 1);",
        "auto f = [&] { return 1; }; __syncthreads(); x[0] = f();",
    ],
)
def test_kernels_whose_threads_are_fibers(text):
    assert "THEY_WAIT" in translated(KERNEL + text + " }")


WRONG = r"""
    #include <cstdio>
    __global__ void far(int *x) {
        int i = threadIdx.x;
        x[i == 37 ? 1 << 30 : i] = 1;
    }
    __global__ void divide(int *x) {
        __shared__ int s[64];
        s[threadIdx.x] = 37 - threadIdx.x;
        __syncthreads();
        x[threadIdx.x] = 5 / s[threadIdx.x];
    }
    __global__ void absent(int *x) {
        int v = threadIdx.x;
        v += __shfl_down_sync(0xffffffff, v, 8);
        x[threadIdx.x] = v;
    }
    int main() {
        int *x;
        cudaMalloc(&x, 4000);
        KERNEL;
        printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    }"""


@pytest.mark.parametrize(
    "launch, message",
    [
        ("far<<<1, 64>>>(x)", r"far, \S*wrong\.cu:5, block \(0,0,0\), thread \(37,0,0\): "),
        ("divide<<<1, 64>>>(x)", r"divide, \S*wrong\.cu:11, block \(0,0,0\), thread \(37,0,0\): an integer was"),
        ("absent<<<1, 40>>>(x)", r"wrong\.cu:15, block \(0,0,0\), thread \(32,0,0\): .*lane 0 reads from lane 8"),
    ],
)  # fmt: skip
def test_an_error_in_a_loop_names_the_thread(launch, message, tmp_path, monkeypatch):
    """The block runs once more, thread by thread, because a loop does not tell which one runs."""
    monkeypatch.setenv("CUDAKERN_EMULATOR_PRINT", "1")
    (tmp_path / "wrong.cu").write_text(WRONG.replace("KERNEL", launch))
    done = ck.run(tmp_path / "wrong.cu")
    assert re.search(message, done.errors)
    assert "no error" not in done.output


def test_a_wait_behind_a_pointer_is_no_loop(tmp_path):
    """A function that waits and is called through a pointer: the kernel counts as one that may call every function."""
    source = r"""
    #include <cstdio>
    __device__ int meet(int x) { return __syncthreads_count(x); }
    typedef int (*function)(int);
    __device__ function table[1] = {meet};
    __global__ void k(int *y) { y[threadIdx.x] = table[0](threadIdx.x % 2); }
    int main() {
        int *y, h[64];
        cudaMalloc(&y, sizeof h);
        k<<<1, 64>>>(y);
        cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
        printf("%d %d\n", h[0], h[63]);
    }"""
    (tmp_path / "pointer.cu").write_text(source)
    assert ck.run(tmp_path / "pointer.cu").output == "32 32\n"


FORMS = {
    "(c ? add : sub)": 1,
    "table[1]": -1,
    "grid[0][i - 1]": 1,
    "(*pointer)": 1,
    "(**pointer)": 1,
    "object.kernel": 1,
    "(*that).kernels[i]": -1,
    "that->get(1)": 1,
    "Object::pick(c)": 1,
    "list.at(0)": 1,
    "std::get<0>(pair)": 1,
    "static_cast<kernel>(add)": 1,
    "reinterpret_cast<void (*)(int *, int)>((void *)add)": 1,
    "((kernel)add)": 1,
    "[] { return &add; }()": 1,
    "[&](bool c) { return c ? add : sub; }(false)": -1,
    "{ int z; } (add)": 1,
    "::deep::er::add<int>": 1,
    "times<(1 < 2)>": 1,
    "times<(3 > 2) + 1>": 2,
    "times<1 << 2>": 4,
    "times<sizeof(int) * 2, std::conditional_t<(1 < 2), int, float>>": 8,
    "shifted<>": 8,
    "std::move(constant)": 1,
}


def test_forms_of_launches(tmp_path):
    source = r"""
    #include <cstdio>
    #include <tuple>
    #include <type_traits>
    #include <vector>
    __global__ void add(int *x, int n) { *x += n; }
    __global__ void sub(int *x, int n) { *x -= n; }
    template <int N, typename T = int> __global__ void times(T *x, T n) { *x += N * n; }
    template <int N = 1 << 2, typename S = int, int M = (8 >> 1)>
    __global__ void shifted(S *x, S n) { *x += (N + M) * n; }
    namespace deep { namespace er { template <class T> __global__ void add(T *x, T n) { *x += n; } } }
    typedef void (*kernel)(int *, int);
    struct Object {
        ::kernel kernel, kernels[2];
        ::kernel get(int) const { return kernel; }
        static ::kernel pick(bool c) { return c ? add : sub; }
        void run(int *x) { this->kernel<<<1, 1>>>(x, 1); kernel<<<1, 1>>>(x, 1); get(0)<<<1, 1>>>(x, 1); }
    };
    int main() {
        bool c = true;
        int i = 1, *x, number = 0;
        kernel table[2] = {add, sub}, grid[2][2] = {{add, sub}, {sub, add}}, *pointer = table;
        const kernel constant = add;
        Object object{add, {add, sub}}, *that = &object;
        std::vector<kernel> list(table, table + 2);
        std::tuple<kernel, int> pair(add, 1);
        cudaMallocManaged(&x, 4);
        RUNS
        object.run(x), cudaDeviceSynchronize(), printf("%d\n", *x);
    }"""
    run = "*x = 0; {}<<<c && 1 < 2 ? 1 : i >> 1, {{1}}>>>(x, (1 < 2) >> 0); cudaDeviceSynchronize(); printf({}, *x);"
    form = '"%d "'
    runs = "\n".join(run.format(callee, form) for callee in FORMS) + "*x = 0;"
    (tmp_path / "forms.cu").write_text(source.replace("RUNS", runs))
    assert ck.run(tmp_path / "forms.cu").output == " ".join([*map(str, FORMS.values()), "3\n"])
