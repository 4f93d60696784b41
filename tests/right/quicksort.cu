// Quicksort without recursion: a stack of ranges in shared memory, partitions by ballots of the one warp.
//> x = ck.asarray(ints(150)); scratch = ck.empty(150, "i4"); kernel[1, 32](x, scratch, 150)
//= np.testing.assert_array_equal(x.get(), np.sort(x.get()))
__global__ void right(int *x, int *scratch, int n) {
    __shared__ int2 stack[64];
    int lane = threadIdx.x, depth = 1;
    unsigned lower_lanes = (1u << lane) - 1;
    if (lane == 0) stack[0] = make_int2(0, n);
    __syncwarp();
    while (depth > 0) {
        int2 range = stack[--depth];
        __syncwarp();
        if (range.y - range.x < 2) continue;
        int pivot = x[(range.x + range.y) / 2], low = range.x, equal = 0, high = range.y;
        for (int start = range.x; start < range.y; start += 32) {
            int i = start + lane, value = i < range.y ? x[i] : 0;
            unsigned below = __ballot_sync(~0u, i < range.y && value < pivot);
            unsigned above = __ballot_sync(~0u, i < range.y && value > pivot);
            if (below >> lane & 1) scratch[low + __popc(below & lower_lanes)] = value;
            if (above >> lane & 1) scratch[high - 1 - __popc(above & lower_lanes)] = value;
            low += __popc(below);
            high -= __popc(above);
            equal += min(32, range.y - start) - __popc(below) - __popc(above);
        }
        for (int i = low + lane; i < low + equal; i += 32) scratch[i] = pivot;
        __syncwarp();
        for (int i = range.x + lane; i < range.y; i += 32) x[i] = scratch[i];
        if (lane == 0) {
            stack[depth] = make_int2(range.x, low);
            stack[depth + 1] = make_int2(high, range.y);
        }
        depth += 2;
        __syncwarp();
    }
}
