// The second page of "residues_int8": what comes before and after the products of bytes.
//
//     residues_scale    the norm of each line (row of A, column of B), and whether the lines are even enough
//     residues_split    each double becomes an integer, and that its residues: one plane of bytes for each modulus
//     residues_product  the products of the planes, modulo p (on the first page)
//     residues_join     the integers of C from their residues, and from these the doubles
//
// residue_findings.cuh says what "even enough" is.
#ifndef CK_MATMUL_RESIDUE_PLANES_CUH
#define CK_MATMUL_RESIDUE_PLANES_CUH

#include "device_extras.cuh"
#include "operands.cuh"
#include "residue_findings.cuh"
#include "residues.cuh"

namespace matmul {

enum { RESIDUES_LINES = 32, RESIDUES_THREADS = 256, RESIDUES_WARPS = RESIDUES_THREADS / 32 };

// One operand: its lines, the scales that make integers of them (2^scale), and the planes, with `pitch` bytes for a
// line. B's lines have another order there (place_of_column).
struct residue_side {
    input_matrix<double, false> matrix; // a row of it is a line
    int64_t pitch;
    int lines, padded; // padded: lines in the planes
    int *scales;
    int8_t *planes;
};
struct residue_operands {
    residue_side side[2]; // A, and B transposed
    residue_findings *findings;
    int k;
};

// A thread of wgmma has columns 8 i + 2 t and 8 i + 2 t + 1 of a row. So that eight bytes of a thread are neighbors
// in C's planes, the columns of B have another order within 32: column 8 t + 2 i + e is at 8 i + 2 t + e.
__device__ __forceinline__ int place_of_column(int column) {
    return (column & ~31) | (column / 2 % 4) * 8 | (column / 8 % 4) * 2 | column % 2;
}

// A warp reads neighbors: along k, or from line to line.
__device__ __forceinline__ bool is_along_k(const residue_side &side) {
    return side.matrix.column_stride == 1;
}

__global__ void __launch_bounds__(RESIDUES_THREADS) residues_clear(residue_findings *findings) {
    let_next_grid_begin();
    if (threadIdx.x < 2) findings->sine[threadIdx.x] = 0;
}

// grid.x: 32 lines for each block; grid.y: A, B
__global__ void __launch_bounds__(RESIDUES_THREADS)
    residues_scale(const __grid_constant__ residue_operands op, double norm_wanted) {
    __shared__ double squares[RESIDUES_WARPS][RESIDUES_LINES], magnitudes[RESIDUES_WARPS][RESIDUES_LINES];
    let_next_grid_begin();
    wait_for_grid_before();
    const residue_side &side = op.side[blockIdx.y];
    const int first = static_cast<int>(blockIdx.x) * RESIDUES_LINES, warp = static_cast<int>(threadIdx.x) / 32,
              lane = static_cast<int>(threadIdx.x) % 32;
    // Lane `line` of a warp gets the warp's share of that line.
    double square = 0, magnitude = 0;
    if (first < side.lines && is_along_k(side)) {
        for (int line = warp; line < RESIDUES_LINES && first + line < side.lines; line += RESIDUES_WARPS) {
            const auto row = side.matrix.row(first + line);
            double own_square = 0, own_magnitude = 0;
#pragma unroll 4
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
#pragma unroll 4
        for (int h = warp; h < op.k; h += RESIDUES_WARPS) {
            const double x = row[h];
            square = fma(x, x, square), magnitude += fabs(x);
        }
    }
    squares[warp][lane] = square, magnitudes[warp][lane] = magnitude;
    __syncthreads();
    if (warp > 0 || first + lane >= side.padded) return;
    for (int other = 1; other < RESIDUES_WARPS; ++other)
        square += squares[other][lane], magnitude += magnitudes[other][lane];
    int scale = 0;
    float sine = 0;
    if (magnitude != 0) { // a line of zeros needs no scale, and has no error
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

// grid.x: 32 lines; grid.y: 128 elements of each; grid.z: A, B. A thread makes four bytes of each plane: elements
// that are 32 apart, because the order along k does not matter if it is the same in A and B.
__global__ void __launch_bounds__(RESIDUES_THREADS)
    residues_split(const __grid_constant__ residue_operands op, int moduli) {
    enum { PITCH = RESIDUES_LINES + 1 }; // no bank conflicts in either direction
    __shared__ double tile[RESIDUES_DEPTH * PITCH];
    let_next_grid_begin();
    wait_for_grid_before();
    if (!op.findings->are_good()) return;
    const residue_side &side = op.side[blockIdx.z];
    const int64_t first = static_cast<int64_t>(blockIdx.y) * RESIDUES_DEPTH;
    const int first_line = static_cast<int>(blockIdx.x) * RESIDUES_LINES, warp = static_cast<int>(threadIdx.x) / 32,
              lane = static_cast<int>(threadIdx.x) % 32;
    if (first_line >= side.padded) return;
    const bool along_k = is_along_k(side);
    if (!along_k) {
        const bool is_line = first_line + lane < side.lines;
        const auto row = side.matrix.row(is_line ? first_line + lane : 0);
#pragma unroll 4
        for (int h = warp; h < RESIDUES_DEPTH; h += RESIDUES_WARPS)
            tile[h * PITCH + lane] = is_line && first + h < op.k ? row[first + h] : 0;
        __syncthreads();
    }
    const int64_t plane = static_cast<int64_t>(side.padded) * side.pitch;
    for (int line = warp; line < RESIDUES_LINES && first_line + line < side.padded; line += RESIDUES_WARPS) {
        const int number = first_line + line;
        const auto row = side.matrix.row(number < side.lines ? number : 0);
        const double scale = power_of_two(side.scales[number]);
        residue_digits digits[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int h = j * 32 + lane;
            const bool is_inside = number < side.lines && first + h < op.k;
            const double x = !along_k ? tile[h * PITCH + line] : is_inside ? row[first + h] : 0;
            digits[j] = residue_digits(__double2ll_rn(x * scale));
        }
        const int place = blockIdx.z == 0 ? number : place_of_column(number);
        int8_t *to = side.planes + place * side.pitch + first + lane * 4;
#pragma unroll
        for (int i = 0; i < RESIDUES_MOST; ++i, to += plane) {
            if (i >= moduli) break;
            const residue_modulus modulus(i);
            *reinterpret_cast<char4 *>(to) = make_char4(
                static_cast<int8_t>(digits[0].residue(modulus)), static_cast<int8_t>(digits[1].residue(modulus)),
                static_cast<int8_t>(digits[2].residue(modulus)), static_cast<int8_t>(digits[3].residue(modulus)));
        }
    }
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

// grid.x: 1024 columns; grid.y: rows (some for each block). Each thread has four neighbors.
__global__ void __launch_bounds__(RESIDUES_THREADS)
    residues_join(const __grid_constant__ residue_results results, const __grid_constant__ residue_system system) {
    let_next_grid_begin();
    wait_for_grid_before();
    if (!results.findings->are_good()) return;
    const int column = static_cast<int>(blockIdx.x * RESIDUES_THREADS + threadIdx.x) * 4;
    if (column >= results.n) return;
    const int64_t plane = results.m * results.pitch;
    const int width = min(4, results.n - column);
    int scales[4] = {};
    for (int j = 0; j < width; ++j) scales[j] = results.column_scales[column + j];
    for (int row = static_cast<int>(blockIdx.y); row < results.m; row += static_cast<int>(gridDim.y)) {
        const int8_t *from = results.planes + row * results.pitch + column;
        char4 residues[RESIDUES_MOST] = {};
#pragma unroll
        for (int i = 0; i < RESIDUES_MOST; ++i)
            if (i < system.moduli) residues[i] = *reinterpret_cast<const char4 *>(from + i * plane);
        const double row_scale = power_of_two(-results.row_scales[row]);
        double values[4];
        values[0] = system.join([&](int i) { return residues[i].x; });
        values[1] = system.join([&](int i) { return residues[i].y; });
        values[2] = system.join([&](int i) { return residues[i].z; });
        values[3] = system.join([&](int i) { return residues[i].w; });
#pragma unroll
        for (int j = 0; j < 4; ++j) values[j] = values[j] * row_scale * power_of_two(-scales[j]);
        store_pair(results.c, row, column, results.m, results.n, values[0], values[1]);
        store_pair(results.c, row, column + 2, results.m, results.n, values[2], values[3]);
    }
}

} // namespace matmul

#endif
