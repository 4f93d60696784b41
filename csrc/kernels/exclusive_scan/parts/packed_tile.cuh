// A tile of the array in the registers of a block, for "lookback": loaded, summed and stored in packs.
//
//     warp     a contiguous part of the tile, in ROUNDS rounds of 32 packs
//     lane     pack `lane` of each round: neighboring lanes have neighboring packs
//     pack     as many elements as fit in 16 bytes of the result
//
// The order of elements is therefore round, lane, position in the pack, and all accesses of a warp are contiguous.
#ifndef CK_EXCLUSIVE_SCAN_PACKED_TILE_CUH
#define CK_EXCLUSIVE_SCAN_PACKED_TILE_CUH

#include "../../pack.cuh"
#include "scan.cuh"

namespace scan {

// So many accesses of 16 bytes per thread are in flight at once. More make the tiles larger, of which fewer wait for
// each other, and take registers: measured on an H200, 2^28 float32: 8 rounds 572 us, with four blocks per
// multiprocessor; 12 rounds 555 us, with three; a copy 502 us. Of sums of 64 bits, a thread has room for 8 rounds.
template <typename Acc> constexpr int rounds_of() {
    return sizeof(Acc) == sizeof(float) ? 12 : 8;
}
enum { TILE_THREADS = 256, TILES_A_MULTIPROCESSOR = 3 }; // threads at most

template <typename T, int WIDTH> struct alignas(sizeof(T) * WIDTH) pack_for { T values[WIDTH]; };

template <typename In, typename Acc> struct packed_tile {
    static constexpr int ROUNDS = rounds_of<Acc>(), WIDTH = WIDEST_ACCESS / sizeof(Acc),
                         A_WARP = ROUNDS * WARP * WIDTH;
    using pack_in = pack_for<In, WIDTH>;
    using pack_out = pack_for<Acc, WIDTH>;

    Acc sums[ROUNDS][WIDTH]; // the running sums within each pack
    Acc before[ROUNDS];      // for each pack, the sum of this warp's elements before it
    int64_t first;           // the index of this lane's first element

    template <typename T> static __device__ __forceinline__ bool fits(const T *data) {
        return reinterpret_cast<uintptr_t>(data) % (sizeof(T) * WIDTH) == 0;
    }

    // Elements past the end of the array count as `none`. Returns the sum of the warp's elements.
    __device__ __forceinline__ Acc load(const In *__restrict__ x, int64_t n, int64_t warp_first, Acc none) {
        const bool whole = warp_first + A_WARP <= n && fits(x);
        first = warp_first + threadIdx.x % WARP * WIDTH;
        for (int r = 0; r < ROUNDS; ++r) {
            const int64_t i = first + r * WARP * WIDTH;
            if (whole) {
                const pack_in loaded = *reinterpret_cast<const pack_in *>(x + i);
                for (int w = 0; w < WIDTH; ++w) sums[r][w] = static_cast<Acc>(loaded.values[w]);
            } else {
                for (int w = 0; w < WIDTH; ++w) sums[r][w] = i + w < n ? static_cast<Acc>(x[i + w]) : none;
            }
        }
        Acc total = none;
        for (int r = 0; r < ROUNDS; ++r) {
            for (int w = 1; w < WIDTH; ++w) sums[r][w] = sums[r][w - 1] + sums[r][w];
            const Acc scanned = warp_scan(sums[r][WIDTH - 1]);
            before[r] = total + before_lane(scanned, none);
            total += __shfl_sync(ALL_LANES, scanned, WARP - 1);
        }
        return total;
    }

    template <bool EXCLUSIVE>
    __device__ __forceinline__ void store(Acc *__restrict__ result, int64_t n, int64_t warp_first,
                                          Acc before_warp) const {
        const bool whole = warp_first + A_WARP <= n && fits(result);
        for (int r = 0; r < ROUNDS; ++r) {
            const int64_t i = first + r * WARP * WIDTH;
            const Acc start = before_warp + before[r];
            pack_out out;
            for (int w = 0; w < WIDTH; ++w) {
                const int upto = EXCLUSIVE ? w - 1 : w;
                out.values[w] = upto < 0 ? start : start + sums[r][upto < 0 ? 0 : upto];
            }
            if (whole) {
                *reinterpret_cast<pack_out *>(result + i) = out;
            } else {
                for (int w = 0; w < WIDTH; ++w)
                    if (i + w < n) result[i + w] = out.values[w];
            }
        }
    }
};

} // namespace scan

#endif
