// The fifth stage of sample sort: every key is moved to its division.
//
// A block first sorts its tile by division in shared memory: it counts the keys per division, computes the prefix sum
// of the counts, and assigns each key a position with an atomic on the count of its division. Then it reserves room
// in each division with one atomic in global memory, and writes the tile in the sorted order, so that neighboring
// threads write neighboring keys. The order of keys within a division varies from run to run. This does not matter,
// since a division either is sorted later or contains a single key.
#ifndef CK_SORT_SCATTER_CUH
#define CK_SORT_SCATTER_CUH

#include "bins.cuh"

namespace sort {

// Bytes of shared memory. search_words: the size of the table that the search uses.
inline size_t scatter_shared_bytes(int search_words, int divisions) {
    return divisions * (sizeof(count_t) + sizeof(unsigned)) + search_words * sizeof(uint32_t) +
           TILE_KEYS * (sizeof(uint32_t) + sizeof(uint16_t));
}

// Keys of even divisions go to `next`; keys of odd divisions are converted to elements and go to the result.
template <typename T, typename To, typename Search>
__global__ void __launch_bounds__(TILE_THREADS, 2)
    scatter(const T *__restrict__ x, uint32_t *next, To *result, sort_level level) {
    DYNAMIC_SHARED(count_t, shared);
    const int divisions = level.divisions(), tid = threadIdx.x;
    count_t *const to = shared; // key i of the sorted tile goes to index to[its division] + i of the array
    unsigned *const counts = reinterpret_cast<unsigned *>(to + divisions); // later: where each division begins
    uint32_t *const table = counts + divisions, *const tile = table + Search::words(level.bins);
    uint16_t *const tile_divisions = reinterpret_cast<uint16_t *>(tile + TILE_KEYS);
    const Search search(table, level.bins);

    for_tile(level, [&](int64_t segment, const key_range &part) {
        search.load(level.splitters + segment * level.bins);
        for (int d = tid; d < divisions; d += TILE_THREADS) counts[d] = 0;
        __syncthreads();
        uint32_t keys[KEYS_A_TILE_THREAD],
            places[KEYS_A_TILE_THREAD]; // places: (division, rank among its keys here)
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
