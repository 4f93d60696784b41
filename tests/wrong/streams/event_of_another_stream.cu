// The event is recorded in the stream that waits for it: so it waits for itself, not for the other stream.
//> x = ck.asarray(floats(1024)); scaled = ck.empty(1024, "f4"); y = ck.empty(1024, "f4"); ck.synchronize()
//> maker, user, at = ck.Stream(), ck.Stream(), address(scaled)
//> program.scale(4, 256, x, at, stream=maker) //! streams
//> ready = {"wrong": user, "right": maker}[twin].record()
//> user.wait(ready)
//> kernel(4, 256, at, y, stream=user) //! streams
//= np.testing.assert_array_equal(y.get(), 4 * x.get()[::-1])
__global__ void scale(const float *x, unsigned long long scaled) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    reinterpret_cast<float *>(scaled)[i] = 4 * x[i];
}

__global__ void wrong(unsigned long long scaled, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = reinterpret_cast<const float *>(scaled)[1023 - i];
}

__global__ void right(unsigned long long scaled, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = reinterpret_cast<const float *>(scaled)[1023 - i];
}
