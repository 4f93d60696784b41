// A block finds out whether it is the last one by a plain read of the counter, after its atomic increment. Two blocks
// may both read the final count.
//> done = ck.zeros(1, "i4"); reports = ck.zeros(1, "i4"); kernel[6, 1](done, reports)
//= assert reports[0].get() == 1
__global__ void wrong(int *done, int *reports) {
    atomicAdd(done, 1);                            //! race
    if (*done == gridDim.x) atomicAdd(reports, 1); //! race
}

__global__ void right(int *done, int *reports) {
    if (atomicAdd(done, 1) == gridDim.x - 1) atomicAdd(reports, 1);
}
