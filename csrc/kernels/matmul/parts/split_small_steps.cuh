// What "split_small" loads and splits: steps of 32 elements along k of 64 rows of A, or of the columns of a tile of
// B.
#ifndef CK_MATMUL_SPLIT_SMALL_STEPS_CUH
#define CK_MATMUL_SPLIT_SMALL_STEPS_CUH

#include "device_extras.cuh"
#include "operands.cuh"
#include "slabs.cuh"
#include "split_elements.cuh"
#include "tensor_copy.cuh"
#include "wgmma.cuh"

namespace matmul {

enum { SMALL_ROWS = 64, SMALL_STEP = 32, SMALL_PIECES = 3, SMALL_THREADS = 128 };

// What a thread has of a step of one operand: EACH elements. The step has lines that are contiguous in global memory:
// along k, or else along the rows of A (columns of B).
//
// ALIGNED: lines begin at multiples of 16 bytes, and have multiples of four elements. A thread loads four neighbors
// at once, in each of four lines, and writes their pieces as neighbors.
//
// Otherwise each element is loaded on its own, and the threads of a warp load neighbors: this touches the fewest
// lines of the cache. A thread has the same place in sixteen lines, and writes the pieces of eight lines as
// neighbors. So what is contiguous along k in global memory is contiguous along the rows in `pieces`, and the other
// way round: wgmma can read both. (These numbers of lines are for 64 rows or columns; 16 have a quarter of them.)
//
// EXTENT: rows (columns) of the step, 64 or 16; FIRST: the number of the first one in the tile, 0 or 64.
template <int FIRST, int EXTENT, bool ALONG_K, bool ALIGNED> struct split_small_step {
    enum { LINES = ALONG_K ? EXTENT : SMALL_STEP, LENGTH = ALONG_K ? SMALL_STEP : EXTENT };
    // The elements of a thread are PARTS of TOGETHER, which are neighbors in `pieces`. It loads VECTOR of them at
    // once, in lines that are APART.
    enum { EACH = EXTENT * SMALL_STEP / SMALL_THREADS, MOST = ALIGNED ? 4 : 8, TOGETHER = EACH < MOST ? EACH : MOST };
    enum { PARTS = EACH / TOGETHER, VECTOR = ALIGNED ? 4 : 1, LOADS = EACH / VECTOR };
    enum { APART = ALIGNED ? LINES / PARTS : 1 };
    static_assert(APART % 8 == 0 || PARTS == 1 || !ALIGNED, "all lines of a thread have the same swizzle");
    static constexpr bool PIECES_ALONG_K = ALONG_K == ALIGNED;
    static constexpr int BOX = PIECES_ALONG_K ? 0 : FIRST / 64;

    const float *from; // the next step
    int64_t pitch;     // from line to line
    int extent;        // rows (columns) inside the matrix
    int line, at;      // the thread's first line, and its first element there

    float x[EACH];

    __device__ __forceinline__ split_small_step(const float *data, int64_t pitch_, int extent_)
        : from(data), pitch(pitch_), extent(extent_) {
        const unsigned t = threadIdx.x, of_line = LENGTH / VECTOR;
        // Along k, a warp has lines 0, 4, 1 and 5 of eight, or 2, 6, 3 and 7, whose pieces are in different banks.
        if (ALIGNED)
            line = static_cast<int>(ALONG_K ? t / 64 * 8 + t / 32 % 2 * 2 + t / 16 % 2 + t / 8 % 2 * 4 : t / of_line),
            at = static_cast<int>(t % of_line * VECTOR);
        else
            line = static_cast<int>(t / LENGTH) * EACH, at = static_cast<int>(t % LENGTH);
    }

    // Begins the loads of the next step, `depth` of whose elements along k are inside the matrix. Instead of elements
    // outside, some inside are loaded again (the last line of the thread that is inside, or the last elements of a
    // line), which takes fewer instructions than a branch: so C gets rows and columns that are not stored. WHOLE: all
    // are inside. (A second copy of the loads for the case that all lines are inside is not worth the time in which
    // its instructions come from memory.)
    template <bool WHOLE> __device__ __forceinline__ void load(int depth) {
        const int lines = ALONG_K ? extent : depth, length = ALONG_K ? depth : extent;
        const auto at_most = [](int i, int most) { return WHOLE || i < most ? i : most; };
        const char *there =
            reinterpret_cast<const char *>(from + at_most(at, length - VECTOR) + at_most(line, lines - 1) * pitch);
        const int64_t next = APART * pitch * static_cast<int64_t>(sizeof(float)); // bytes
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            if constexpr (ALIGNED) {
                const float4 four = __ldg(reinterpret_cast<const float4 *>(there));
                x[i * 4] = four.x, x[i * 4 + 1] = four.y, x[i * 4 + 2] = four.z, x[i * 4 + 3] = four.w;
            } else {
                x[i] = __ldg(reinterpret_cast<const float *>(there));
            }
            if (WHOLE || line + (i + 1) * APART < lines) there += next;
        }
        from += SMALL_STEP * (ALONG_K ? 1 : pitch);
    }

