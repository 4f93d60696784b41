// Shows: launches with expressions in the brackets and around them: shifts, comparisons, templates, lambdas, commas.
#include <algorithm>
#include <cstdio>
#include <utility>

__global__ void add(int *x, int v) { atomicAdd(x, v); }
__global__ void add_pair(int *x, std::pair<int, int> p) { atomicAdd(x, p.first * p.second); }
template <int A, int B = 1> struct Product { static constexpr int value = A * B; };
template <typename T> constexpr T twice(T v) { return 2 * v; }
struct Grid { int n; operator dim3() const { return dim3(n); } unsigned operator()(int f) const { return n * f; } };
int *global_x;

struct Starter {
    int status, other = (add<<<1, 1>>>(global_x, 1), 5);
    Starter() : status((add<<<1, 1>>>(global_x, 1), cudaGetLastError())) {}
    Starter &operator<<(int v) { return add<<<1, 1>>>(global_x, v), *this; }
};
void returns(int *x) { return add<<<1, 1>>>(x, 10); }
template <typename... F> void all(F... f) { (f(), ...); }

int main() {
    cudaMallocManaged(&global_x, sizeof *global_x);
    int *x = global_x, n = 512, a = 1, b = 2;
    *x = 0;
    add<<<n >> 8, 1>>>(x, 10);
    add<<<(n >> 8) + 1, a < b ? 1 : 2>>>(x, 10);
    add<<<n >> 9 << 1, b >= a>>>(x, 10);
    add<<<Product<2, 2>::value, Product<1>::value>>>(x, 10);
    add<<<std::max<int>(a, b), [] { return 1; }()>>>(x, 10);
    add<<<twice<int>(1), twice(a) / 2>>>(x, [&](int k) { return k > 3 ? 10 : 20; }(5));
    add<<<Grid{2}, Grid{1}(1)>>>(x, (void(a), 10));
    add<<<dim3{1, 1, 1}, {1}>>>(x, int{100});
    add_pair<<<1, 1>>>(x, {10, 10});
    add_pair<<<1, 1>>>(x, std::pair<int, int>(10, 10));
    add_pair<<<1, 1>>>(x, std::make_pair<int>(10, 10));
    auto status = (add<<<1, 1>>>(x, 100), cudaGetLastError());
    if (add<<<1, 1>>>(x, 100), cudaGetLastError() != cudaSuccess) return 1;
    int one = (a ? add<<<1, 1>>>(x, 100) : (void)0, 1);
    for (int i = 0; i < 1; add<<<1, 1>>>(x, 100), ++i);
    all([=] { add<<<1, 1>>>(x, 100); }, [=]() mutable -> void { add<<<1, 1>>>(x, 100); });
    bool chosen = a == b || (add<<<1, 1>>>(x, 100), true);
    returns(x);
    Starter s;
    s << 1000 << 1000;
    try { add<<<1, 1>>>(x, 1000); } catch (...) {}
    cudaDeviceSynchronize();
    printf("%d %d %d %d\n", *x, status, one, s.status + s.other + chosen);
    cudaFree(x);
}
