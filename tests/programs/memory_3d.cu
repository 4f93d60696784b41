// Shows: three-dimensional memory: cudaMalloc3D, cudaMemset3D and cudaMemcpy3D with pitched pointers.
#include <cstdio>
#include <vector>

__global__ void add_coordinates(cudaPitchedPtr p, cudaExtent extent) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    if (x >= int(extent.width / sizeof(int))) return;
    char *slice = static_cast<char *>(p.ptr) + z * p.pitch * extent.height;
    int *row = reinterpret_cast<int *>(slice + y * p.pitch);
    row[x] += 10000 * z + 100 * y + x;
}

int main() {
    const int w = 13, h = 7, d = 5;
    cudaExtent extent = make_cudaExtent(w * sizeof(int), h, d);
    cudaPitchedPtr device;
    if (cudaMalloc3D(&device, extent) != cudaSuccess) return 1;
    std::vector<int> host(w * h * d, 1000000);

    cudaMemcpy3DParms up = {0};
    up.srcPtr = make_cudaPitchedPtr(host.data(), w * sizeof(int), w, h);
    up.dstPtr = device;
    up.extent = extent;
    up.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&up);
    add_coordinates<<<dim3(h, d), 32>>>(device, extent);

    cudaPitchedPtr corner = device;
    cudaMemset3D(corner, 0, make_cudaExtent(2 * sizeof(int), 3, 1));

    cudaMemcpy3DParms down = {};
    down.srcPtr = device;
    down.srcPos = make_cudaPos(0, 0, 0);
    down.dstPtr = make_cudaPitchedPtr(host.data(), w * sizeof(int), w, h);
    down.extent = extent;
    down.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&down);

    int wrong = 0;
    for (int z = 0; z < d; z++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int expected = z == 0 && y < 3 && x < 2 ? 0 : 1000000 + 10000 * z + 100 * y + x;
                wrong += host[(z * h + y) * w + x] != expected;
            }
    printf("%d %d %d, wrong %d\n", host[0], host[2], host.back(), wrong);
    cudaFree(device.ptr);
    return wrong != 0;
}
