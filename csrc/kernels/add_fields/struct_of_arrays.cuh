// add_fields "struct_of_arrays": comes after "aligned_structs".
//
// Change  All first fields are contiguous in memory, then all second fields, and so on: arrays of shape (n, 4) in
//         Fortran order. The kernel accepts arrays with any strides; in C order it does the same as
//         "array_of_structs".
// Why     In each load, neighboring threads read neighboring words, and no alignment beyond that of a word is needed.
// Claim   sectors per load of a warp of one field: 4, all of whose bytes are used; 16 for the four fields
// Price   four requests instead of one in "aligned_structs"; the fields of one struct are far apart
// Edges   Threads past the last struct do nothing.
// Map     struct i: thread i of the grid
// Limit   memory bandwidth
#ifndef CK_ADD_FIELDS_STRUCT_OF_ARRAYS_CUH
#define CK_ADD_FIELDS_STRUCT_OF_ARRAYS_CUH

#include "array_of_structs.cuh"

namespace add_fields {

// data points to field 0 of struct 0. Strides, in words: `next` from struct to struct, `field` from field to field.
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
