// add_fields "array_of_structs": the first kernel of the ladder.
//
// Idea    One thread per struct of four fields. In each round it adds the fields of the source to its own, one field
//         at a time, in memory.
// Claim   sectors per load of a warp of one field: 16, of which each access uses a quarter; 64 for the four fields
// Price   The other three quarters of a sector must still be in a cache when they are needed, or they are moved
//         again.
// Edges   Threads past the last struct do nothing.
// Map     struct i: thread i of the grid
// Limit   Lanes access words that are 16 bytes apart: see "aligned_structs" and "struct_of_arrays".
#ifndef CK_ADD_FIELDS_ARRAY_OF_STRUCTS_CUH
#define CK_ADD_FIELDS_ARRAY_OF_STRUCTS_CUH

#include "../grid.cuh"

namespace add_fields {

struct four_fields {
    uint32_t a, b, c, d;
};

// No __restrict__: the compiler must assume that the arrays overlap, so every round goes through memory.
__global__ void __launch_bounds__(1024) array_of_structs(const four_fields *begin, const four_fields *source,
                                                         four_fields *result, int64_t n, int rounds) {
    const int64_t i = grid_thread();
    if (i >= n) return;
    result[i].a = begin[i].a;
    result[i].b = begin[i].b;
    result[i].c = begin[i].c;
    result[i].d = begin[i].d;
    for (int round = 0; round < rounds; ++round) {
        result[i].a += source[i].a;
        result[i].b += source[i].b;
        result[i].c += source[i].c;
        result[i].d += source[i].d;
    }
}

} // namespace add_fields

#endif
