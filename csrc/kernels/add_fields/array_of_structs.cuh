// add_fields "array_of_structs": the ladder begins here.
//
// Idea    One thread per struct of four fields. It adds the fields of the source's struct to its own, one by one, in
//         memory, as often as there are rounds.
// Claim   sectors per load of a warp of one field: 16, of which a quarter is wanted at that moment; 64 for the four fields
// Price   the other three quarters must be found again in a cache, or be moved again
// Edges   threads beyond the last struct do nothing
// Map     struct i: thread i of the grid
// Limit   lanes that are 16 bytes apart: "aligned_structs", "struct_of_arrays"
#ifndef CK_ADD_FIELDS_ARRAY_OF_STRUCTS_CUH
#define CK_ADD_FIELDS_ARRAY_OF_STRUCTS_CUH

#include "../grid.cuh"

namespace add_fields {

struct four_fields {
    uint32_t a, b, c, d;
};

// No __restrict__: for all that the compiler knows the arrays overlap, so every round goes through memory.
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
