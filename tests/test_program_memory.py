"""Whole programs that mix up the host's memory and the device's, or share memory before they may: what a run says, and
what a check finds."""

import re
import signal

import pytest

import cudakern as ck
from cudakern.own import cccl


def one_of(statements):
    """Code that runs the one of these whose number is the program's argument: so all are compiled as one program. Each
    has a line, the first one the line after that of `switch`."""
    cases = "".join(f"\ncase {number}: {{ {one}; break; }}" for number, one in enumerate(statements))
    return f"switch (atoi(argv[1])) {{{cases}\n}}"


MIXED = r"""
#include <cstdio>
#include <cstring>
__global__ void fill(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 2; }
void show(const float *x) { printf("%g\n", x[3]); }
int main(int, char **argv) {
    float *d, h[40];
    cudaMalloc(&d, sizeof h);
    fill<<<1, 64>>>(d, 40);
    cudaDeviceSynchronize();
    LINE;
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    show(h);
    cudaFree(d);
}
"""


TOUCHES = [
    ("d[1] = 5", "writes", "d[1], which is"),
    ('printf("%g", *d)', "reads", "d, which is"),
    ("memcpy(h, d, sizeof h)", "reads", "d, which is"),
    ("show(d)", "reads", ""),
    ('printf("%s", (char *)d)', "reads", "d, which is"),
]
MEMORY_OF_THE_HOST = ["(float *)malloc(160)", "new float[40]", "on_stack"]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    path = tmp_path_factory.mktemp("mixed") / "mixed.cu"
    launches = [f"float on_stack[40], *p = {memory}; fill<<<1, 64>>>(p, 40)" for memory in MEMORY_OF_THE_HOST]
    path.write_text(MIXED.replace("LINE", one_of([*(line for line, _, _ in TOUCHES), *launches])))
    return path


@pytest.mark.parametrize("number", range(len(TOUCHES)))
def test_the_host_touches_device_memory(mixed, monkeypatch, number):
    """On a GPU, a segmentation fault; here too, with the line."""
    line, verb, what = TOUCHES[number]
    at = 5 if "show" in line else 12 + number
    monkeypatch.setenv("CUDAKERN_EMULATOR_PRINT", "1")
    with ck.use_backend("emulator"):
        done = ck.run(mixed, number)
    assert done.exit_code == -signal.SIGSEGV
    assert f"mixed.cu:{at}: the host {verb} device memory: byte" in done.errors
    assert "of 160 bytes (allocated in mixed.cu:8)" in done.errors
    done = ck.run(mixed, number, check=True)
    assert done.exit_code == -signal.SIGSEGV
    assert [(one.kind, one.line) for one in done.findings] == [("host", at)]
    assert f"the host {verb} {what}".rstrip() in str(done.findings)
    assert "device memory (allocated in mixed.cu:8)" in str(done.findings)


def test_the_host_touches_new_device_memory(tmp_path):
    path = tmp_path / "new.cu"
    path.write_text("int main() { int *x; cudaMalloc((void **)&x, 4);\n*x = 1; }\n")
    done = ck.run(path, check=True)
    assert done.exit_code == -signal.SIGSEGV
    assert "1 finding in 0 launches" in str(done.findings)
    assert done.findings[0].line == 2


SHARED_WITH_THE_HOST = r"""
#include <atomic>
#include <cstdio>
__managed__ int total;
__device__ int counter, kept;
__global__ void fill(int *x, int n) {
    if (threadIdx.x < n) x[threadIdx.x] = n;
    if (threadIdx.x == 0) total = counter;
}
int main(int, char **argv) {
    int *x, *y, h = 3;
    cudaMallocManaged(&x, 400);
    cudaMallocManaged(&y, 400);
    for (int i = 0; i < 100; ++i) x[i] = y[i] = 1;
    cudaMemcpyToSymbol(kept, &h, 4);
    fill<<<1, 128>>>(x, 100);
    LINE;
    cudaDeviceSynchronize();
    y[1] = x[1] + total;
    return cudaFree(x) + cudaFree(y);
}
"""


