// Shows: numbers of 8 bits, e4m3 and e5m2: every value converted to float and back, rounding, saturation, vectors.
#include <cmath>
#include <cstdio>
#include <cuda_fp8.h>

__global__ void all_values(float *values, unsigned char *back, unsigned char *rounded) {
    const int i = threadIdx.x;
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = (unsigned char)i;
    values[i] = float(a), values[256 + i] = float(b);
    back[i] = __nv_fp8_e4m3(values[i]).__x, back[256 + i] = __nv_fp8_e5m2(values[256 + i]).__x;
    const float between = (i - 128) * 4.3f;
    rounded[i] = __nv_fp8_e4m3(between).__x, rounded[256 + i] = __nv_fp8_e5m2(between * 300).__x;
}

__global__ void vectors(float4 *out) {
    out[0] = float4(__nv_fp8x4_e4m3(make_float4(1.06f, -3.3f, 1000, 0.001f)));
    const float2 two = float2(__nv_fp8x2_e5m2(make_float2(-0.3f, 1e9f)));
    const __half2 halves = __half2(__nv_fp8x2_e4m3(__floats2half2_rn(17, -0.02f)));
    out[1] = make_float4(two.x, two.y, __low2float(halves), __high2float(halves));
}

int main() {
    float *values;
    unsigned char *back, *rounded;
    float4 *four;
    cudaMallocManaged(&values, 512 * sizeof(float)), cudaMallocManaged(&back, 512), cudaMallocManaged(&rounded, 512);
    cudaMallocManaged(&four, 2 * sizeof(float4));
    all_values<<<1, 256>>>(values, back, rounded);
    vectors<<<1, 1>>>(four);
    cudaDeviceSynchronize();
    for (int format = 0; format < 2; ++format) {
        int same = 0, numbers = 0;
        unsigned hash = 0;
        double sum = 0;
        for (int i = 256 * format; i < 256 * format + 256; ++i) {
            numbers += !std::isnan(values[i]), same += back[i] == i % 256, hash = 31 * hash + rounded[i];
            if (std::isfinite(values[i])) sum += std::fabs(values[i]);
        }
        printf("e%dm%d: %d numbers, %d come back, sum %g, rounded %u\n", 4 + format, 3 - format, numbers, same, sum, hash);
    }
    printf("%g %g %g %g\n", four[0].x, four[0].y, four[0].z, four[0].w);
    printf("%g %g %g %g\n", four[1].x, four[1].y, four[1].z, four[1].w);
    printf("%x %x %x %x\n", __nv_cvt_float_to_fp8(500, __NV_NOSAT, __NV_E4M3),
           __nv_cvt_float_to_fp8(500, __NV_SATFINITE, __NV_E4M3), __nv_cvt_float_to_fp8(-1e9f, __NV_NOSAT, __NV_E5M2),
           __nv_cvt_fp8_to_halfraw(0x2c, __NV_E4M3).x);
    return 0;
}
