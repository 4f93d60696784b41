// The fifth stage of sample sort: every key goes to its division.
//
// A block sorts its tile by division in shared memory first (counts, their prefix sum, and a place for each key by an
// atomic on its division's count), takes room in each division by one atomic in global memory, and then writes the
// tile in that order: neighboring threads write neighbors. The order of keys within a division is left to chance; it
// does not matter, since the division is sorted later or holds one key only.
#ifndef CK_SORT_SCATTER_CUH
#define CK_SORT_SCATTER_CUH

#include "bins.cuh"

namespace sort {

// Bytes of shared memory; search_words: of the table that is searched.
inline size_t scatter_shared_bytes(int search_words, int divisions) {
    return divisions * (sizeof(count_t) + sizeof(unsigned)) + search_words * sizeof(uint32_t) +
           TILE_KEYS * (sizeof(uint32_t) + sizeof(uint16_t));
}

// Keys of even divisions go to `next`, those of odd ones, as elements, to the result.
template <typename T, typename To, typename Search>
__global__ void __launch_bounds__(TILE_THREADS, 2)
    scatter(const T *__restrict__ x, uint32_t *next, To *result, sort_level level) {
    DYNAMIC_SHARED(count_t, shared);
    const int divisions = level.divisions(), tid = threadIdx.x;
    count_t *const to = shared; // a key at place i of the tile goes to place to[its division] + i of the array
    unsigned *const counts = reinterpret_cast<unsigned *>(to + divisions); // then where each division begins
    uint32_t *const table = counts + divisions, *const tile = table + Search::words(level.bins);
    uint16_t *const tile_divisions = reinterpret_cast<uint16_t *>(tile + TILE_KEYS);
    const Search search(table, level.bins);

    for_tile(level, [&](int64_t segment, const key_range &part) {
        search.load(level.splitters + segment * level.bins);
        for (int d = tid; d < divisions; d += TILE_THREADS) counts[d] = 0;
        __syncthreads();
        uint32_t keys[KEYS_A_TILE_THREAD], places[KEYS_A_TILE_THREAD]; // (division, which of it in this tile)
        const int length = static_cast<int>(part.end - part.begin);
        load_tile(x + part.begin, length, keys);
#pragma unroll
        for (int k = 0; k < KEYS_A_TILE_THREAD; ++k)
            if (in_tile(k, length)) {
                const unsigned division = search.division(keys[k]);
                places[k] = division << 16 | atomicAdd(&counts[division], 1u);
            }
        __syncthreads();

        const int d = 2 * tid;
        const bool there = d < divisions;
        const unsigned first = there ? counts[d] : 0, second = there ? counts[d + 1] : 0;
        const unsigned before = sum_before(first + second);
        if (there) {
            count_t *const places_left = level.counts + segment * divisions + d;
            counts[d] = before;
            counts[d + 1] = before + first;
            if (first > 0) to[d] = atomicAdd(&places_left[0], static_cast<count_t>(first)) - before;
            if (second > 0) to[d + 1] = atomicAdd(&places_left[1], static_cast<count_t>(second)) - before - first;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < KEYS_A_TILE_THREAD; ++k)
            if (in_tile(k, length)) {
                const unsigned division = places[k] >> 16, place = counts[division] + (places[k] & 0xffffu);
                tile[place] = keys[k];
                tile_divisions[place] = static_cast<uint16_t>(division);
            }
        __syncthreads();
        for (int i = tid; i < length; i += TILE_THREADS) {
            const unsigned division = tile_divisions[i];
            const count_t place = to[division] + i;
            if (division % 2 == 0)
                next[place] = tile[i];
            else
                result[place] = from_key<To>(tile[i]);
        }
        __syncthreads();
    });
}

} // namespace sort

#endif