USES_OF_SHARED = [
    ('printf("%d", x[3])', r"the host reads x\[3\], which fill writes in line 7, and has not waited .*DeviceSync"),
    ("x[5] = 2", r"the host writes x\[5\], which fill writes in line 7, and has not waited for it"),
    ("h = total", "the host reads total, which fill writes in line 8, and has not waited for it"),
    ("cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e); ++x[5]", r"the host reads x\[5\], which fill writes"),
    ("counter = 3", r"the host writes counter, which is a variable of the device.*ToSymbol\(counter, &h, bytes\)"),
    ("h += kept", r"the host reads kept, which is a variable of the device.*FromSymbol\(&h, kept, bytes\)"),
    ("y[2] = 4", ""),
    ("cudaStreamSynchronize(0); x[2] = 4", ""),
    ("cudaMemcpy(&h, y, 4, cudaMemcpyDefault); h += x[0]", ""),
    ("cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e); cudaEventSynchronize(e); ++x[5]", ""),
    ("while (cudaStreamQuery(0) == cudaErrorNotReady) {} ++x[5]", ""),
]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    path = tmp_path_factory.mktemp("both") / "both.cu"
    path.write_text(SHARED_WITH_THE_HOST.replace("LINE", one_of(line for line, _ in USES_OF_SHARED)))
    return path


@pytest.mark.parametrize("number", range(len(USES_OF_SHARED)))
def test_the_host_shares_memory_with_a_kernel(both, number):
    """Without a wait, it is a race; and a variable of the device is none of the host's."""
    words = USES_OF_SHARED[number][1]
    found = [one for one in ck.run(both, number, check=True).findings if one.kind != "leak"]
    assert [(one.kind, one.line) for one in found] == [("host", 18 + number)] * bool(words)
    assert re.search(words, str(found[0])) if words else not found


def test_a_kernel_and_the_host_share_a_flag(tmp_path):
    """What a flag says has been done needs no other wait."""
    path = tmp_path / "flag.cu"
    path.write_text(r"""
__global__ void work(volatile int *flag, int *x) { x[0] = 7; __threadfence_system(); *flag = 1; }
int main() {
    volatile int *flag;
    int *x;
    cudaMallocManaged((void **)&flag, 4);
    cudaMallocManaged(&x, 4);
    *flag = 0;
    work<<<1, 1>>>(flag, x);
    while (!*flag) {}
    const int is_wrong = x[0] != 7;
    return is_wrong + cudaFree(x) + cudaFree((void *)flag);
}
""")
    done = ck.run(path, check=True)
    assert done.exit_code == 0
    assert not done.findings


PINNED_WRONGLY = r"""
#include <cstring>
#include <numeric>
enum { N = 1 << 15, BYTES = N * 4 };
__global__ void fill(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
int main() {
    int *h, *d, *mapped, *own = new int[N], sum = 0;
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaStreamCreate(&s), cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking), cudaEventCreate(&e);
    cudaMallocHost(&h, BYTES), cudaHostAlloc(&mapped, BYTES, cudaHostAllocMapped);
    cudaMalloc(&d, BYTES), cudaHostRegister(own, BYTES, 0);
    fill<<<N / 256, 256, 0, s>>>(d);
    cudaEventRecord(e, s);
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s);
    cudaEventSynchronize(e), sum += h[N - 1]; // FINDING: the host reads h[32767], which a copy writes in line 14
    cudaStreamSynchronize(s);
    for (int i = 0; i < 2; ++i) {
        h[5] = i; // FINDING: the host writes h[5], which a copy reads in line 19
        cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, s);
    }
    cudaDeviceSynchronize();
    fill<<<N / 256, 256>>>(mapped);
    sum += mapped[3]; // FINDING: the host reads mapped[3], which fill writes in line 4
    cudaDeviceSynchronize();
    cudaMemcpyAsync(own, d, BYTES, cudaMemcpyDeviceToHost, t);
    cudaStreamSynchronize(s), sum += std::accumulate(own, own + N, 0); // FINDING: the host reads own, which a copy
    cudaStreamSynchronize(t);
    cudaMemcpy2DAsync(own, 400, d, 400, 200, 10, cudaMemcpyDeviceToHost, t);
    memset(own + 150, 0, 4 * 60); // FINDING: the host writes own, which a copy writes in line 28
    cudaDeviceSynchronize(), cudaHostUnregister(own), cudaFreeHost(h), cudaFreeHost(mapped), cudaFree(d);
    cudaStreamDestroy(s), cudaStreamDestroy(t), cudaEventDestroy(e);
    delete[] own;
    return sum == 123;
}
"""

