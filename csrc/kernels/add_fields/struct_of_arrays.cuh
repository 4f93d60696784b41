// add_fields "struct_of_arrays": comes after "aligned_structs".
//
// Change  All first fields lie side by side, then all second ones, and so on: arrays of shape (n, 4) in Fortran's
//         order.
//         The kernel takes arrays as they lie, by their strides; in C order it does what "array_of_structs" does.
// Why     In each load neighboring threads read neighboring words, and no alignment of the whole is asked for.
// Claim   sectors per load of a warp of one field: 4, all wanted; 16 for the four fields
// Price   four requests where "aligned_structs" has one; a struct's fields lie far from each other
// Edges   threads beyond the last struct do nothing
// Map     struct i: thread i of the grid
// Limit   the memory
#ifndef CK_ADD_FIELDS_STRUCT_OF_ARRAYS_CUH
#define CK_ADD_FIELDS_STRUCT_OF_ARRAYS_CUH

#include "array_of_structs.cuh"

namespace add_fields {

// Field 0 of struct 0, and the strides in words: from struct to struct, and from field to field.
template <typename T> struct fields {
    T *data;
    int64_t next, field;

    __device__ __forceinline__ T &at(int64_t i, int which) const { return data[i * next + which * field]; }
};

__global__ void __launch_bounds__(1024) struct_of_arrays(fields<const uint32_t> begin, fields<const uint32_t> source,
                                                         fields<uint32_t> result, int64_t n, int rounds) {
    const int64_t i = grid_thread();
    if (i >= n) return;
    for (int field = 0; field < 4; ++field) result.at(i, field) = begin.at(i, field);
    for (int round = 0; round < rounds; ++round)
        for (int field = 0; field < 4; ++field) result.at(i, field) += source.at(i, field);
}

} // namespace add_fields

#endif
