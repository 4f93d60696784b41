// The second page of "residues_int8": what comes before and after the products of bytes.
//
//     residues_scale       the norm of each line (row of A, column of B), and whether its magnitudes are similar
//     residues_magnitudes  if not: a plane of bytes with the magnitudes
//     residues_compare     and the least element of their product (on the first page)
//     residues_split       each double becomes an integer, and that its residues: one plane of bytes for each modulus
//     residues_product     the products of the planes, modulo p (on the first page)
//     residues_join        the integers of C from their residues, and from these the doubles
//
// residue_findings.cuh says what the first three are for.
#ifndef CK_MATMUL_RESIDUE_PLANES_CUH
#define CK_MATMUL_RESIDUE_PLANES_CUH

#include "async_copy.cuh"
#include "device_extras.cuh"
#include "operands.cuh"
#include "residue_findings.cuh"
#include "residues.cuh"

namespace matmul {

enum { RESIDUES_LINES = 32, RESIDUES_THREADS = 256, RESIDUES_SCALE_THREADS = 512 };
enum { RESIDUES_JOIN_BLOCKS = 4 }; // at once on a multiprocessor
// A line of zeros needs no scale. It gets this one, by which it is known: all others are from -346 to 462. The sum of
// two scales is the exponent of a normal number.
enum { RESIDUES_ZEROS = -500 };

// One operand: its lines, the scales that make integers of them (2^scale), and the planes, with `pitch` bytes for a
// line.
struct residue_side {
    input_matrix<double, false> matrix; // a row of it is a line
    int64_t pitch;
    int lines, padded; // padded: lines in the planes
    int *scales;
    int8_t *planes;

