// Each of two streams smooths one half of an array in place; the first half takes one element of the second one.
//> x = ck.asarray(floats(1025)); start = x.get()[:1024]; ck.synchronize()
//> a, b, at = ck.Stream(), ck.Stream(), address(x)
//> n, also_n = ck.asarray(np.int32([512])), ck.asarray(np.int32([512])); ck.synchronize()
//> kernel(1, 1, at, n, stream=a) //! streams
//> kernel(1, 1, at + 4 * 512, also_n, stream=b) //! streams
//= for part, was in zip(x.get()[:1024].reshape(2, 512), start.reshape(2, 512)):
//=     np.testing.assert_allclose(part[:-1], (was[:-1] + was[1:]) / 2, rtol=1e-6)
__global__ void wrong(unsigned long long half, const int *n) {
    float *x = reinterpret_cast<float *>(half);
    for (int i = 0; i < *n; ++i) x[i] = (x[i] + x[i + 1]) / 2;
}

__global__ void right(unsigned long long half, const int *n) {
    float *x = reinterpret_cast<float *>(half);
    for (int i = 0; i + 1 < *n; ++i) x[i] = (x[i] + x[i + 1]) / 2;
}
