// Shows: a class with constructors, operators and static members, used on the host and on the device.
#include <cstdio>

class Fraction {
    long long p_, q_;
    __host__ __device__ static long long gcd(long long a, long long b) { return b ? gcd(b, a % b) : a < 0 ? -a : a; }

public:
    static constexpr int kOne = 1;
    __host__ __device__ Fraction(long long p = 0, long long q = kOne) : p_(p), q_(q) { reduce(); }
    __host__ __device__ Fraction &operator+=(const Fraction &o) { return *this = Fraction(p_ * o.q_ + o.p_ * q_, q_ * o.q_); }
    __host__ __device__ friend Fraction operator+(Fraction a, const Fraction &b) { return a += b; }
    __host__ __device__ Fraction operator*(const Fraction &o) const { return {p_ * o.p_, q_ * o.q_}; }
    __host__ __device__ bool operator<(const Fraction &o) const { return p_ * o.q_ < o.p_ * q_; }
    __host__ __device__ explicit operator double() const { return double(p_) / q_; }
    __host__ __device__ long long numerator() const { return p_; }
    __host__ __device__ long long denominator() const;

private:
    __host__ __device__ void reduce() {
        long long g = gcd(p_, q_);
        if (g) p_ /= g, q_ /= g;
    }
};

__host__ __device__ long long Fraction::denominator() const { return q_; }

__global__ void harmonic(Fraction *out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    Fraction sum;
    for (int k = 1; k <= i + 1; ++k) sum = sum + Fraction(1, k) * 2;
    out[i] = sum;
}

int main() {
    const int n = 12;
    Fraction h[n], *d;
    cudaMalloc(&d, sizeof h);
    harmonic<<<1, 32>>>(d, n);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    Fraction expected;
    for (int k = 1; k <= n; k++) expected += Fraction(2, k);
    for (int i = 0; i < n; i += 11) printf("%lld/%lld = %.6f\n", h[i].numerator(), h[i].denominator(), double(h[i]));
    bool equal = !(expected < h[n - 1]) && !(h[n - 1] < expected);
    puts(equal ? "equal" : "different");
    return !equal;
}
