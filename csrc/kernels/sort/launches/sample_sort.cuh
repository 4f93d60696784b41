// The launches of sample sort and the memory that they need. Both follow from the length alone, so the host never
// waits for a count from the device. Each level of distribution takes five launches, and sorting the bins takes one.
//
//     one level     keys -> work, its bins -> result
//     two           keys -> work -> result, its bins -> result
//     more          keys -> work -> second -> work ..., its bins -> result
//
// Copies of splitters go to the result at every level, so no level may read its keys from there. Only the launch that
// sorts the bins may.
#ifndef CK_SORT_LAUNCHES_SAMPLE_SORT_CUH
#define CK_SORT_LAUNCHES_SAMPLE_SORT_CUH

#include <cmath>

#include "../../launch.cuh"
#include "../ladder/08_sample_sort.cuh"
#include "../ladder/07_sample_sort_sequential.cuh"

namespace sort {
namespace {

// MEAN_BIN: the mean length of a bin, at most. Lengths vary, and most bins should fit in the shared memory of a
// block. Where one level is enough, bins are shorter if there can be more: the shorter they are, the fewer samples
// keep them within a block, and up to about 1.2 million keys so few that one block sorts the sample. A sample of more
// takes six launches.
enum {
    MEAN_BIN = 4608,
    SHORT_BIN = 2304,
    SAMPLES_A_BIN = 128,
    FEW_SAMPLES_A_BIN = 100,
    KEYS_A_SAMPLE = 8,
    ALIGNED = 256
};

// The number of samples per bin with which the bins of a last level rarely outgrow a block, which has `room` times
// their mean length. Among s samples per bin, a bin is `room` times too long with a probability below exp(-s (room -
// 1 - ln room)) (Chernoff): with these samples one of 512 bins in about 17,000 calls.
inline int64_t samples_a_bin(double room) {
    const double enough = 16 / (room - 1 - std::log(room));
    return enough < SAMPLES_A_BIN ? static_cast<int64_t>(std::ceil(enough)) : static_cast<int64_t>(SAMPLES_A_BIN);
}

struct sample_shape {
    int levels = 0, bins = 0;
    int64_t leaves = 1; // the number of bins after the last level

    // level_bins: bins per level; 0: as few levels as possible, and as few bins as that number of levels allows.
    sample_shape(int64_t n, int64_t level_bins) {
        if (n <= BLOCK_KEYS) return;
        const int64_t enough = divide_up(n, MEAN_BIN);
        const int64_t most = level_bins > 0 ? level_bins : static_cast<int64_t>(MOST_BINS);
        for (leaves = 1; leaves < enough; leaves *= most) ++levels;
        for (bins = level_bins > 0 ? static_cast<int>(level_bins) : 2; power(bins) < enough; bins *= 2) {}
        while (levels == 1 && level_bins == 0 && bins < MOST_BINS && n > bins * static_cast<int64_t>(SHORT_BIN))
            bins *= 2;
        leaves = power(bins);
    }
    int64_t power(int64_t base) const {
        int64_t result = 1;
        for (int i = 0; i < levels; ++i) result *= base;
        return result;
    }
    int64_t samples(int64_t n, int64_t segments) const {
        const int64_t few = n / segments / KEYS_A_SAMPLE, least = 2 * static_cast<int64_t>(bins);
        const int64_t each = levels == 1
                                 ? samples_a_bin(static_cast<double>(BLOCK_KEYS) * bins / static_cast<double>(n))
                                 : static_cast<int64_t>(SAMPLES_A_BIN);
        const int64_t count = smaller(each * bins, few > least ? few : least);
        // A block sorts the sample of a segment. That of the whole array may be larger, if a block's would be too
        // small.
        return segments > 1 || BLOCK_KEYS >= FEW_SAMPLES_A_BIN * bins ? smaller(count, BLOCK_KEYS) : count;
    }
};

// Divides a workspace into pieces. If base is NULL, it only counts the bytes.
struct workspace_cursor {
    char *base;
    int64_t used = 0;

