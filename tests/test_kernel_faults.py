"""What kernels do wrong on the emulator: each is an error with kernel, line, block and thread, and Python lives on."""

import functools
import os
import platform
import re
import shutil
import signal
import threading

import numpy as np
import pytest

import cuda_api
import cudakern
import subprocesses

pytestmark = pytest.mark.usefixtures("emulator")

BROKEN = r"""
#include <assert.h>
#include <cstring>
__device__ int zero;

__global__ void reads_wild(const float *x, float *y) {
    y[threadIdx.x] = x[-(1ll << 36) - blockIdx.x];  // HERE
}
__global__ void writes_wild(float *y) {
    __syncthreads();
    if (threadIdx.x == 5 && blockIdx.x == 1) y[-(1ll << 36)] = 1;  // HERE
    __syncthreads();
}
__global__ void uses_null(int *p) {
    if (threadIdx.x == 33) *p = 3;  // HERE
    __syncthreads();
}
__global__ void reads_misaligned(float *y) {
    *reinterpret_cast<volatile float *>(y) = 0;
    float4 *v = reinterpret_cast<float4 *>(y + 1);
    *v = make_float4(1, 2, 3, 4);  // HERE
}
__global__ void copies_wild(float *y) {
    memset(y - (1ll << 36), 1, 1000 + zero);  // HERE
    y[0] = 1;
}
__global__ void adds_wild(int *y) {
    atomicAdd(y - (1ll << 36), 1);  // HERE
}
__global__ void divides(int *y) {
    y[threadIdx.x] = 7 / zero;  // HERE
}
__device__ int deep(volatile int *y, int n) {
    volatile char a[100];
    a[n % 100] = static_cast<char>(n);  // HERE
    return deep(y, n + 1) + a[3] + y[0];
}
template <int BYTES> __device__ int deep_with(volatile int *y, int n) {
    volatile char a[BYTES];
    a[n % 100] = static_cast<char>(n);
    return deep_with<BYTES>(y, n + 1) + a[3] + y[0];
}
__global__ void recurses_in_leaps(int *y) {  // a frame is larger than a page
    y[0] = deep_with<20000>(y, 0) + deep_with<200000>(y, 0);
}
__global__ void has_a_large_frame(int *y) {
    volatile char a[1 << 20];
    a[y[0]] = 1;
}
__global__ void recurses(int *y) {
    y[0] = deep(y, 0);
}
__global__ void asserts(int *y) {
    assert(threadIdx.x < 3 + zero);  // HERE
    y[0] = 1;
}
__global__ void traps() {
    __builtin_trap();  // HERE
}
__global__ void sound(int *y) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void one_block(int *y, int *null) {  // the others wait at a barrier, work, or end
    if (blockIdx.x == 3 && threadIdx.x == 7) *null = 1;  // HERE
    for (int i = 0; i < 1000; ++i) __syncthreads();
    y[blockIdx.x] = 1;
}
"""
#: By .ci/sanitized. A fault of the host is then reported, with status 1.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
ADDRESS, STACK, ASSERT, ILLEGAL, FAILURE = 700, 714, 710, 715, 719
FAULTS = {  # kernel: (code, words)
    "reads_wild": (ADDRESS, "read from address 0x"),
    "writes_wild": (ADDRESS, "wrote to address 0x"),
    "uses_null": (ADDRESS, "wrote to address 0x0, which is a null pointer"),
    "reads_misaligned": (716, "not a multiple of its 16 bytes"),
    "copies_wild": (ADDRESS, "wrote to address 0x"),
    "adds_wild": (ADDRESS, "address 0x"),
    "divides": (FAILURE, "divided by zero"),
    "recurses": (STACK, "overflowed its stack of"),
    "asserts": (ASSERT, "assertion `threadIdx.x < 3 + zero` failed"),
    "traps": (ILLEGAL, "illegal instruction"),
}


@pytest.fixture(scope="module")
def program():
    with cudakern.use_backend("emulator"):
        # As some distributions' compilers do without a flag: functions of the C library are then inline.
        return cudakern.compile(BROKEN, flags=["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"])


@pytest.fixture
def library():
    return cuda_api.load("emulator", "broken")


