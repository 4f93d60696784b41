// The fields of a cell have four bits each, and two threads write one each. A bit field is written together with its
// neighbours in the same byte.
//> x = ck.asarray(ints(128) % 16); cells = ck.zeros(128, "u1"); kernel[1, 128](x, cells)
//= h = x.get(); pairs = cells.get()
//= np.testing.assert_array_equal(pairs[::2] | pairs[1::2], h[::2] | h[1::2] << 4)
struct Cell {
    unsigned char low : 4, high : 4;
};

__global__ void wrong(const int *x, Cell *cells) {
    int t = threadIdx.x;
    if (t % 2 == 0)
        cells[t].low = x[t]; //! race
    else
        cells[t - 1].high = x[t]; //! race
}

__global__ void right(const int *x, Cell *cells) {
    int t = threadIdx.x;
    if (t % 2 == 0)
        cells[t].low = x[t];
    else
        cells[t].high = x[t];
}