    template <typename T> T *take(int64_t count) {
        const int64_t at = used, bytes = product(count, sizeof(T));
        used = bytes > INT64_MAX - ALIGNED - at ? INT64_MAX - ALIGNED : at + divide_up(bytes, ALIGNED) * ALIGNED;
        return base ? reinterpret_cast<T *>(base + at) : nullptr;
    }
};

// Launches the kernels; if context is NULL, it only counts the bytes of the workspace.
template <typename T, typename To, typename Search>
int enqueue_sample_sort(const ck_context *context, ck_error *error, const T *x, To *result, int64_t n,
                        int64_t level_bins, workspace_cursor *space) {
    const sample_shape shape(n, level_bins);
    const dim3 sorters(SORT_THREADS), tile_threads(TILE_THREADS);
    if (shape.levels == 0)
        return context ? ck_launch(context, error, "sort_bins", sort_bins<const T, To>, dim3(1), sorters, 0, x,
                                   nullptr, result, segment_list{nullptr, n, 1})
                       : CK_OK;

    // next: the buffer that a level writes its keys to; other: the buffer that it reads (the first level reads x).
    uint32_t *next = space->take<uint32_t>(n);
    uint32_t *other = shape.levels > 2 ? space->take<uint32_t>(n) : reinterpret_cast<uint32_t *>(result);
    const dim3 tiles(static_cast<unsigned>(divide_up(n, TILE_KEYS)));
    sort_level level = {};
    level.segments = {nullptr, n, 1};
    level.bins = shape.bins;
    const int words = Search::words(level.bins), divisions = level.divisions();
    const size_t count_bytes = (words + divisions) * sizeof(uint32_t);
    const size_t scatter_bytes = scatter_shared_bytes(words, divisions);

    const auto divide = [&](auto *from) {
        using From = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
        const int64_t segments = level.segments.count;
        level.samples = shape.samples(n, segments);
        level.sample = space->take<uint32_t>(product(segments, level.samples));
        level.splitters = space->take<uint32_t>(product(segments, level.bins));
        level.counts = space->take<count_t>(product(segments, divisions));
        level.starts = space->take<count_t>(product(segments, divisions));
        const int64_t drawn = product(segments, level.samples);
        const dim3 selectors(static_cast<unsigned>(divide_up(drawn, SELECT_THREADS)));
        const dim3 each(static_cast<unsigned>(segments));
        if (context)
            CK_TRY(ck_launch(context, error, "select_samples", select_samples<From>, selectors, dim3(SELECT_THREADS),
                             0, from, level));
        uint32_t *sorted = nullptr;
        if (level.samples >
            BLOCK_KEYS) { // only in the first level, which has a single segment: use sample sort itself
            sorted = space->take<uint32_t>(level.samples);
            CK_TRY((enqueue_sample_sort<uint32_t, uint32_t, Search>(context, error, level.sample, sorted,
                                                                    level.samples, 0, space)));
        }
        if (!context) return static_cast<int>(CK_OK);
        CK_TRY(ck_launch(context, error, "sort_samples", sort_samples, each, sorters, 0, level, sorted));
        CK_TRY(ck_launch(context, error, "count_bins", count_bins<From, Search>, tiles, tile_threads, count_bytes,
                         from, level));
        CK_TRY(ck_launch(context, error, "scan_bins", scan_bins, each, tile_threads, 0, level));
        return ck_launch(context, error, "scatter", scatter<From, To, Search>, tiles, tile_threads, scatter_bytes,
                         from, next, result, level);
    };

    for (int l = 0; l < shape.levels; ++l) {
        CK_TRY(l == 0 ? divide(x) : divide(static_cast<const uint32_t *>(other)));
        level.segments = {level.starts, n, level.segments.count * level.bins};
        std::swap(next, other);
    }
    if (!context) return CK_OK;
    return ck_launch(context, error, "sort_bins", sort_bins<uint32_t, To>,
                     dim3(static_cast<unsigned>(level.segments.count)), sorters, 0, other, next, result,
                     level.segments);
}

} // namespace
} // namespace sort

#endif
