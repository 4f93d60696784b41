"""CMake and make, with `cudakern cc` in nvcc's place."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import cudakern
from cudakern.programs import toolkit

SUM = """
#include "sum.h"
__device__ int weight(int i) { return i % 2 ? 3 : 1; }
__global__ void weigh(int *sum, int n) {
    extern __shared__ int all[];
    all[threadIdx.x] = threadIdx.x < n ? weight(threadIdx.x) : 0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < blockDim.x; ++i) *sum += all[i];
}
int sum_of(int n) {
    int *sum, result;
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    weigh<<<1, 64, 64 * sizeof(int)>>>(sum, n);
    cudaMemcpy(&result, sum, sizeof *sum, cudaMemcpyDeviceToHost);
    return cudaFree(sum) == cudaSuccess ? result : -1;
}
extern "C" int of_c(int n) {
    return sum_of(n);
}
"""
TWICE = """
__global__ void twice(int *x) { *x *= 2; }
int twice_of(int x) {
    int *memory;
    cudaMallocManaged(&memory, sizeof *memory);
    *memory = x;
    twice<<<1, 1>>>(memory);
    cudaDeviceSynchronize();
    x = *memory;
    cudaFree(memory);
    return x;
}
"""
HEADER = "int sum_of(int n);\nint twice_of(int x);\n"
MAIN = """
#include <cuda_runtime.h>
#include <iostream>
#include "sum.h"
int main() {
    int count = 0;
    cudaGetDeviceCount(&count);
    std::cout << sum_of(10) << " " << twice_of(21) << " " << (count > 0) << "\\n";
}
"""
SAID = "20 42 1\n"
C_MAIN = """
#include <cuda_runtime.h>
#include <stdio.h>
int of_c(int n);
int main(void) {
    struct cudaDeviceProp properties;
    printf("%d %d\\n", of_c(10), cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.warpSize == 32);
    return 0;
}
"""

CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(weights LANGUAGES CXX CUDA)
set(CMAKE_CUDA_STANDARD 14)
add_library(sum STATIC sum.cu)
set_target_properties(sum PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES "75;80")
target_compile_options(sum PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -lineinfo -Xcompiler=-Wall>)
add_library(twice SHARED twice.cu)
add_executable(of_host main.cpp)
target_link_libraries(of_host sum twice)
add_executable(of_cuda whole.cu)
target_link_libraries(of_cuda sum twice)
find_package(CUDAToolkit REQUIRED)
target_link_libraries(of_host CUDA::cudart CUDA::cublas)
"""

MAKEFILE = """
NVCC = nvcc
NVCCFLAGS = -O3 -std=c++11 -arch=sm_80 -gencode arch=compute_80,code=sm_80 -Xcompiler -Wall,-Wextra -lineinfo
all: by_host by_nvcc by_archive by_c
%.o: %.cu sum.h
\t$(NVCC) $(NVCCFLAGS) -MMD -dc $< -o $@
main.o: main.cpp
\t$(CXX) -std=c++11 -O2 -I$(CUDA_HOME)/include -c $< -o $@
device.o: sum.o twice.o
\t$(NVCC) -arch=sm_80 -dlink $^ -o $@
libweights.a: sum.o twice.o
\t$(NVCC) -lib $^ -o $@
by_host: main.o sum.o twice.o device.o
\t$(CXX) $^ -o $@ -L$(CUDA_HOME)/lib64 -lcudart -lcudadevrt
by_nvcc: main.o sum.o twice.o
\t$(NVCC) -arch=sm_80 $^ -o $@ -lm
by_archive: main.o libweights.a
\t$(NVCC) main.o -o $@ -L. -lweights -lcudart
c.o: c.c
\tgcc -std=c99 -I$(CUDA_HOME)/include -c $< -o $@
by_c: c.o sum.o
\tgcc $^ -o $@ -L$(CUDA_HOME)/lib64 -lcuda -lcudart
-include *.d
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """That of a user whose PATH begins with the folder of our nvcc."""
    folder = tmp_path_factory.mktemp("toolkit")
    toolkit.make(folder)
    above = Path(cudakern.__file__).parent.parent
    path = os.environ["PATH"]
    return {**os.environ, "PATH": f"{folder}/bin:{path}", "CUDA_HOME": str(folder), "PYTHONPATH": str(above)}


@pytest.fixture
def project(tmp_path):
    texts = {"sum.cu": SUM, "twice.cu": TWICE, "sum.h": HEADER, "main.cpp": MAIN, "whole.cu": MAIN, "c.c": C_MAIN}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def ran(*words, cwd, env):
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not shutil.which("cmake"), reason="needs CMake")
def test_a_project_of_cmake_is_built_with_nvcc_replaced(project, environment):
    (project / "CMakeLists.txt").write_text(CMAKE)
    text = ran("cmake", "-S", ".", "-B", "build", cwd=project, env=environment)
    assert "The CUDA compiler identification is NVIDIA 13" in text
    ran("cmake", "--build", "build", cwd=project, env=environment)
    for name in ("of_host", "of_cuda"):
        assert ran(f"build/{name}", cwd=project, env=os.environ) == SAID


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_a_makefile_is_built_with_nvcc_replaced(project, environment):
    (project / "Makefile").write_text(MAKEFILE)
    ran("make", cwd=project, env=environment)
    for name in ("by_host", "by_nvcc", "by_archive"):
        assert ran(f"./{name}", cwd=project, env=os.environ) == SAID
    assert ran("./by_c", cwd=project, env=os.environ) == "20 1\n"
    assert "up to date" in ran("make", "by_archive", cwd=project, env=environment).lower()

    (project / "sum.cu").write_text(SUM.replace("? 3 : 1", "? 5 : 1"))
    ran("make", cwd=project, env=environment)
    for name in ("by_host", "by_nvcc", "by_archive"):
        assert ran(f"./{name}", cwd=project, env=os.environ) == "30 42 1\n"

    (project / "sum.cu").write_text(SUM.replace("    cudaMemset(sum", "    *sum = 0;\n    cudaMemset(sum"))
    ran("make", cwd=project, env=environment)
    for name in ("by_host", "by_nvcc"):
        loud = os.environ | {"CUDAKERN_EMULATOR_PRINT": "1"}
        done = subprocess.run([project / name], env=loud, capture_output=True, text=True)
        assert done.returncode == -signal.SIGSEGV
        assert "sum.cu:14: the host writes device memory" in done.stderr


def test_the_files_that_a_source_reads_can_be_listed(project, environment):
    assert "sum.h" in ran("nvcc", "-M", "sum.cu", cwd=project, env=environment)
    assert ran("nvcc", "-MM", "twice.cu", "-I.", cwd=project, env=environment).startswith("twice.o: twice.cu")
    assert "weigh" in ran("nvcc", "-E", "sum.cu", cwd=project, env=environment)
    ran("nvcc", "-c", "sum.cu", "-MD", "-MF", "list", "-MT", "what", cwd=project, env=environment)
    assert (project / "list").read_text().startswith("what: sum.cu")


def test_options_in_a_file(project, environment):
    (project / "options").write_text("sum.cu twice.cu\n-o 'a program'")
    ran("nvcc", "main.cpp", "--options-file", "options", cwd=project, env=environment)
    assert ran("./a program", cwd=project, env=os.environ) == SAID


def test_a_toolkit_needs_a_folder(project, environment):
    done = subprocess.run(["nvcc", "-v", "nothing.cu"], cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode
    assert f"TOP={environment['CUDA_HOME']}" in done.stderr
    with pytest.raises(ValueError, match="needs a folder"):
        toolkit.command([])
