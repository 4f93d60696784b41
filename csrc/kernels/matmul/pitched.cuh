// matmul "pitched": comes after "shared_row".
//
// Change  Not the kernel: the layout. Rows of A, B and C are padded in device memory so that each begins at a
//         multiple of the device's pitch, as cudaMallocPitch would have it; their row strides say how far apart they
//         are.
// Why     A warp's 32 loads of floats are 128 bytes: one line of memory if they begin with it, else parts of two. A
//         row of 1000 floats is 4000 bytes, which is no multiple of 128: three rows in four begin inside a line.
// Claim   128-byte lines a warp's load of 32 floats of a row of B touches, at n = 1000: 1 (before: 2 in three rows of
//         four); 32-byte sectors: 4 (before: 4 too; 5 in most rows where n is no multiple of 8)
// Price   the padding, and copies row by row (one 2-D copy)
// Edges   as "shared_row"; nothing reads or writes the padding
// Limit   the documents' chip gained threefold; an H200 gains nothing (README's ladder), as its caches move sectors,
//         and those are as many. Every word of B is still read m times: "tiled"
#ifndef CK_MATMUL_PITCHED_CUH
#define CK_MATMUL_PITCHED_CUH

#include "../call.h"
#include "shared_row.cuh" // the kernel

namespace matmul {

// What the plan of "shared_row" lacks.
inline void pad_rows_to_the_pitch(ck_plan *plan) {
    for (int view = 0; view < 3; ++view) plan->layout[view].pitched = 1;
}

} // namespace matmul

#endif
