"""What CUDA had until version 12 and programs still use: nvcc 13 does not compile it, so it runs on the emulator."""

import subprocess
import sys

import pytest

NAMES = r"""
#include <cstdio>
#include <cuda.h>

texture<float, 1, cudaReadModeElementType> linear;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> colors;
texture<float, 2> image;

__global__ void read(float *out) {
    int i = threadIdx.x;
    out[i] = tex1Dfetch(linear, i) + 100 * tex2D(image, i + 0.5f, 0.5f) + 10 * tex2D(colors, 0.5f, 0.5f).y;
}
__global__ void scale(float *x, float by) { x[threadIdx.x] *= by; }

#define CHECK(call) do { int code = (int)(call); if (code) printf("%s: %d\n", #call, code); } while (0)

int main() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("%d %d %d %d %d\n", p.clockRate > 0, p.memoryClockRate > 0, p.deviceOverlap, p.computeMode,
           p.kernelExecTimeoutEnabled);
    CHECK(cudaThreadSetCacheConfig(cudaFuncCachePreferL1));
    CHECK(cudaThreadSynchronize());

    float h[4] = {1, 2, 3, 4}, back[4], *d, *out;
    uchar4 *c;
    size_t offset, pitch;
    CHECK(cudaMalloc(&d, 16));
    CHECK(cudaMalloc(&out, 16));
    CHECK(cudaMemcpy(d, h, 16, cudaMemcpyHostToDevice));
    linear.filterMode = cudaFilterModePoint;
    linear.normalized = false;
    CHECK(cudaBindTexture(&offset, &linear, d, &linear.channelDesc, 16));
    cudaArray *array;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &channels, 4, 1));
    CHECK(cudaMemcpyToArray(array, 0, 0, h, 16, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyFromArray(back, array, 4, 0, 12, cudaMemcpyDeviceToHost));
    CHECK(cudaBindTextureToArray(image, array, channels));
    CHECK(cudaMallocPitch(&c, &pitch, 16, 2));
    CHECK(cudaMemset2D(c, pitch, 51, 16, 2));
    CHECK(cudaBindTexture2D(0, colors, c, 4, 2, pitch));
    read<<<1, 4>>>(out);
    CHECK(cudaMemcpy(h, out, 16, cudaMemcpyDeviceToHost));
    printf("%g %g %g %g, %g %g\n", h[0], h[1], h[2], h[3], back[0], back[2]);
    CHECK(cudaUnbindTexture(linear));

    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaGraphExecUpdateResult result;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    scale<<<1, 4, 0, stream>>>(d, 3);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
    CHECK(cudaGraphExecUpdate(exec, graph, &node, &result));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost));
    printf("%g %g, %d\n", h[0], h[3], result);

    float *m;
    int device = 0;
    CUcontext context;
    cudaEvent_t event;
    CHECK(cudaMallocManaged(&m, 64));
    CHECK(cudaMemAdvise(m, 64, cudaMemAdviseSetPreferredLocation, device));
    CHECK(cudaMemPrefetchAsync(m, 64, device, stream));
    CHECK(cudaMemPrefetchAsync(m, 64, cudaCpuDeviceId));
    CHECK(cudaEventCreate(&event, cudaEventBlockingSync));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cudaThreadExit());
    return 0;
}
"""


def run(path, *options):
    line = [sys.executable, "-m", "cudakern", "run", "--backend", "emulator", *options, path.name]
    return subprocess.run(line, cwd=path.parent, capture_output=True, text=True, timeout=300)


def test_names_of_older_versions(tmp_path):
    path = tmp_path / "older.cu"
    path.write_text(NAMES)
    done = run(path, "-DEMULATOR_TEXTURE_REFERENCES")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 1 1 0 0\n103 204 305 406, 2 4\n3 12, 0\n"


@pytest.mark.parametrize(
    "source, message",
    [
        ("#include <cufft.h>", "the emulator has no cuFFT (cufft.h): run this program on a GPU"),
        (
            '#include <cuda.h>\nint main() { CUmodule m; return cuModuleLoad(&m, "x.ptx"); }',
            "the emulator cannot load modules of PTX or machine code (cuModuleLoad)",
        ),
    ],
)
def test_what_is_missing_is_refused_by_name(tmp_path, source, message):
    path = tmp_path / "program.cu"
    path.write_text(source)
    done = run(path)
    assert done.returncode == 1
    assert message in done.stderr


def test_warps_without_masks(tmp_path):
    path = tmp_path / "warps.cu"
    path.write_text(r"""
#include <cstdio>
__global__ void k(int *out) {
    int lane = threadIdx.x % warpSize, sum = threadIdx.x;
    for (int by = warpSize / 2; by > 0; by /= 2) sum += __shfl_down(sum, by);
    double half = __shfl_xor(0.5 * lane, 1);
    int before = __shfl_up(lane, 1, 16);
    if (lane < 8) out[threadIdx.x] = __ballot(lane % 2) + 1000 * __all(lane < 8) + 10000 * __any(lane > 7);
    if (lane == 31) out[threadIdx.x] = __shfl(sum, lane) - sum + (int)(2 * half) + 100 * before;
    if (lane == 0) out[threadIdx.x + 20] = sum;
}
int main() {
    int *out;
    cudaMallocManaged(&out, 64 * sizeof *out);
    k<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    printf("%d %d %d %d %d\n", out[20], out[52], out[7], out[33], out[63]);
    cudaFree(out);
}""")
    done = run(path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "496 1520 1170 1170 3030\n"