PINNED_RIGHTLY = r"""
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
enum { N = 1 << 15, BYTES = N * 4 };
__global__ void fill(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void signal(volatile int *flag, int *x) { x[0] = 7; __threadfence_system(); *flag = 1; }
__global__ void plain_signal(int *flag, int *x) { x[0] = 7; __threadfence_system(); *flag = 1; }
__global__ void waits(volatile int *flag, int *x) { while (!*flag) {} x[1] = 8; }
static std::atomic<int> called{0};
static std::mutex mutex;
static std::condition_variable changed;
static bool is_done = false;
static void on_host(void *x) { called += ((int *)x)[0] == 2; }
static void notify(cudaStream_t, cudaError_t, void *) {
    std::lock_guard<std::mutex> hold(mutex);
    is_done = true;
    changed.notify_all();
}
int main() {
    int *h, *d, *registered = (int *)malloc(BYTES), *pageable = (int *)malloc(BYTES), *mapped, wrong = 0;
    cudaStream_t s, t;
    cudaEvent_t e, f;
    cudaStreamCreate(&s), cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreate(&e), cudaEventCreate(&f);
    cudaMallocHost(&h, BYTES), cudaMalloc(&d, BYTES), cudaHostRegister(registered, BYTES, 0);
    cudaHostAlloc(&mapped, BYTES, cudaHostAllocMapped);
    int *volatile_flag = mapped + 100;
    // a stream
    fill<<<N / 256, 256, 0, s>>>(d, 1);
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    wrong += h[N - 1] != 1;
    // an event, which another stream waits for; another part of the memory
    cudaMemcpyAsync(d, h, BYTES / 2, cudaMemcpyHostToDevice, s);
    h[N / 2] = 5;
    wrong += h[0] != 1; // both read
    cudaEventRecord(e, s), cudaStreamWaitEvent(t, e, 0);
    cudaMemcpyAsync(registered, d, BYTES, cudaMemcpyDeviceToHost, t);
    cudaEventRecord(f, t), cudaEventSynchronize(f);
    h[0] = registered[0] = 2;
    // queries
    cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, s);
    while (cudaStreamQuery(s) == cudaErrorNotReady) {}
    memset(h, 0, BYTES);
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, t), cudaEventRecord(e, t);
    while (cudaEventQuery(e) != cudaSuccess) {}
    wrong += h[0] != 2;
    // a copy of the same stream that waits; the default stream, which waits for s
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s);
    cudaMemcpyAsync(pageable, d, BYTES, cudaMemcpyDeviceToHost, s);
    h[1] = 3;
    cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, s);
    cudaMemcpy(pageable, d, BYTES, cudaMemcpyDeviceToHost);
    h[1] = pageable[1] + 1;
    cudaMemcpy(d, h, BYTES, cudaMemcpyHostToDevice);
    h[1] = 4, cudaMemset(h, 0, BYTES), h[1] = 5, h[0] = 2;
    // pageable memory is staged
    cudaMemcpyAsync(d, pageable, BYTES, cudaMemcpyHostToDevice, s);
    pageable[0] = 6;
    cudaDeviceSynchronize();
    // functions that a stream calls
    cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s);
    cudaLaunchHostFunc(s, on_host, h);
    while (called == 0) std::this_thread::yield();
    h[0] = 9;
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, t);
    cudaStreamAddCallback(t, notify, nullptr, 0);
    {
        std::unique_lock<std::mutex> hold(mutex);
        changed.wait(hold, [] { return is_done; });
    }
    wrong += h[0] != 2;
    // flags
    mapped[100] = mapped[101] = 0;
    signal<<<1, 1, 0, s>>>(volatile_flag, mapped);
    while (!*(volatile int *)volatile_flag) {}
    wrong += mapped[0] != 7;
    plain_signal<<<1, 1, 0, s>>>(mapped + 101, mapped);
    while (!__atomic_load_n(mapped + 101, __ATOMIC_ACQUIRE)) {}
    wrong += mapped[0] != 7;
    volatile_flag[2] = 0;
    waits<<<1, 1, 0, s>>>(volatile_flag + 2, mapped);
    mapped[3] = 3;
    *(volatile int *)(volatile_flag + 2) = 1;
    cudaStreamSynchronize(s);
    wrong += mapped[1] != 8;
    // two buffers
    for (int i = 0; i < 6; ++i) {
        int *const part = h + i % 2 * (N / 2);
        if (i > 1) cudaEventSynchronize(i % 2 ? f : e);
        for (int j = 0; j < N / 2; ++j) part[j] = i;
        cudaMemcpyAsync(d + i % 2 * (N / 2), part, BYTES / 2, cudaMemcpyHostToDevice, s);
        cudaEventRecord(i % 2 ? f : e, s);
    }
    cudaStreamSynchronize(s);
    // columns of a matrix
    cudaMemcpy2DAsync(h, 400, d, 400, 200, 10, cudaMemcpyDeviceToHost, s);
    for (int i = 0; i < 10; ++i) h[100 * i + 50] = h[100 * i + 99] = 1;
    // a graph
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamSynchronize(s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, s);
    fill<<<N / 256, 256, 0, s>>>(d, 1);
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 2; ++i) {
        h[0] = 4;
        cudaGraphLaunch(exec, s), cudaStreamSynchronize(s);
        wrong += h[0] != 1;
    }
    // another thread waits; memory that is freed and allocated again
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s);
    std::thread([&] { cudaStreamSynchronize(s); }).join();
    h[0] = 1;
    cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, s);
    cudaFreeHost(h), cudaMallocHost(&h, BYTES);
    h[0] = 1;
    cudaMemcpyAsync(d, registered, BYTES, cudaMemcpyHostToDevice, t);
    cudaHostUnregister(registered);
    registered[0] = 1;
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph), cudaEventDestroy(e), cudaEventDestroy(f);
    cudaStreamDestroy(s), cudaStreamDestroy(t), cudaFreeHost(h), cudaFreeHost(mapped), cudaFree(d);
    free(pageable), free(registered);
    return wrong;
}
"""


