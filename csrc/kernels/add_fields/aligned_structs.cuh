// add_fields "aligned_structs": comes after "array_of_structs".
//
// Change  A thread loads and stores its whole struct of 16 bytes with one instruction.
// Why     The lanes of such a request access contiguous memory, and one request replaces four.
// Claim   sectors per load of a warp: 16, for all four fields, all of whose bytes are used (before: 64)
// Price   Structs must be aligned to 16 bytes.
// Edges   If an array is not aligned, fields are processed one by one, as before. Threads past the last struct do
//         nothing.
// Map     struct i: thread i of the grid
// Limit   A program that needs only one field still moves all four: see "struct_of_arrays".
#ifndef CK_ADD_FIELDS_ALIGNED_STRUCTS_CUH
#define CK_ADD_FIELDS_ALIGNED_STRUCTS_CUH

#include "array_of_structs.cuh"

namespace add_fields {

__device__ __forceinline__ bool on_16_bytes(const void *data) {
    return reinterpret_cast<uintptr_t>(data) % sizeof(uint4) == 0;
}

__global__ void __launch_bounds__(1024)
    aligned_structs(const four_fields *begin, const four_fields *source, four_fields *result, int64_t n, int rounds) {
    const int64_t i = grid_thread();
    if (i >= n) return;
    if (on_16_bytes(begin) && on_16_bytes(source) && on_16_bytes(result)) {
        const uint4 *const from = reinterpret_cast<const uint4 *>(source) + i;
        uint4 *const to = reinterpret_cast<uint4 *>(result) + i;
        *to = reinterpret_cast<const uint4 *>(begin)[i];
        for (int round = 0; round < rounds; ++round) {
            const uint4 more = *from, now = *to;
            *to = make_uint4(now.x + more.x, now.y + more.y, now.z + more.z, now.w + more.w);
        }
        return;
    }
    result[i] = begin[i];
    for (int round = 0; round < rounds; ++round) {
        const four_fields more = source[i], now = result[i];
        result[i] = {now.a + more.a, now.b + more.b, now.c + more.c, now.d + more.d};
    }
}

} // namespace add_fields

#endif
