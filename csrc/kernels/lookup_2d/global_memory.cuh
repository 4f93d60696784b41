// lookup_2d "global_memory": where the ladder begins.
//
// Idea    A thread a value: the two elements of each axis that its coordinates lie between, and the lines between them.
// Claim   words of the table that a value reads: 4, each by a load of its own ("nearest": 1)
// Price   the places, edges and lines of a value are instructions: some 40
// Edges   each of the four elements may be outside: clamped, repeated, mirrored or zero, by itself
// Map     value i: thread i % grid_threads()
// Limit   a warp whose values lie below each other reads 32 rows: "texture" keeps neighbours of both axes together
#ifndef CK_LOOKUP_2D_GLOBAL_MEMORY_CUH
#define CK_LOOKUP_2D_GLOBAL_MEMORY_CUH

#include "../lookup.cuh"

namespace lookup_2d {

template <typename T>
__global__ void __launch_bounds__(1024)
    global_memory(const T *__restrict__ table, const T *__restrict__ y, const T *__restrict__ x,
                  T *__restrict__ result, int64_t points, int64_t rows, int64_t columns, int mode, int filter) {
    for (int64_t i = grid_thread(); i < points; i += grid_threads()) {
        const lookup_axis<T> down = lookup_along(y[i], rows, mode, filter);
        const lookup_axis<T> across = lookup_along(x[i], columns, mode, filter);
        T value = T(NAN);
        if (down.known && across.known) {
            value = lookup_in_row(table, down.at[0], columns, across);
            if (down.weight != 0)
                value = lookup_between(value, lookup_in_row(table, down.at[1], columns, across), down.weight);
        }
        result[i] = value;
    }
}

} // namespace lookup_2d

#endif