    // Clears the elements from `depth` on along k.
    __device__ __forceinline__ void clear(int depth) {
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const int k = ALONG_K ? at + i % VECTOR : line + i / VECTOR * APART;
            if (k >= depth) x[i] = 0;
        }
    }

    // Splits them into one half of `pieces`, which are as wgmma reads them: lines of 128 bytes, swizzled as TMA would
    // do it. Of lines along the rows (columns), a BOX has those up to 64, and another one those from 64 on.
    template <typename Pieces>
    __device__ __forceinline__ void split(split_elements &elements, const Pieces &pieces, int half) const {
        const int first_line = (ALIGNED ? line : at) + (PIECES_ALONG_K ? FIRST : half * SMALL_STEP);
        const int first = (ALIGNED ? at : line) + (PIECES_ALONG_K ? half * SMALL_STEP : 0); // in its line
#pragma unroll
        for (int part = 0; part < PARTS; ++part) {
            unsigned words[SMALL_PIECES][TOGETHER / 2];
#pragma unroll
            for (int i = 0; i < TOGETHER / 2; ++i) {
                unsigned own[SMALL_PIECES];
                elements.split(x[part * TOGETHER + i * 2], x[part * TOGETHER + i * 2 + 1], own);
#pragma unroll
                for (int piece = 0; piece < SMALL_PIECES; ++piece) words[piece][i] = own[piece];
            }
            const int own_line = first_line + (ALIGNED ? part * APART : 0);
            const int own = first + (ALIGNED ? 0 : part * TOGETHER);
            unsigned char *const to = pieces.bytes + BOX * BOX_BYTES + own_line * SLAB_BYTES +
                                      (own / 8 ^ first_line % 8) * 16 + own % 8 * 2;
#pragma unroll
            for (int piece = 0; piece < SMALL_PIECES; ++piece)
                memcpy(__builtin_assume_aligned(to + piece * Pieces::PIECE, TOGETHER * 2), words[piece],
                       TOGETHER * 2);
        }
    }
};

// The pieces of an operand with EXTENT rows (columns), two steps of each. Where the pieces lie along these, a box has
// 64.
template <int EXTENT, bool ALONG_K_> struct split_small_pieces {
    enum { PIECE = ALONG_K_ ? EXTENT * SLAB_BYTES : (EXTENT + 63) / 64 * BOX_BYTES, BYTES = SMALL_PIECES * PIECE };
    static constexpr bool ALONG_K = ALONG_K_;

    unsigned char *bytes;
    uint64_t first; // the descriptor of their beginning

    __device__ __forceinline__ explicit split_small_pieces(unsigned char *bytes_)
        : bytes(bytes_), first(wgmma_descriptor(bytes_, BOX_BYTES)) {}

    // Where 16 elements along k of a piece begin. (It takes one instruction to add to a descriptor, and several to
    // make one.)
    __device__ __forceinline__ uint64_t descriptor(int piece, int sixteen) const {
        return wgmma_descriptor_after(first, piece * PIECE + sixteen * 16 * (ALONG_K ? 2 : SLAB_BYTES));
    }
};

// The sizes of a tile of 64, 80 or 128 columns. MORE: columns from 64 on; BLOCKS: of a multiprocessor; PITCH: from
// row to row of sums in shared memory.
template <int COLUMNS_> struct [[gnu::visibility("default")]] split_small_size {
    enum { COLUMNS = COLUMNS_, MORE = COLUMNS - 64, SUMS = COLUMNS / 2, PITCH = COLUMNS + 8 };
    enum { BLOCKS = COLUMNS > 80 ? 2 : COLUMNS == 80 ? 3 : 4 };

    // Pieces that are not along k need most.
    static constexpr size_t dynamic_bytes() {
        using a_pieces = split_small_pieces<SMALL_ROWS, false>;
        return COLUMNS == 64 ? 0 : 1024 + a_pieces::BYTES + split_small_pieces<COLUMNS, false>::BYTES;
    }
};

// The tile of block (x, y): its first row and column, and the rows and columns of it that are inside C.
struct small_tile {
    int64_t row, column;
    int rows, columns;

    __device__ __forceinline__ small_tile(int64_t m, int64_t n, int most_columns)
        : row(static_cast<int64_t>(blockIdx.x) * SMALL_ROWS), column(static_cast<int64_t>(blockIdx.y) * most_columns),
          rows(static_cast<int>(m - row < SMALL_ROWS ? m - row : +SMALL_ROWS)),
          columns(static_cast<int>(n - column < most_columns ? n - column : most_columns)) {}
};

// A step of a tile's columns of B: the first 64, and those from 64 on. If none of the latter is inside the matrix,
// they are the first ones again: their results are not stored.
template <typename size, bool ALONG_K, bool ALIGNED> struct split_small_columns {
    enum { WIDTH = size::MORE == 16 ? 16 : 64 }; // of `more`
    static constexpr bool PIECES_ALONG_K = split_small_step<0, 64, ALONG_K, ALIGNED>::PIECES_ALONG_K;
    split_small_step<0, 64, ALONG_K, ALIGNED> first;
    split_small_step<64, WIDTH, ALONG_K, ALIGNED> more;

    __device__ __forceinline__ split_small_columns(const input_matrix<float, false> &b, const small_tile &tile)
        : first(b.data + tile.column * b.column_stride, ALONG_K ? b.column_stride : b.row_stride,
                size::MORE == 0 ? tile.columns : at_most(tile.columns, 64)),
          more(first.from + (tile.columns > 64 ? 64 * b.column_stride : 0), first.pitch,
               tile.columns > 64 ? tile.columns - 64 : at_most(tile.columns, WIDTH)) {}
    static __device__ __forceinline__ int at_most(int columns, int most) { return columns < most ? columns : most; }

    template <bool WHOLE> __device__ __forceinline__ void load(int depth) {
        first.template load<WHOLE>(depth);
        if (size::MORE > 0) more.template load<WHOLE>(depth);
    }
    template <typename Pieces>
    __device__ __forceinline__ void split(split_elements &elements, const Pieces &pieces, int half) const {
        first.split(elements, pieces, half);
        if (size::MORE > 0) more.split(elements, pieces, half);
    }
};

} // namespace matmul

#endif
