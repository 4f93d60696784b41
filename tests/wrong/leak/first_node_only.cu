// Only the first node of a list is freed, and the others can no longer be reached.
//> y = ck.empty(16, "i4"); kernel[1, 16](y)
//= np.testing.assert_array_equal(y.get(), [t * (t + 1) // 2 for t in range(16)])
struct Node {
    int value;
    Node *next;
};

__device__ Node *pushed(Node *next, int value) {
    Node *node = new Node; //! leak
    node->value = value;
    node->next = next;
    return node;
}

__global__ void wrong(int *y) {
    Node *first = nullptr;
    for (int i = 0; i <= threadIdx.x; ++i) first = pushed(first, i);
    int sum = 0;
    for (Node *node = first; node; node = node->next) sum += node->value;
    delete first;
    y[threadIdx.x] = sum;
}

__global__ void right(int *y) {
    Node *first = nullptr;
    for (int i = 0; i <= threadIdx.x; ++i) first = pushed(first, i);
    int sum = 0;
    while (first) {
        Node *next = first->next;
        sum += first->value;
        delete first;
        first = next;
    }
    y[threadIdx.x] = sum;
}