def failure(launch, *arguments):
    with pytest.raises(cudakern.CudaError) as caught:
        launch(*arguments)
    return caught.value


def arguments(name):
    x, y = np.ones(64, np.float32), np.zeros(64, np.int32)
    some = {"reads_wild": (x, x.copy()), "traps": (), "uses_null": (None,)}
    return some.get(name, (x,) if name in ("writes_wild", "reads_misaligned", "copies_wild") else (y,))


def works(program):
    y = np.zeros(64, np.int32)
    program.sound[1, 64](y)
    return np.array_equal(y, np.arange(64)[::-1])


def line_of(name):
    """The line with HERE in the kernel, or in the function before it."""
    lines = BROKEN.splitlines()
    begin = next(i for i, line in enumerate(lines) if f" {'deep' if name == 'recurses' else name}(" in line)
    return next(i + 1 for i in range(begin, len(lines)) if "HERE" in lines[i])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_an_error_that_says_where(program, name):
    code, words = FAULTS[name]
    error = failure(program[name][2, 64], *arguments(name))
    assert (error.code, error.name) == (code, error.args[0].split()[0])
    where = re.search(r"kernel (\w+), kernels\.cu:(\d+), block \((\d),0,0\), thread \((\d+),0,0\): .*", str(error))
    assert where, error
    assert where[1] == name
    assert words in where[0], error
    # A stack overflows at the first access to a frame, which a sanitizer may move to where the function begins.
    assert line_of(name) - int(where[2]) in ((0, 2) if name == "recurses" else (0,)), error
    if name == "writes_wild":
        assert where[3] == "1"
    threads = {"writes_wild": 5, "uses_null": 33, "asserts": 3}
    assert int(where[4]) == threads.get(name, 0)
    assert works(program)


@pytest.mark.parametrize("name", ["recurses_in_leaps", "has_a_large_frame"])
def test_frames_that_are_larger_than_a_guard_page(program, name):
    for _ in range(5):
        assert failure(program[name][4, 64], np.zeros(64, np.int32)).code == STACK
    assert works(program)


@pytest.mark.parametrize("name, count", [("uses_null", 2000), ("recurses", 200), ("divides", 200)])
def test_many_in_a_row_on_every_worker(program, name, count):
    for _ in range(count):
        assert failure(program[name][4, 64], *arguments(name)).code == FAULTS[name][0]
    assert works(program)


def test_kernels_that_follow_are_skipped_until_the_error_was_raised(program):
    y = cudakern.zeros(64, np.int32)
    program.writes_wild[2, 64](cudakern.zeros(64, np.float32))
    program.sound[1, 64](y)
    assert failure(cudakern.synchronize).code == ADDRESS
    assert not y.get().any()
    program.sound[1, 64](y)
    assert y.get().tolist() == list(range(64))[::-1]


def test_a_fault_in_one_block_while_others_wait(program):
    y = np.zeros(8, np.int32)
    error = failure(program.one_block[8, 64], y, None)
    assert error.code == ADDRESS
    assert f"kernels.cu:{line_of('one_block')}, block (3,0,0), thread (7,0,0)" in str(error)
    assert works(program)


# --- writes near an allocation ---------------------------------------------------------------------------------------
BEYOND = r"""
__global__ void add_one(const float *x, float *y, int n) {  // without `if (i < n)`
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + 1;
}
template <typename T> __global__ void copy(const T *x, T *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
template <typename T> __global__ void increment(T *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
template <typename T> __global__ void twice(T *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}
__global__ void at(char *y, long long i) {
    if (threadIdx.x == 7) y[i] ^= 1;  // HERE
}
__global__ void through(char **p, long long i) {
    p[0][i] ^= 1;
}
__global__ void shared(long long i) {
    extern __shared__ char tile[];
    if (threadIdx.x == 7) tile[i] = 1 + blockIdx.x; // one of which a canary there is not
}
__global__ void by_address(long long address, long long i) {
    reinterpret_cast<volatile char *>(address)[i] ^= 1;
}
__global__ void address_of(const int *x, unsigned long long *address) {
    *address = reinterpret_cast<unsigned long long>(x);
}
__global__ void read(long long address, long long i, int *out) {
    *out = reinterpret_cast<const int *>(address)[i];
}
"""


