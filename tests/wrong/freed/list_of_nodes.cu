// A list is freed node by node; the link to the next node is read from the node that was just freed.
//> y = ck.empty(16, "i4"); kernel[1, 16](y)
//= np.testing.assert_array_equal(y.get(), [t * (t - 1) // 2 for t in range(16)])
struct Node {
    int value;
    Node *next;
};

__device__ Node *numbers_below(int n) {
    Node *first = nullptr;
    for (int i = 0; i < n; ++i) {
        Node *node = static_cast<Node *>(malloc(sizeof(Node)));
        node->value = i;
        node->next = first;
        first = node;
    }
    return first;
}

__global__ void wrong(int *y) {
    int sum = 0;
    for (Node *node = numbers_below(threadIdx.x); node;) {
        sum += node->value;
        free(node);
        node = node->next; //! freed
    }
    y[threadIdx.x] = sum;
}

__global__ void right(int *y) {
    int sum = 0;
    for (Node *node = numbers_below(threadIdx.x); node;) {
        sum += node->value;
        Node *next = node->next;
        free(node);
        node = next;
    }
    y[threadIdx.x] = sum;
}
