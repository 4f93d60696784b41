// Tickets are drawn with atomicAdd_block: two blocks may draw the same one.
//> x = ck.asarray(ints(256)); y = ck.zeros(256, "i4"); tickets = ck.zeros(1, "i4"); kernel[4, 64](x, y, tickets)
//= h = x.get(); np.testing.assert_array_equal(np.sort(y.get()), np.sort(np.where(h > 20, h, 0)))
__global__ void wrong(const int *x, int *y, int *tickets) {
    int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (value > 20) {
        int ticket = atomicAdd_block(tickets, 1); //! scope
        y[ticket] = value;                        //! race
    }
}

__global__ void right(const int *x, int *y, int *tickets) {
    int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (value > 20) {
        int ticket = atomicAdd(tickets, 1);
        y[ticket] = value;
    }
}