@pytest.fixture(scope="module")
def beyond():
    with cudakern.use_backend("emulator"):
        names = [f"{kernel}<{of}>" for kernel in ("copy", "increment", "twice") for of in ("int", "float", "double")]
        return cudakern.compile(BEYOND, instances=names)


def test_the_loop_without_if_is_reported_each_time(beyond):
    x, y, other = (np.arange(1000, dtype=np.float32) for _ in range(3))
    on_device = [cudakern.asarray(other) for _ in range(20)]
    for _ in range(100):
        error = failure(beyond.add_one[4, 256], x, y, 1000)
        assert error.code == ADDRESS
        assert "kernel add_one: a thread wrote beyond the end of an allocation of 4000 bytes" in str(error)
        assert "if (i < n)" in str(error)
    assert all(np.array_equal(array.get(), other) for array in on_device)
    for _ in range(10):  # far beyond: the guard page
        error = failure(beyond.add_one[8, 256], x, y, 1000)
        assert re.search(r"kernel add_one, kernels\.cu:4, block \([4-7],0,0\), thread \(\d+,0,0\)", str(error))
        assert re.search(r"address 0x\w+, \d+ bytes beyond the end of an allocation of 4000 bytes", str(error))
    beyond.add_one[10, 100](x, y, 1000)
    assert np.array_equal(y, other + 1)


@pytest.mark.parametrize("kernel", ["copy", "increment", "twice"])
@pytest.mark.parametrize("of", ["int", "float", "double"])
def test_canaries_change_by_what_kernels_do_with_them(beyond, kernel, of):
    dtype = {"int": np.int32, "float": np.float32, "double": np.float64}[of]
    for n in (1000, 1001, 4097):
        x, y = np.ones(n, dtype), np.ones(n, dtype)
        error = failure(beyond[f"{kernel}<{of}>"][n + 2, 1], *((x, y) if kernel == "copy" else (x,)))
        assert f"wrote beyond the end of an allocation of {x.nbytes} bytes" in str(error)


