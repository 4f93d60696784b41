"""CUDA C++ as the translator takes it: what becomes of a text, and which kernels count as ones whose threads wait."""

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
        ("__global__ void k(int *x) { __syncthreads(); }", True),
        ("__device__ int g(int v) { return __shfl_sync(-1, v, 1); } __global__ void k(int *x) { *x = g(*x); }", True),
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
        ("__global__ void k(int *x) { extern __shared__ int s[]; s[0] = *x; }", True),
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
    kind = "THEY_WAIT" if waits else "THEY_DO_LITTLE"
    assert f"(k)), ::emu::{kind}>" in translated(text) or f"(k<F>)), ::emu::{kind}>" in translated(text)


def test_a_long_kernel_is_called_in_the_loop_over_its_threads():
    text = "__global__ void k(int *x) { " + "x[0] += 1; " * 100 + "}"
    assert "::emu::THEY_NEVER_WAIT>" in translated(text)


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
