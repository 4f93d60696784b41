// Records of a file: a number of four bytes and a double, without padding. The double cannot be read in place.
//> records = np.zeros(50, [("id", "i4"), ("value", "f8")]); records["value"] = floats(50)
//> raw = ck.asarray(records.view("u1")); values = ck.empty(50, "f8"); kernel[1, 64](raw, values, 50)
//= np.testing.assert_array_equal(values.get(), records["value"])
__global__ void wrong(const unsigned char *raw, double *values, int n) {
    int i = threadIdx.x;
    if (i < n) values[i] = *reinterpret_cast<const double *>(raw + 12 * i + 4); //! misaligned
}

__global__ void right(const unsigned char *raw, double *values, int n) {
    int i = threadIdx.x;
    if (i < n) {
        double value;
        memcpy(&value, raw + 12 * i + 4, sizeof value);
        values[i] = value;
    }
}