@pytest.mark.parametrize("size", [1, 4000, 4096, 5000, 70_000])
def test_every_byte_around_an_allocation(beyond, size):
    """Before it at least 256 bytes, behind it the rest of 256 bytes; then the guard page, which names the thread."""
    x = cudakern.zeros(size, np.int8)
    end = -(-size // 256) * 256
    for i in (-256, -255, -2, -1, *range(size, end, max(1, (end - size) // 10)), end, end + 1, end + 2000):
        beyond.at[1, 32](x, i)
        error = failure(cudakern.synchronize)
        assert error.code == ADDRESS
        if i < end:
            where = "before the beginning" if i < 0 else "beyond the end"
            words = (
                f"kernel at: a thread wrote {where} of an allocation of {size} bytes (bytes {i} to {i} have changed)"
            )
            assert words in str(error)
        else:
            assert "block (0,0,0), thread (7,0,0): the thread wrote to address 0x" in str(error)
            assert f", {i - size} bytes beyond the end of an allocation of {size} bytes" in str(error)
    beyond.at[1, 32](x, size - 1)
    assert x.get().sum() == 1


def test_a_write_through_a_pointer_in_memory_is_found_when_it_is_freed(beyond, library):
    """The arguments do not show where the kernel writes."""
    data = library.buffer(np.zeros(100, np.int8))
    pointers = library.buffer(np.array([data.address.value], np.uint64))
    for i in (100, -1):
        beyond.through[1, 1](cudakern.asarray(pointers.get()), i)
        codes = [library.code("api_synchronize"), library.code("api_free", data.address)]
        assert sorted(codes) == [0, ADDRESS], codes
        assert "a kernel wrote " in library.detail()
        data = library.buffer(np.zeros(100, np.int8))
        pointers = library.buffer(np.array([data.address.value], np.uint64))
    assert library.code("api_synchronize") == 0


@pytest.mark.parametrize("size", [100, 10_000, 1 << 20])
def test_use_after_free(beyond, library, size):
    data = library.buffer(np.zeros(size, np.int8))
    address = data.address.value
    del data
    for i in (0, min(size - 1, 60_000)):
        error = failure(beyond.by_address[1, 1], address, i)
        assert error.code == ADDRESS
        assert f"in an allocation of {size} bytes that has been freed" in str(error)
    fresh = library.buffer(np.ones(size, np.int8))
    assert fresh.get().all()


def wait_for_an_event():
    event = cudakern.Event()
    event.record()  # in the stream that frees the array
    event.synchronize()


WAITS = {
    "no wait": lambda out: None,
    "device": lambda out: cudakern.synchronize(),
    "device twice": lambda out: (cudakern.synchronize(), cudakern.synchronize()),
    "event": lambda out: wait_for_an_event(),
    "result": lambda out: out.get(),
}


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("size", [64, 1000, 20_000, 1_000_000])
def test_use_of_an_array_that_was_freed(beyond, size, wait):
    """An error after a wait, whether a kernel ran before or not. Without a wait, the old values are gone."""
    address, out = cudakern.zeros(1, "uint64"), cudakern.zeros(1, "int32")
    for used in (False, True):
        data = cudakern.asarray(np.full(size, 7, np.int32))
        beyond.address_of[1, 1](data, address)
        at = int(address.get()[0])
        if used:
            beyond["increment<int>"][1, 64](data)
        del data
        WAITS[wait](out)
        for i in (0, min(size, 16 << 10) - 1):
            beyond.read[1, 1](at, i, out)
            if wait == "no wait":
                assert out.get()[0] == -1
                break
            assert f"in an allocation of {4 * size} bytes that has been freed" in str(failure(out.get))


def test_dynamic_shared_memory_has_an_end(beyond):
    for size in (40, 1000, 1024, 5000, 49_000):
        end = -(-size // 1024) * 1024
        for i in {size, end - 1, end, end + 100} - {size - 1}:
            error = failure(beyond.shared[2, 32, size], i)
            assert error.code == ADDRESS
            words = f"beyond the end of the {size} bytes of dynamic shared memory"
            assert words in str(error)
            assert ("wrote to a variable" in str(error)) == (i >= end), error
        beyond.shared[2, 32, size](size - 1)


STATIC = r"""
template <int SIZE> __global__ void at(int i) {
    __shared__ volatile char s[SIZE];
    if (blockIdx.x == 1 && threadIdx.x == 7) s[i] ^= 1;
}
"""
WITHOUT_IF = r"""
__global__ void add_neighbor(int *y) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x] + s[31 - threadIdx.x];
}
"""


PLACED = pytest.mark.skipif(platform.machine() != "x86_64", reason="the C library places static shared memory")


@PLACED
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("size", [128, 133])
def test_static_shared_memory_has_two_ends(size, compiler, monkeypatch):
    """Canaries around it, then guard pages, which name the line."""
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    monkeypatch.setenv("CXX", compiler)
    at = cudakern.compile(STATIC, instances=[f"at<{size}>"])[f"at<{size}>"]
    # Where g++ links the C++ library statically, the variables of its exceptions follow.
    end = int(re.search(r"of the (\d+) bytes of static", str(failure(at, 3, 32, -1)))[1])
    assert size <= end < size + 64
    for kind in ({}, {"shared": 1000}, {"cooperative": True}):
        for i in (-60_000, -5000, -256, -1, end, end + 100, end + 60_000):
            error = failure(functools.partial(at, 3, 32, **kind), i)
            where = f"before the beginning of the {end}" if i < 0 else f"beyond the end of the {end}"
            assert error.code == ADDRESS
            assert f"{where} bytes of static shared memory" in str(error)
            if i < -4096 or i > end:
                place = f"kernel at<{size}>, kernels.cu:4, block (1,0,0), thread (7,0,0): the thread read from a "
                assert f"{place}variable {i - end if i > 0 else -i} bytes {where}" in str(error)
            else:
                place = "," if i > 0 else ": a thread wrote"
                assert f"kernel at<{size}>{place}" in str(error)
                assert ("block (1,0,0), thread" in str(error)) == (i > 0), error
        at(3, 32, size - 1, **kind)
        at(3, 32, 0, **kind)


@PLACED
def test_more_threads_than_static_shared_memory_has_room_for():
    program = cudakern.compile(WITHOUT_IF)
    y = np.zeros(64, np.int32)
    for _ in range(200):
        assert failure(program.add_neighbor[4, 64], y).code == ADDRESS
    program.add_neighbor[4, 32](y)
    assert np.array_equal(y, [31] * 32 + [0] * 32)


def test_static_shared_memory_where_the_c_library_places_it(program):
    """TLS descriptors: the compiler does without the function by which the core places these variables."""
    try:
        other = cudakern.compile(BROKEN, flags=["-mtls-dialect=gnu2"])
    except cudakern.CompileError:
        pytest.skip("the compiler has no -mtls-dialect=gnu2")
    for _ in range(3):
        assert works(other)
        assert works(program)


def test_more_allocations_than_guard_pages(beyond, program, library):
    """Allocations without a guard page end in canaries; stacks keep their guard pages."""
    data = [library.buffer(np.zeros(64, np.int32)) for _ in range(9000)]
    for _ in range(3):
        assert failure(program.recurses[2, 64], np.zeros(64, np.int32)).code == STACK
    for buffer in data[-20:]:
        for i in (-4, 256, 511):
            error = failure(beyond.by_address[1, 1], buffer.address.value, i)
            assert "an allocation of 256 bytes" in str(error)
        assert not buffer.get().any()
    assert works(program)
    # Freed from the list's end: those without guard pages come last and are kept as spares. A new one has its page.
    del buffer
    data.reverse()
    data.clear()
    again = library.buffer(np.zeros(64, np.int32))
    assert "block (0,0" in str(failure(beyond.by_address[1, 1], again.address.value, 256))


# --- in launches of other kinds --------------------------------------------------------------------------------------
def fails(library, name, values, **shape):
    with pytest.raises(cuda_api.CudaFailure) as caught:
        library.launch(f"run_{name}", library.buffer(np.array(values, np.int32)), **shape)
    out = library.buffer(np.zeros(256, np.int32))
    library.launch("run_sound", out, block=256)
    assert np.array_equal(out.get(), np.arange(256)[::-1])
    return caught.value


@pytest.mark.parametrize("kind", [{}, {"cooperative": True}, {"cluster": 4}], ids=["plain", "cooperative", "cluster"])
def test_a_fault_in_launches_of_all_kinds(library, kind):
    for _ in range(50):
        failure = fails(library, "writes_wild", [0] * 64, grid=4, block=32, **kind)
        assert (failure.code, failure.name) == (ADDRESS, "cudaErrorIllegalAddress")
        assert "block (2,0,0), thread (9,0,0)" in failure.detail


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer ends the process at the core's copy")
@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_copy_of_a_box_from_freed_memory(size):
    """The copy is carried out while the block waits; in a cluster, while none of its blocks runs."""
    library = cuda_api.load("emulator", "clusters")
    for _ in range(20):
        rows = library.buffer(np.zeros((8 * size, 32), np.int32))
        out = library.buffer(np.zeros((size, 8 * size, 32), np.int32))
        library.check("api_free", rows)
        with pytest.raises(cuda_api.CudaFailure) as caught:
            library.launch("run_share_rows", rows, 8 * size, out, grid=size, block=64, shared=9216, cluster=size)
        assert caught.value.code == ADDRESS
        assert f"in an allocation of {1024 * size} bytes that has been freed" in caught.value.detail


def test_stacks_without_guard_pages(library):
    """A process may have as many guard pages as half of these threads need: the rest has one for 32 stacks."""
    for block in range(0, 16, 3):
        failure = fails(library, "overflows", [block, 0], grid=16, block=1024, cooperative=True)
        assert (failure.code, failure.name) == (STACK, "cudaErrorHardwareStackError")
        assert f"block ({block},0,0), thread (1023,0,0): the thread overflowed its stack" in failure.detail


# --- loops that do not end -------------------------------------------------------------------------------------------
LOOPS = r"""
__global__ void counts(volatile long long *x) {
    while (x[0] >= 0) x[0] = x[0] + 1;
}
__global__ void computes(volatile float *x, int *y) {  // mostly in the C library
    while (x[0] < 10) x[0] = sinf(x[0] + threadIdx.x) + cosf(x[0]);
    y[0] = 1;
}
__global__ void waits_for_a_clock(volatile long long *x) {
    while (clock64() != 0) x[0] = 1;
}
__global__ void prints(int *x) {
    while (threadIdx.x < 32) printf("");
    x[0] = 1;
}
__global__ void waits_for_block_0(volatile int *flag, int *null) {
    if (blockIdx.x == 0) *null = 1;
    while (flag[0] == 0) {}
}
__global__ void waits_after_a_barrier(volatile int *flag) {
    __syncthreads();
    while (flag[0] == 0) {}
    __syncthreads();
}
// Hardly ever in their own code.
#include <cstring>
#include <stdexcept>
#include <thread>
#include <unistd.h>
__device__ char here[16 << 20], there[16 << 20];
__global__ void copies(int *x) {
    for (;; ++x[0]) memcpy(there, here, sizeof here);
}
__global__ void fills(int *x) {
    for (;; ++x[0]) memset(there, x[0], sizeof there);
}
__global__ void measures(int *x) {
    memset(here, 1, sizeof here - 1);
    for (;; x[0] += ::strlen(here)) here[0] = 1 + x[0] % 2;  // (nvcc refuses this; a name with :: is left alone)
}
__global__ void sleeps(int *x) {
    for (;; ++x[0]) ::usleep(50);
}
__global__ void sleeps_long(int *x) {
    for (;; ++x[0]) std::this_thread::sleep_for(std::chrono::hours(1));
}
__global__ void sleeps_deep_down(int *x) {
    auto sleep = [](const void *, const void *) { return ::usleep(1000); };
    for (int two[2] = {};; ++x[0]) ::qsort(two, 2, sizeof(int), sleep);
}
__global__ void throws(volatile int *x) {  // such a thing must not be led astray
    for (;;) try { throw std::runtime_error("again"); }
        catch (const std::exception &) { for (int i = 0; i < 1000; ++i) x[0] = i; }
}
"""
ENDLESS = {"counts": ["int64"], "computes": ["float32", "int32"], "waits_for_a_clock": ["int64"]}
ENDLESS |= {name: ["int32"] for name in ("prints", "waits_after_a_barrier", "copies", "fills", "measures", "sleeps",
                                         "sleeps_long", "sleeps_deep_down", "throws")}  # fmt: skip


@pytest.mark.parametrize(
    "name", [x if x in ("counts", "prints") else pytest.param(x, marks=pytest.mark.full) for x in ENDLESS]
)
def test_ctrl_c_ends_a_loop(name):
    code = f"""
    import signal
    import numpy as np, cudakern as ck
    signal.signal(signal.SIGINT, signal.default_int_handler)
    program = ck.compile({LOOPS!r})
    arrays = [ck.zeros(32, dtype) for dtype in {ENDLESS[name]}]
    for wait in (ck.synchronize, arrays[0].get):
        program["{name}"][4, 32](*arrays)
        try:
            print("started", flush=True)
            wait()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    y = ck.asarray(np.arange(5))
    print(int(ck.sum_of_squares(y)))
    """
    process = subprocesses.start(code, CUDAKERN_BACKEND="emulator")
    late = threading.Timer(60, process.kill)
    late.start()
    for _ in range(2):
        assert process.stdout.readline() == "started\n"
        subprocesses.interrupt(process)
        assert process.stdout.readline() == "interrupted\n", process.communicate()
    # Not communicate(), which passes over what readline has buffered.
    rest = process.stdout.read(), process.stderr.read()
    late.cancel()
    assert (*rest, process.wait()) == ("30\n", "", 0)


def test_blocks_that_wait_for_one_that_failed_end():
    program = cudakern.compile(LOOPS)
    for _ in range(20):
        error = failure(program.waits_for_block_0[2, 32], np.zeros(1, np.int32), None)
        assert "kernel waits_for_block_0, kernels.cu:17, block (0,0,0)" in str(error)


# --- other handlers, and faults of the host --------------------------------------------------------------------------
HOST = f"""
import ctypes, faulthandler
import numpy as np, cudakern as ck
def kernels():
    program = ck.compile({BROKEN!r})
    y = np.zeros(64, np.int32)
    for name, code, some in [("uses_null", 700, (None,)), ("recurses", 714, (y,)), ("divides", 719, (y,))] * 5:
        try:
            program[name][4, 64](*some)
        except ck.CudaError as error:
            assert error.code == code, error
        else:
            raise AssertionError(name)
    program.sound[1, 64](y)
    assert y[0] == 63
"""


@pytest.mark.parametrize(
    "how",
    ["never", "before and after", *(pytest.param(x, marks=pytest.mark.full) for x in ("before", "after", "disabled"))],
)
def test_a_fault_of_the_host_still_ends_the_process(how):
    """With Python's faulthandler, its report is there as usual; kernels' faults cause none."""
    code = [HOST]
    if "before" in how:
        code += ["faulthandler.enable()"]
    code += ["kernels()"]
    if "after" in how or how == "disabled":
        code += ["faulthandler.enable()", "kernels()"]
    if how == "disabled":
        code += ["faulthandler.disable()"]
    code += ["print('alive', flush=True)", "ctypes.string_at(8)"]
    process = subprocesses.start("\n".join(code), CUDAKERN_BACKEND="emulator", CUDAKERN_EMULATOR_PRINT="0")
    output, errors = process.communicate(timeout=60)
    assert (output, process.returncode) == ("alive\n", 1 if SANITIZED else -signal.SIGSEGV), errors
    assert errors.count("Fatal Python error: Segmentation fault") == (how not in ("never", "disabled")), errors


def test_errors_are_printed_once_per_launch():
    code = HOST + "kernels()\nck.emulator.configure(print=False)\nkernels()"
    code += (
        "\nck.emulator.configure(print=True)\ntry: ck.compile("
        + repr(BROKEN)
        + ").asserts[4, 64](np.zeros(1, np.int32))"
    )
    code += "\nexcept ck.CudaError: pass"
    process = subprocesses.start(code, CUDAKERN_BACKEND="emulator")
    output, errors = process.communicate(timeout=60)
    assert (output, process.returncode) == ("", 0), errors
    lines = errors.splitlines()
    assert len(lines) == 16, errors
    assert all(
        re.match(r"cudakern: kernel (uses_null|recurses|divides), kernels\.cu:\d+, block", x) for x in lines[:15]
    )
    at = rf"kernels\.cu:{line_of('asserts')}: void asserts\(int ?\*\): block: \[\d,0,0\], thread: \[3,0,0\] "
    assert re.fullmatch(at + r"Assertion `threadIdx\.x < 3 \+ zero` failed\.", lines[15])


def test_ipython_shows_an_error_once():
    """As the exception, which is raised when the kernel is waited for; and printed too on request."""
    pytest.importorskip("IPython")
    code = f"""
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell(history_length=0)
        shell.run_line_magic("colors", "NoColor")
        shell.run_cell("import cudakern as ck, numpy as np")
        shell.run_cell({f"program = ck.compile({BROKEN!r})"!r})
        for launch in ("np.zeros(1, np.int32)", "x := ck.zeros(1, 'int32')"):
            shell.run_cell(f"program.divides[4, 64]({{launch}})")
        shell.run_cell("x.get()")
        shell.run_cell("program.asserts[4, 64](np.zeros(1, np.int32))")
        shell.run_cell("ck.emulator.configure(print=True); program.divides[4, 64](x); x.get()")"""
    process = subprocesses.start(code, CUDAKERN_BACKEND="emulator", IPYTHONDIR=os.devnull)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert len(re.findall(r"kernel divides, kernels\.cu:\d+, block", output)) == 3, output
    assert len(re.findall(r"assertion `threadIdx\.x < 3 \+ zero` failed", output, re.I)) == 1, output
    assert len(re.findall("cudakern: kernel divides|Assertion", errors)) == 1, errors


def test_a_fault_in_a_child_of_a_fork():
    code = HOST + "kernels()\nimport os\nchild = os.fork()\nkernels()\nif child: print(os.waitpid(child, 0)[1])"
    assert subprocesses.run(code, CUDAKERN_BACKEND="emulator", CUDAKERN_EMULATOR_PRINT="0") == "0\n"
