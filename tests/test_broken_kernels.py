"""Each rule of CUDA that the emulator enforces, broken by a kernel: an error that says where, not a hang."""

import os
import re
import subprocess

import numpy as np
import pytest

import cuda_api
import cudakern
from cases import ORDERS

LAUNCH_FAILURE = 719
RULES = {  # kernel: (grid, block, cooperative)
    "missing_lane": (1, 32, False),
    "missing_lane_vote": (1, 64, False),
    "half_skips": (1, 64, False),
    "half_waits_for_warp": (1, 32, False),
    "two_kinds": (1, 64, False),
    "exited_lane": (1, 32, False),
    "caller_not_in_mask": (1, 32, False),
    "empty_mask": (1, 32, False),
    "clashing_masks": (1, 32, False),
    "clashing_operations": (1, 32, False),
    "half_shuffle": (1, 16, False),
    "tile_lacks_a_lane": (1, 8, False),
    "reduction_lacks_a_lane": (1, 8, False),
    "group_waits_twice": (1, 64, False),
    "plain_grid_sync": (1, 32, False),
    "grid_skipped": (2, 32, True),
}


@pytest.fixture
def library():
    return cuda_api.load("emulator", "broken")


def broken(library, name, grid=None, block=None, stream=None):
    shape = RULES[name]
    out = library.buffer(np.zeros(1024, np.int32))
    with pytest.raises(cuda_api.CudaFailure) as caught:
        library.launch(
            f"run_{name}", out, grid=grid or shape[0], block=block or shape[1], cooperative=shape[2], stream=stream
        )
    return caught.value


def works(library):
    out = library.buffer(np.zeros(256, np.int32))
    library.launch("run_sound", out, block=256)
    return np.array_equal(out.get(), np.arange(256)[::-1])


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("name", RULES)
def test_a_broken_rule_is_named(library, order, name, order_name):
    """Kernel, file, line, block, thread, and words; afterwards the device works."""
    order(order_name)
    failure = broken(library, name)
    assert (failure.code, failure.name) == (LAUNCH_FAILURE, "cudaErrorLaunchFailure")
    found = re.search(
        r"kernel (\w+), \S*broken\.cu:(\d+), block \((\d+),(\d+),(\d+)\), "
        r"thread \((\d+),(\d+),(\d+)\): (.+)",
        failure.detail,
        re.DOTALL,
    )
    assert found, failure.detail
    assert found[1] == name
    assert int(found[2]) in library.lines(name)
    assert int(found[3]) < RULES[name][0]
    assert int(found[6]) < RULES[name][1]
    assert len(found[9].split()) >= 8  # the rule, what happened
    assert works(library)


@pytest.mark.parametrize(
    "name, words",
    [
        ("missing_lane", ["lane", "mask", "5"]),
        ("half_skips", ["barrier"]),
        ("exited_lane", ["lane", "3"]),
        ("caller_not_in_mask", ["mask", "0x0000ffff|0xffff"]),
        ("empty_mask", ["mask"]),
        ("plain_grid_sync", ["cooperative"]),
    ],
)
def test_the_words_tell_what_to_look_at(library, name, words):
    detail = broken(library, name).detail.lower()
    assert all(re.search(word, detail) for word in words), detail


def test_the_block_that_broke_the_rule_is_named(library):
    """Of many blocks, each of which breaks it, one is named, with a thread that stood at the line."""
    failure = broken(library, "half_skips", grid=20, block=96)
    block, thread = (int(found) for found in re.search(r"block \((\d+),.*?thread \((\d+),", failure.detail).groups())
    assert block < 20
    assert thread < 96


def test_an_error_is_reported_once_and_to_its_own_stream(library):
    first, second = library.stream(), library.stream()
    out, other = (library.buffer(np.zeros(1024, np.int32)) for _ in range(2))
    library.start("run_half_skips", other, block=64, stream=first)  # the launch itself is in order
    library.launch("run_sound", out, block=64, stream=second)
    assert out.get()[:64].tolist() == list(range(64))[::-1]
    assert library.code("api_stream_synchronize", first) == LAUNCH_FAILURE
    assert "half_skips" in library.detail()
    assert library.code("api_last_error") == LAUNCH_FAILURE
    assert library.code("api_last_error") == 0
    assert library.code("api_stream_synchronize", first) == 0
    library.launch("run_sound", out, block=64, stream=first)
    for stream in (first, second):
        library.check("api_stream_destroy", stream)


# --- launches that no device takes -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "shape, code, words",
    [
        ({"block": 1025}, 1, ["1025", "1024"]),
        ({"block": (32, 33)}, 1, ["1056", "1024"]),
        ({"block": (1, 1, 65)}, 1, ["65", "64"]),
        ({"block": 0}, 1, ["0"]),
        ({"grid": 0}, 1, ["0"]),
        ({"grid": (1, 65536)}, 1, ["65536", "65535"]),
        ({"grid": (1, 1, 65536)}, 1, ["65536", "65535"]),
        ({"grid": 2**31}, 1, ["2147483648", "2147483647"]),
        ({"shared": 49153}, 1, ["49153", "49152"]),
        ({"shared": 10**7}, 1, ["10000000"]),
    ],
)
def test_launch_limits(library, shape, code, words):
    """CUDA's own codes, at the launch; the words give what was asked for and the limit."""
    out = library.buffer(np.zeros(1024, np.int32))
    with pytest.raises(cuda_api.CudaFailure) as caught:
        library.start("run_sound", out, **{"grid": 1, "block": 32} | shape)
    assert caught.value.code == code, str(caught.value)
    detail = caught.value.detail.replace(",", "")
    assert all(word in detail for word in words), caught.value.detail
    assert library.code("api_last_error") == code
    assert works(library)


# --- accesses beyond an array ----------------------------------------------------------------------------------------
BEYOND = """
#include <cuda_runtime.h>
__global__ void beyond(int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x + 1] = tile[63 - threadIdx.x];  // HERE
}
int main() {
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 64;
    cudaLaunchKernelEx(&config, beyond, out);
    return cudaDeviceSynchronize();
}
"""


def test_address_sanitizer_names_the_kernels_line(tmp_path):
    """A program with a kernel, built as docs/emulator.md describes; the emulator itself need not be instrumented."""
    source, program = tmp_path / "beyond.cu", tmp_path / "beyond"
    source.write_text(BEYOND)
    flags = [flag for flag in cudakern.emulator.compile_flags() if flag != "-shared"]
    compiler = [os.environ.get("CXX", "c++"), "-g", "-fsanitize=address", "-rdynamic"]
    built = subprocess.run([*compiler, "-x", "c++", str(source), "-o", str(program), *flags], capture_output=True)
    if built.returncode:
        pytest.skip("the compiler has no AddressSanitizer")
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    run = subprocess.run([str(program)], capture_output=True, text=True, env=environment, timeout=120)
    line = BEYOND.splitlines().index("    out[threadIdx.x + 1] = tile[63 - threadIdx.x];  // HERE") + 1
    assert "use-after-poison" in run.stderr
    assert re.search(rf"in beyond\(int\*\) \S*beyond\.cu:{line}\b", run.stderr), run.stderr
