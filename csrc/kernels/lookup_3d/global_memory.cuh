// lookup_3d "global_memory": the first kernel of the ladder.
//
// Idea    One thread per value: it loads the two neighbors along each of the three axes and interpolates between
//         them.
// Claim   words of the table read per value: 8, each by a load of its own ("nearest": 1)
// Price   indices, edges and interpolation take about 70 instructions per value
// Edges   Each of the eight elements may be outside the table: clamped, wrapped, mirrored or zero, independently.
// Map     value i: thread i % grid_threads()
// Limit   eight loads, of four rows in two planes: "texture" is one read
#ifndef CK_LOOKUP_3D_GLOBAL_MEMORY_CUH
#define CK_LOOKUP_3D_GLOBAL_MEMORY_CUH

#include "../lookup.cuh"

namespace lookup_3d {

// A plane of the table between two rows; `plane` is -1 in the border.
template <typename T>
__device__ __forceinline__ T in_plane(const T *table, int64_t plane, int64_t rows, int64_t columns,
                                      const lookup_axis<T> &y, const lookup_axis<T> &x) {
    if (plane < 0) return 0;
    const T *const from = table + plane * rows * columns;
    const T first = lookup_in_row(from, y.at[0], columns, x);
    return y.weight == 0 ? first : lookup_between(first, lookup_in_row(from, y.at[1], columns, x), y.weight);
}

template <typename T>
__global__ void __launch_bounds__(1024)
    global_memory(const T *__restrict__ table, const T *__restrict__ z, const T *__restrict__ y,
                  const T *__restrict__ x, T *__restrict__ result, int64_t points, int64_t planes, int64_t rows,
                  int64_t columns, int mode, int filter) {
    for (int64_t i = grid_thread(); i < points; i += grid_threads()) {
        const lookup_axis<T> deep = lookup_along(z[i], planes, mode, filter);
        const lookup_axis<T> down = lookup_along(y[i], rows, mode, filter);
        const lookup_axis<T> across = lookup_along(x[i], columns, mode, filter);
        T value = T(NAN);
        if (deep.known && down.known && across.known) {
            value = in_plane(table, deep.at[0], rows, columns, down, across);
            if (deep.weight != 0)
                value = lookup_between(value, in_plane(table, deep.at[1], rows, columns, down, across), deep.weight);
        }
        result[i] = value;
    }
}

} // namespace lookup_3d

#endif
