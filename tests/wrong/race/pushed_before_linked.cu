// A list that grows at its head: the node is published first, and linked to the rest afterwards. Who walks the list
// in between follows a link that is not there yet.
//> head = ck.asarray(np.full(1, -1, "i4")); next = ck.asarray(np.full(64, -1, "i4")); count = ck.zeros(32, "i4")
//> kernel[2, 32](head, next, count)
//= assert head[0].get() >= 0
__global__ void wrong(int *head, int *next, int *count) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        int old = atomicExch(head, t);
        next[t] = old; //! race
    } else {
        int node = atomicAdd(head, 0), steps = 0;
        __threadfence();
        for (; node >= 0; node = next[node]) ++steps; //! race
        count[t] = steps;
    }
}

__global__ void right(int *head, int *next, int *count) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        int old = atomicAdd(head, 0), seen = old;
        do {
            old = seen;
            next[t] = old;
            __threadfence();
            seen = atomicCAS(head, old, t);
        } while (seen != old);
    } else {
        int node = atomicAdd(head, 0), steps = 0;
        __threadfence();
        for (; node >= 0; node = next[node]) ++steps;
        count[t] = steps;
    }
}
