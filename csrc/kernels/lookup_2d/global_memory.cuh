// lookup_2d "global_memory": the first kernel of the ladder.
//
// Idea    One thread per value: it loads the two neighbors along each axis and interpolates between them.
// Claim   words of the table read per value: 4, each by a load of its own ("nearest": 1)
// Price   indices, edges and interpolation take about 40 instructions per value
// Edges   Each of the four elements may be outside the table: clamped, wrapped, mirrored or zero, independently.
// Map     value i: thread i % grid_threads()
// Limit   A warp whose values are below each other reads 32 rows: "texture" caches neighbors along both axes.
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
