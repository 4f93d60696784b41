// A list in the order in which threads come: each reads the head and then exchanges it, in two steps, so that two
// threads may link to the same element.
//> head = ck.asarray(np.full(1, -1, "i4")); next_of = ck.empty(256, "i4")
//> kernel[2, 128](head, next_of)
//= next_of = next_of.get(); at, seen = int(head.get()[0]), set()
//= while at >= 0: seen.add(at); at = int(next_of[at])
//= assert len(seen) == 256
__global__ void wrong(int *head, int *next_of) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next_of[i] = *head;  //! race
    atomicExch(head, i); //! race
}

__global__ void right(int *head, int *next_of) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next_of[i] = atomicExch(head, i);
}
