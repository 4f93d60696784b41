// A stack that is full moves to a larger block. The old block is freed when it moves, and again at the end.
//> y = ck.empty(8, "i4"); kernel[1, 8](y)
//= np.testing.assert_array_equal(y.get(), [sum(range(4 * t)) for t in range(8)])
__global__ void wrong(int *y) {
    int capacity = 8, count = 0, sum = 0;
    int *first = static_cast<int *>(malloc(capacity * sizeof(int))), *stack = first;
    for (int i = 0; i < 4 * threadIdx.x; ++i) {
        if (count == capacity) {
            int *larger = static_cast<int *>(malloc(2 * capacity * sizeof(int)));
            memcpy(larger, stack, capacity * sizeof(int));
            free(stack);
            stack = larger, capacity *= 2;
        }
        stack[count++] = i;
    }
    while (count) sum += stack[--count];
    y[threadIdx.x] = sum;
    if (stack != first) free(stack);
    free(first); //! double_free
}

__global__ void right(int *y) {
    int capacity = 8, count = 0, sum = 0;
    int *stack = static_cast<int *>(malloc(capacity * sizeof(int)));
    for (int i = 0; i < 4 * threadIdx.x; ++i) {
        if (count == capacity) {
            int *larger = static_cast<int *>(malloc(2 * capacity * sizeof(int)));
            memcpy(larger, stack, capacity * sizeof(int));
            free(stack);
            stack = larger, capacity *= 2;
        }
        stack[count++] = i;
    }
    while (count) sum += stack[--count];
    y[threadIdx.x] = sum;
    free(stack);
}
