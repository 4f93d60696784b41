// matmul "pitched": comes after "shared_row".
//
// Change  The kernel is the same; the layout changes. Rows of A, B and C are padded in device memory so that each row
//         starts at a multiple of the device's pitch, as with cudaMallocPitch. Row strides give the distances.
// Why     The 32 loads of a warp are 128 bytes: one line of memory if they are aligned to it, else parts of two
//         lines. A row of 1000 floats is 4000 bytes, not a multiple of 128: three rows in four start inside a line.
// Claim   128-byte lines per load of 32 floats of a row of B, at n = 1000: 1 (before: 2 in three rows of four);
//         32-byte sectors: 4 (before: also 4; 5 in most rows if n is not a multiple of 8)
// Price   memory for the padding, and copies row by row (one two-dimensional copy)
// Edges   as in "shared_row"; nothing reads or writes the padding
// Limit   A GeForce 8800 GT gained a factor of three. An H200 gains nothing, because its caches move sectors, and
//         their number is the same. Every word of B is still read m times: see "tiled".
#ifndef CK_MATMUL_PITCHED_CUH
#define CK_MATMUL_PITCHED_CUH

#include "../../call.h"
#include "03_shared_row.cuh" // the kernel

namespace matmul {

// What the plan adds to that of "shared_row".
inline void pad_rows_to_the_pitch(ck_plan *plan) {
    for (int view = 0; view < 3; ++view) plan->layout[view].pitch = CK_PITCH;
}

} // namespace matmul

#endif
