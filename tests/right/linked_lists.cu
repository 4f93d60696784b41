// Lists on the device's heap: nodes are linked in by compare-and-swap, walked by one thread per list, and freed.
//> x = ck.asarray(ints(128)); heads = ck.zeros(10, "u8"); y = ck.empty(10, "i4")
//> kernel[2, 64](x, heads); program.total[1, 32](heads, y)
//= np.testing.assert_array_equal(y.get(), np.bincount(x.get() % 10, x.get(), 10))
struct node {
    int value;
    node *next;
};

__global__ void total(node **heads, int *y) {
    if (threadIdx.x >= 10) return;
    int sum = 0;
    for (node *at = heads[threadIdx.x]; at;) {
        sum += at->value;
        node *next = at->next;
        delete at;
        at = next;
    }
    y[threadIdx.x] = sum;
}

__global__ void right(const int *x, unsigned long long *heads) {
    int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    node *made = new node;
    made->value = value;
    unsigned long long *head = &heads[value % 10], old = atomicAdd(head, 0ull), assumed;
    do {
        assumed = old;
        made->next = reinterpret_cast<node *>(assumed);
        __threadfence();
        old = atomicCAS(head, assumed, reinterpret_cast<unsigned long long>(made));
    } while (old != assumed);
}