def test_the_host_uses_pinned_memory_too_early(tmp_path):
    """Copies and kernels in streams may still use it."""
    path = tmp_path / "pinned.cu"
    path.write_text(PINNED_WRONGLY.lstrip())
    found = ck.run(path, check=True).findings
    wanted = [
        (i, line.split("FINDING: ")[1]) for i, line in enumerate(path.read_text().split("\n"), 1) if "// F" in line
    ]
    assert [(one.kind, one.line) for one in found] == [("host", line) for line, _ in wanted], str(found)
    assert all(one.message.startswith(words) for one, (_, words) in zip(found, wanted, strict=True)), str(found)
    assert "Wait for the copy first: cudaStreamSynchronize(s), or" in found[0].advice


def test_the_host_has_waited_for_pinned_memory(tmp_path):
    """By a stream, an event, a query, another copy, a flag, a function of its own that a stream calls."""
    path = tmp_path / "waits.cu"
    path.write_text(PINNED_RIGHTLY)
    done = ck.run(path, check=True)
    assert done.exit_code == 0
    assert not done.findings, str(done.findings)


def test_what_the_host_writes_between_two_copies_has_a_value(tmp_path):
    """The kernel leaves half of the array without values, and the host fills its copy of it."""
    path = tmp_path / "filled.cu"
    path.write_text(r"""
__constant__ int twos[2] = {2, 2};
static const int of_host[2] = {2, 2};
__host__ __device__ int two(int i) {
#ifdef __CUDA_ARCH__
    return twos[i];
#else
    return of_host[i];
#endif
}
__global__ void evens(int *x) { if (threadIdx.x % 2 == 0) x[threadIdx.x] = two(1); }
__global__ void sum(const int *x, int *to) { atomicAdd(to, x[threadIdx.x]); }
int main() {
    int *x, *to, h[32], result = 0;
    cudaMalloc(&x, sizeof h), cudaMalloc(&to, 4);
    evens<<<1, 32>>>(x);
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) h[i] = two(0);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice), cudaMemset(to, 0, 4);
    sum<<<1, 32>>>(x, to);
    cudaMemcpy(&result, to, 4, cudaMemcpyDeviceToHost);
    cudaFree(x), cudaFree(to);
    return result != 64;
}
""")
    done = ck.run(path, check=True)
    assert done.exit_code == 0
    assert not done.findings


