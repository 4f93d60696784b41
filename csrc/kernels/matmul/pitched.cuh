// matmul "pitched": comes after "shared_row".
//
// Change  Not the kernel: the layout. Rows of A, B and C are padded in device memory so that each begins at a
//         multiple of the device's pitch, as cudaMallocPitch would have it; lda, ldb, ldc say how far apart they are.
// Why     A warp's 32 loads are cheapest when they begin at a multiple of 32 or more bytes. With rows of 1000 floats
//         every row after the first begins somewhere else in a memory segment, so that a warp touches one more.
// Claim   32-byte sectors a warp's load of B touches, n no multiple of 8: 4 (before: 5 in most rows)
// Price   the padding, and copies row by row (one 2-D copy)
// Edges   as "shared_row"; nothing reads or writes the padding
// Limit   the documents' chip gained threefold; chips with a cache gain little. Every word of B is still read m
//         times: "tiled"
#ifndef CK_MATMUL_PITCHED_CUH
#define CK_MATMUL_PITCHED_CUH

#include "../variant.h"
#include "shared_row.cuh" // the kernel

namespace matmul {

// What the plan of "shared_row" lacks.
inline void pad_rows_to_the_pitch(ck_plan *plan) {
    for (int view = 0; view < 3; ++view) plan->layout[view].pitched = 1;
}

} // namespace matmul

#endif
