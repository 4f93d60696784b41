// Shows: virtual functions of objects that the device makes, keeps between launches and destroys.
#include <cstdio>
#include <new>

class Shape {
public:
    __device__ virtual ~Shape() {}
    __device__ virtual int area() const = 0;
    __device__ virtual int corners() const { return 4; }
};
class Rectangle : public Shape {
protected:
    int w, h;
public:
    __device__ Rectangle(int w, int h) : w(w), h(h) {}
    __device__ int area() const override { return w * h; }
};
class Square final : public Rectangle {
public:
    __device__ explicit Square(int s) : Rectangle(s, s) {}
};
class Triangle : public Shape {
    int base, height, *deaths;
public:
    __device__ Triangle(int b, int h, int *deaths) : base(b), height(h), deaths(deaths) {}
    __device__ ~Triangle() override { atomicAdd(deaths, 1); }
    __device__ int area() const override { return base * height / 2; }
    __device__ int corners() const override { return 3; }
};

__global__ void create(Shape **shapes, int n, int *deaths) {
    int i = threadIdx.x;
    if (i >= n) return;
    if (i % 3 == 0) shapes[i] = new Rectangle(i, 10);
    else if (i % 3 == 1) shapes[i] = new Square(i);
    else shapes[i] = new Triangle(i, 4, deaths);
}
__global__ void measure(Shape *const *shapes, int n, int *out) {
    int i = threadIdx.x;
    if (i < n) out[i] = shapes[i]->area() * 10 + shapes[i]->corners();
}
__global__ void destroy(Shape **shapes, int n) {
    if ((int)threadIdx.x < n) delete shapes[threadIdx.x];
}

int main() {
    const int n = 9;
    Shape **shapes;
    int *out, *deaths;
    cudaMalloc(&shapes, n * sizeof(Shape *));
    cudaMallocManaged(&out, n * sizeof(int));
    cudaMallocManaged(&deaths, sizeof(int));
    *deaths = 0;
    create<<<1, 32>>>(shapes, n, deaths);
    measure<<<1, 32>>>(shapes, n, out);
    destroy<<<1, 32>>>(shapes, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) printf("%d ", out[i]);
    printf("\n%d\n", *deaths);
    cudaFree(shapes), cudaFree(out), cudaFree(deaths);
}