    // A warp reads neighbors: along k, or from line to line.
    __device__ __forceinline__ bool is_along_k() const { return matrix.column_stride == 1; }
    __device__ __forceinline__ const double *line_along_k(int line) const {
        return matrix.data + line * matrix.row_stride;
    }
};
struct residue_operands {
    residue_side side[2]; // A, and B transposed
    residue_findings *findings;
    int k;
};

// A thread of wgmma has columns 8 i + 2 t and 8 i + 2 t + 1 of a row, for all i. So that it can store eight bytes at
// once, C's planes have another order within 32 columns: column 8 i + 2 t + e is at 8 t + 2 i + e.
__device__ __forceinline__ int column_of_place(int place) {
    return (place & ~31) | (place / 2 % 4) * 8 | (place / 8 % 4) * 2 | place % 2;
}

__global__ void __launch_bounds__(RESIDUES_THREADS) residues_clear(residue_findings *findings, int k) {
    let_next_grid_begin();
    if (threadIdx.x == 0) findings->clear(k);
}

// grid.x: 32 lines for each block; grid.y: A, B
__global__ void __launch_bounds__(RESIDUES_SCALE_THREADS, 2)
    residues_scale(const __grid_constant__ residue_operands op, double norm_wanted) {
    enum { WARPS = RESIDUES_SCALE_THREADS / 32 };
    __shared__ double squares[WARPS][RESIDUES_LINES], magnitudes[WARPS][RESIDUES_LINES];
    let_next_grid_begin();
    wait_for_grid_before();
    const residue_side &side = op.side[blockIdx.y];
    const int first = static_cast<int>(blockIdx.x) * RESIDUES_LINES, warp = static_cast<int>(threadIdx.x) / 32,
              lane = static_cast<int>(threadIdx.x) % 32;
    // Lane `line` of a warp gets the warp's share of that line.
    double square = 0, magnitude = 0;
    if (first < side.lines && side.is_along_k()) {
        for (int line = warp; line < RESIDUES_LINES && first + line < side.lines; line += WARPS) {
            const double *const row = side.line_along_k(first + line);
            double own_square = 0, own_magnitude = 0;
#pragma unroll 8
            for (int h = lane; h < op.k; h += 32) {
                const double x = row[h];
                own_square = fma(x, x, own_square), own_magnitude += fabs(x);
            }
            for (int step = 16; step > 0; step /= 2) {
                own_square += __shfl_xor_sync(0xffffffffu, own_square, step);
                own_magnitude += __shfl_xor_sync(0xffffffffu, own_magnitude, step);
            }
            if (lane == line) square = own_square, magnitude = own_magnitude;
        }
    } else if (first + lane < side.lines) {
        const auto row = side.matrix.row(first + lane);
#pragma unroll 8
        for (int h = warp; h < op.k; h += WARPS) {
            const double x = row[h];
            square = fma(x, x, square), magnitude += fabs(x);
        }
    }
    squares[warp][lane] = square, magnitudes[warp][lane] = magnitude;
    __syncthreads();
    if (warp > 0 || first + lane >= side.padded) return;
    for (int other = 1; other < WARPS; ++other) square += squares[other][lane], magnitude += magnitudes[other][lane];
    int scale = RESIDUES_ZEROS;
    float sine = 0;
    if (magnitude != 0) {
        if (square > 0x1p-800 && square < 0x1p+800) {
            const double cosine_squared = magnitude / square * magnitude / op.k;
            sine = cosine_squared < 1 ? static_cast<float>(1 - cosine_squared) : 0;
            scale = ilogb(norm_wanted / (sqrt(square) * (1 + 0x1p-20))); // the norm has rounding errors
        } else {
            sine = 2; // also for an infinity or NaN
        }
    }
    side.scales[first + lane] = scale;
    if (sine > 0) atomicMax(&op.findings->sine[blockIdx.y], __float_as_uint(sine));
}

// 2^exponent, for exponents of normal numbers.
__device__ __forceinline__ double power_of_two(int exponent) {
    return __longlong_as_double(static_cast<long long>(1023 + exponent) << 52);
}

// grid.x: 128 elements of 32 lines, along k first; grid.y: A, B. store(values, number of the line, first byte in its
// plane) takes four elements of a thread, which are 32 apart, because the order along k does not matter if it is the
// same in A and B.
template <typename Store> __device__ __forceinline__ void visit_lines(const residue_operands &op, Store store) {
    enum { WARPS = RESIDUES_THREADS / 32, PITCH = RESIDUES_LINES + 1 }; // no bank conflicts in either direction
    __shared__ double tile[RESIDUES_DEPTH * PITCH];
    const residue_side &side = op.side[blockIdx.y];
    const unsigned parts = static_cast<unsigned>(side.pitch / RESIDUES_DEPTH); // of k
    const int first = static_cast<int>(blockIdx.x % parts) * RESIDUES_DEPTH, end = op.k - first,
              first_line = static_cast<int>(blockIdx.x / parts) * RESIDUES_LINES,
              warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    if (first_line >= side.padded) return;
    const bool along_k = side.is_along_k();
    if (!along_k) {
        const bool is_line = first_line + lane < side.lines;
        const auto row = side.matrix.row(is_line ? first_line + lane : 0);
#pragma unroll 4
        for (int h = warp; h < RESIDUES_DEPTH; h += WARPS)
            tile[h * PITCH + lane] = is_line && h < end ? row[first + h] : 0;
        __syncthreads();
    }
    for (int line = warp; line < RESIDUES_LINES && first_line + line < side.padded; line += WARPS) {
        const int number = first_line + line;
        double values[4] = {};
        if (!along_k) {
#pragma unroll
            for (int j = 0; j < 4; ++j) values[j] = tile[(j * 32 + lane) * PITCH + line];
        } else if (number < side.lines) {
            const double *const row = side.line_along_k(number) + first;
#pragma unroll
            for (int j = 0; j < 4; ++j)
                if (j * 32 + lane < end) values[j] = row[j * 32 + lane];
        }
        store(values, side.scales[number], side.planes + number * side.pitch + first + lane * 4);
    }
}

// `per_unit`: how many units of the magnitudes one of the integers has.
__global__ void __launch_bounds__(RESIDUES_THREADS)
    residues_magnitudes(const __grid_constant__ residue_operands op, double per_unit) {
    let_next_grid_begin();
    wait_for_grid_before();
    if (!op.findings->are_compared()) return;
    visit_lines(op, [&](const double(&values)[4], int scale, int8_t *to) {
        const double by = power_of_two(scale) * per_unit;
        // Of a line of zeros, the largest byte: its products have no error, and must not fail the proof.
        const auto magnitude = [&](int j) {
            return scale == RESIDUES_ZEROS ? 127 : static_cast<int8_t>(fmin(fabs(values[j]) * by, 127.0));
        };
        *reinterpret_cast<char4 *>(to) = make_char4(magnitude(0), magnitude(1), magnitude(2), magnitude(3));
    });
}

__global__ void __launch_bounds__(RESIDUES_THREADS)
    residues_split(const __grid_constant__ residue_operands op, int moduli) {
    let_next_grid_begin();
    wait_for_grid_before();
    if (!op.findings->are_good()) return;
    const residue_side &side = op.side[blockIdx.y];
    const int64_t plane = static_cast<int64_t>(side.padded) * side.pitch;
    visit_lines(op, [&](const double(&values)[4], int scale, int8_t *to) {
        residue_digits digits[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) digits[j] = residue_digits(__double2ll_rn(values[j] * power_of_two(scale)));
#pragma unroll
        for (int i = 0; i < RESIDUES_MOST; ++i, to += plane) {
            if (i >= RESIDUES_LEAST && i >= moduli) break;
            const residue_modulus modulus(i);
            *reinterpret_cast<char4 *>(to) = make_char4(digits[0].residue(modulus), digits[1].residue(modulus),
                                                        digits[2].residue(modulus), digits[3].residue(modulus));
        }
    });
}

// The residues of C: planes of m lines, `pitch` bytes each.
struct residue_results {
    const int8_t *planes;
    int64_t pitch;
    output_matrix<double, false> c;
    int m, n;
    const int *row_scales, *column_scales;
    const residue_findings *findings;
};

// grid.x: 1024 columns; grid.y: rows (some for each block). A thread has four columns, whose bytes are a word of each
// plane. While it joins those of one row, the words of its next row are copied to shared memory.
__global__ void __launch_bounds__(RESIDUES_THREADS, RESIDUES_JOIN_BLOCKS)
    residues_join(const __grid_constant__ residue_results results, const __grid_constant__ residue_system system) {
    __shared__ unsigned words[2][RESIDUES_MOST][RESIDUES_THREADS];
    let_next_grid_begin();
    wait_for_grid_before();
    if (!results.findings->are_good()) return;
    const int t = static_cast<int>(threadIdx.x), place = (static_cast<int>(blockIdx.x) * RESIDUES_THREADS + t) * 4;
    if (place >= results.pitch) return;
    const int column = column_of_place(place);
    const int scales[4] = {results.column_scales[column], results.column_scales[column + 1],
                           results.column_scales[column + 8], results.column_scales[column + 9]};
    const int64_t plane = results.m * results.pitch;
    const int first = static_cast<int>(blockIdx.y), rows = static_cast<int>(gridDim.y);
    const int8_t *from = results.planes + first * results.pitch + place;
    output_matrix<double, false> c = results.c;
    c.data += first * c.row_stride + column * c.column_stride;
    const auto copy = [&](int row, int stage) {
        if (row < results.m) {
            const int8_t *word = from;
#pragma unroll
            for (int i = 0; i < RESIDUES_MOST; ++i, word += plane) {
                if (i >= RESIDUES_LEAST && i >= system.moduli) break;
                recompute_from(word); // the addresses of all planes would take too many registers
                cp_async<4>(&words[stage][i][t], word);
            }
            from += rows * results.pitch;
        }
        cp_async_commit();
    };
    copy(first, 0);
    for (int row = first, stage = 0; row < results.m; row += rows, stage ^= 1) {
        copy(row + rows, stage ^ 1);
        const int row_scale = results.row_scales[row];
        cp_async_wait<1>();
        double sum[4][residue_system::DIGITS] = {};
#pragma unroll
        for (int i = 0; i < RESIDUES_MOST; ++i) {
            if (i >= RESIDUES_LEAST && i >= system.moduli) break;
            const unsigned word = words[stage][i][t];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const double residue = static_cast<int8_t>(word >> 8 * j);
#pragma unroll
                for (int d = 0; d < residue_system::DIGITS; ++d)
                    sum[j][d] = fma(residue, system.weight[d][i], sum[j][d]);
            }
        }
        double values[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) values[j] = system.join(sum[j]) * power_of_two(-row_scale - scales[j]);
        store_pair(c, 0, 0, 1, results.n - column, values[0], values[1]);
        store_pair(c, 0, 8, 1, results.n - column, values[2], values[3]);
        c.data += rows * c.row_stride;
    }
}

} // namespace matmul

#endif
