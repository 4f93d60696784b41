"""Programs that include CCCL's headers: where these are found, and what is said if they are not."""

import pytest

import cudakern
from cudakern.programs import build, cccl, options
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
    with pytest.raises(cudakern.CompileError, match="<thrust/device_vector.h>, and CCCL .* is not installed") as caught:
        build.unit(options.parsed([str(source)]), source)
    assert "pip install 'nvidia-cuda-cccl" in caught.value.log


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