@pytest.mark.parametrize("memory", MEMORY_OF_THE_HOST)
def test_a_kernel_gets_memory_of_the_host(mixed, memory):
    number = len(TOUCHES) + MEMORY_OF_THE_HOST.index(memory)
    (finding,) = ck.run(mixed, number, check=True).findings
    assert (finding.kind, finding.line, finding.array) == ("bounds", 4, "x")
    assert "writes x[0], which is memory of the host. Copy it to the device" in str(finding)


@pytest.mark.skipif(not cccl.found(), reason="CCCL is not installed")
def test_thrust_touches_device_memory_for_the_device(tmp_path):
    """Its algorithms are loops on the host, whose writes count as the device's; a raw pointer is none of these."""
    text = r"""
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/execution_policy.h>
#include <cstdio>
__global__ void add(const int *x, int *y, int n) { if (threadIdx.x < n) y[threadIdx.x] += x[threadIdx.x]; }
struct Half { __host__ __device__ int operator()(int x) const { return x / 2; } };
int main() {
    thrust::device_vector<int> x(100), y(100, 7), z = y;
    for (int round = 0; round < 100; ++round) {
        x[5] = z[round];
        add<<<1, 128>>>(thrust::raw_pointer_cast(x.data()), thrust::raw_pointer_cast(y.data()), 100);
    }
    thrust::sort(y.begin(), y.end());
    int *raw;
    cudaMalloc(&raw, 400);
    thrust::fill(thrust::device, raw, raw + 100, 4);
    const int sum = thrust::transform_reduce(thrust::device, raw, raw + 100, Half(), 0, thrust::plus<int>());
    printf("%d %d\n", (int)y[99], sum);
    cudaFree(raw);
    LINE;
}
"""
    path = tmp_path / "thrust.cu"
    path.write_text(text.replace("LINE", ""))
    done = ck.run(path, check=True)
    assert (done.exit_code, done.output) == (0, "707 200\n")
    assert not done.findings
    path.write_text(text.replace("LINE", "thrust::raw_pointer_cast(x.data())[3] = 1"))
    done = ck.run(path, check=True)
    assert [(one.kind, one.line) for one in done.findings] == [("host", 22)]


def test_managed_memory_begins_with_zeros_when_checked_too(tmp_path):
    (tmp_path / "zeros.cu").write_text(
        "#include <cstdio>\n__global__ void count(int *n) { atomicAdd(n, 1); }\nint main() {\n  int *n;\n"
        "  cudaMallocManaged(&n, sizeof *n);\n  count<<<2, 32>>>(n);\n  cudaDeviceSynchronize();\n"
        '  printf("%d\\n", *n);\n  cudaFree(n);\n}\n'
    )
    done = ck.run(tmp_path / "zeros.cu", check=True)
    assert (done.output, list(done.findings)) == ("64\n", [])
