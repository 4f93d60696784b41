// exclusive_scan, inclusive_scan "serial": the first kernel of the ladder.
//
// Idea    One thread walks along the array with a running sum.
// Claim   additions: n, the smallest possible number; elements read and written: n each
// Price   One thread works, of the hundred thousand that the chip could run, and each of its loads waits for memory.
// Edges   The loop condition; an empty array takes no step.
// Map     thread 0: every element
// Limit   Every sum waits for the previous one. The chunks of "block_chunks" do not wait for each other.
#ifndef CK_EXCLUSIVE_SCAN_SERIAL_CUH
#define CK_EXCLUSIVE_SCAN_SERIAL_CUH

#include "../parts/scan.cuh"

namespace scan {

template <typename In, typename Acc, bool EXCLUSIVE>
__global__ void serial(const In *__restrict__ x, Acc *__restrict__ result, int64_t n) {
    Acc sum = nothing<Acc, EXCLUSIVE>();
    for (int64_t i = 0; i < n; ++i) {
        const Acc with = sum + static_cast<Acc>(x[i]);
        result[i] = EXCLUSIVE ? sum : with;
        sum = with;
    }
}

} // namespace scan

#endif
