"""malloc, free, new and delete in kernels."""

import re

import numpy as np
import pytest

import cudakern
import subprocesses

SOURCE = r"""
struct Node {
    int value;
    Node *next;
    __device__ Node(int v, Node *n) : value(v), next(n) {}
};
struct Shape {
    __device__ virtual int sides() const { return 0; }
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    __device__ int sides() const override { return 4; }
};

__global__ void build(Node **lists, int length) {
    Node *list = nullptr;
    for (int i = 0; i < length; ++i) list = new Node(100 * threadIdx.x + i, list);
    lists[threadIdx.x] = list;
}
__global__ void take_down(Node **lists, int *sums) {
    int sum = 0;
    for (Node *node = lists[threadIdx.x]; node;) {
        Node *next = node->next;
        sum += node->value;
        delete node;
        node = next;
    }
    sums[threadIdx.x] = sum;
}

__global__ void exhaust(unsigned size, int most, int *counts) {     // one thread
    void *first = nullptr;
    int n = 0;
    while (n < most) {
        void **block = static_cast<void **>(malloc(size));
        if (!block) break;
        *block = first;
        first = block;
        ++n;
    }
    counts[0] = n;
    counts[1] = malloc(size_t(1) << 40) == nullptr;
    char *volatile large = new char[size_t(1) << 40];
    counts[2] = large == nullptr;
    while (first) {
        void *next = *static_cast<void **>(first);
        free(first);
        first = next;
    }
    free(nullptr);
}

__global__ void churn(unsigned *errors, int rounds) {               // blocks of many sizes, which must not overlap
    unsigned random = blockIdx.x * blockDim.x + threadIdx.x + 1, mine = random;
    unsigned *blocks[8] = {}, sizes[8] = {};
    for (int round = 0; round < rounds; ++round) {
        random = random * 1664525 + 1013904223;
        const int i = random >> 29;
        if (blocks[i]) {
            for (unsigned k = 0; k < sizes[i]; ++k)
                if (blocks[i][k] != mine * 31 + i) atomicAdd(errors, 1);
            free(blocks[i]);
            blocks[i] = nullptr;
        } else {
            sizes[i] = 1 + (random >> 10) % 60;
            blocks[i] = static_cast<unsigned *>(malloc(4 * sizes[i]));
            if (!blocks[i] || reinterpret_cast<size_t>(blocks[i]) % 16) {
                atomicAdd(errors + 1, 1);
                continue;
            }
            for (unsigned k = 0; k < sizes[i]; ++k) blocks[i][k] = mine * 31 + i;
        }
    }
    for (int i = 0; i < 8; ++i) free(blocks[i]);
}

__global__ void derived(int *out) {
    Shape *shapes[2] = {new Shape, new Square};
    int *numbers = new int[50];
    for (int i = 0; i < 50; ++i) numbers[i] = i;
    out[0] = shapes[0]->sides() + 10 * shapes[1]->sides() + numbers[49];
    delete shapes[0];
    delete shapes[1];
    delete[] numbers;
}
"""


@pytest.fixture
def program(backend):
    return cudakern.compile(SOURCE)


def test_a_later_kernel_frees_what_an_earlier_one_allocated(program):
    lists, sums = cudakern.zeros(64, np.uint64), np.zeros(64, np.int32)
    for _ in range(3):
        program.build[1, 64](lists, 20)
        out = cudakern.asarray(sums)
        program.take_down[1, 64](lists, out)
        assert out.get().tolist() == [2000 * t + sum(range(20)) for t in range(64)]


def test_null_when_the_heap_is_exhausted(program):
    """8 MB by default. What was freed can be allocated again, in larger and smaller pieces.
    (On an H200, 3.7 MiB in pieces of 1 KiB.)"""
    counts = np.zeros(3, np.int32)
    seen = []
    for size in (1 << 20, 1 << 10, 1 << 20, 3 << 20, 1 << 14):
        program.exhaust[1, 1](size, 1 << 14, counts)
        assert counts[1:].tolist() == [1, 1]
        seen.append(counts[0] * size / 2**20)
    assert seen[0] == seen[2]
    assert all(3 <= mib <= 8 for mib in seen), seen


def test_blocks_of_many_threads_do_not_overlap(program):
    errors = np.zeros(2, np.uint32)
    program.churn[4, 64](errors, 300)
    assert errors.tolist() == [0, 0]


def test_objects_with_virtual_functions_and_arrays(program):
    out = np.zeros(1, np.int32)
    program.derived[1, 1](out)
    assert out[0] == 40 + 49


WRONG = {
    "twice": "int *p = static_cast<int *>(malloc(40)); out[1] = p[0]; free(p); free(p);",
    "inside": "char *p = static_cast<char *>(malloc(40)); out[1] = p[0]; free(p + 16);",
    "foreign": "free(out);",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_addresses(name):
    with cudakern.use_backend("emulator"):
        program = cudakern.compile(f"__global__ void wrong(int *out) {{ {WRONG[name]} out[0] = 1; }}")
        with pytest.raises(cudakern.CudaError, match="kernel wrong.*free and delete take an address") as caught:
            program.wrong[1, 1](np.zeros(2, np.int32))
        assert re.search("not in the heap" if name == "foreign" else "freed before", str(caught.value))


def test_the_size_of_the_heap():
    """It can be set until a kernel has used it."""
    code = """
        import numpy as np, ctypes, cudakern, cuda_api
        library = cuda_api.load("emulator", "streams").raw
        core = ctypes.CDLL(str(next((cuda_api.PACKAGE / "lib").glob("libcudakern_emulator.so*"))))
        def limit(which, value=None):
            place = ctypes.c_size_t(value or 0)
            code = core.emu_limit(which, ctypes.byref(place), int(value is not None))
            return code or place.value
        assert limit(2) == 8 << 20
        assert limit(2, 1 << 20) == 1 << 20
        assert limit(0) >= 1 << 14 and limit(0, 1 << 20) == 1 << 20 == limit(0)
        assert limit(3) == 215 and limit(1) == 1 << 20
        program = cudakern.compile('''__global__ void count(int *n) {
            while (malloc(1024)) ++n[0];
        }''')
        n = np.zeros(1, np.int32)
        program.count[1, 1](n)
        assert 900 < n[0] <= 1024, n
        assert limit(2, 1 << 22) == 1 and limit(2) == 1 << 20
        import os
        child = os.fork()
        if child == 0:
            program.count[1, 1](n)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print("done")
    """
    assert subprocesses.run(code, CUDAKERN_BACKEND="emulator").endswith("done\n")
