"""Sources that include CCCL's headers: where these are found, and what is said if they are not."""

import numpy as np
import pytest

import cudakern
from cudakern.own import cccl
from cudakern.programs import build, options
from cudakern.programs.run import run

PROGRAM = """#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
__global__ void twice(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
int main() {
    thrust::device_vector<int> x(3);
    for (int i = 0; i < 3; i++) x[i] = 3 - i;
    twice<<<1, 32>>>(thrust::raw_pointer_cast(x.data()), 3);
    thrust::sort(x.begin(), x.end());
    std::printf("%d %d %d\\n", int(x[0]), int(x[1]), int(x[2]));
}
"""


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "program.cu"
    file.write_text(PROGRAM)
    return file


def test_it_says_what_to_install(source, monkeypatch):
    monkeypatch.setattr(cccl, "found", lambda: None)
    source.write_text(PROGRAM + "// not in the cache\n")
    advice = "and CCCL .* is not installed: it comes with CUDA's toolkit, or alone by pip install 'nvidia-cuda-cccl"
    with pytest.raises(cudakern.CompileError, match=f"<thrust/device_vector.h>, {advice}"):
        build.unit(options.parsed([str(source)]), source)
    with cudakern.use_backend("emulator"), pytest.raises(cudakern.CompileError, match=f"<cuda/barrier>, {advice}"):
        cudakern.compile("#include <cuda/barrier>\n__global__ void not_in_the_cache() {}")


def test_it_is_found_in_a_toolkit(tmp_path, monkeypatch):
    """A version with which all of CUB works is preferred to a newer one that comes first."""
    new, old = tmp_path / "new/include/cccl", tmp_path / "old/include"
    for place, version in ((new, 3005000), (old, 2008002)):
        for name in ("cuda/std/__cccl/version.h", "thrust/version.h"):
            (place / name).parent.mkdir(parents=True)
            (place / name).write_text(f"#define CCCL_VERSION {version}")
    monkeypatch.setattr(cccl, "_candidates", lambda: [tmp_path / "new/include", tmp_path / "none", old])
    assert cccl.found.__wrapped__() == old
    monkeypatch.setattr(cccl, "_candidates", lambda: [tmp_path / "new/include", tmp_path / "none"])
    assert cccl.found.__wrapped__() == new


@pytest.mark.skipif(not cccl.found(), reason="CCCL is not installed")
def test_kernels_and_algorithms_share_memory_in_order(source):
    with cudakern.use_backend("emulator"):
        done = run(source)
    assert (done.exit_code, done.output) == (0, "2 4 6\n")


KERNELS = """#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cuda/barrier>
__global__ void total(const float *x, float *sum) {
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ Reduce::TempStorage storage;
    const float all = Reduce(storage).Sum(x[threadIdx.x]);
    if (cooperative_groups::this_thread_block().thread_rank() == 0) *sum = all;
}
__global__ void reverse(int *x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int all[64];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    all[threadIdx.x] = x[threadIdx.x];
    barrier.arrive_and_wait();
    x[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}
"""


@pytest.mark.parametrize(
    "message",
    [
        "k.cu:1:10: fatal error: cub/cub.cuh: No such file or directory\n    1 | #include <cub/cub.cuh>",
        "k.cu:1:10: fatal error: 'cub/cub.cuh' file not found\n#include <cub/cub.cuh>",  # clang
    ],
)
def test_the_header_that_is_missed(message):
    assert cccl.needed(message) == "cub/cub.cuh"
    assert cccl.needed(message.replace("cub/", "own/")) is None


@pytest.mark.skipif(not cccl.found(), reason="CCCL is not installed")
def test_kernels_of_compile():
    x, sum, numbers = np.arange(128, dtype=np.float32), np.empty(1, np.float32), np.arange(64, dtype=np.int32)
    program = cudakern.compile(KERNELS)
    program.total[1, 128](x, sum)
    assert sum[0] == x.sum()
    program.reverse[1, 64](numbers)
    assert numbers.tolist() == [*range(63, -1, -1)]
