// cuRAND's generators for kernels: XORWOW, Philox4_32_10 and Sobol's quasirandom numbers of 32 bits.
//
// Their integers and uniform numbers are those of a GPU, bit for bit, as is every state after curand_init. Normal
// numbers differ by up to 2e-6, because a GPU computes log, sin and cos less accurately. Poisson numbers of a mean
// from 64 to 4000 are made in another way.
//
// Sources: G. Marsaglia, "Xorshift RNGs", 2003 (xorwow); J. Salmon and others, "Parallel Random Numbers: As Easy as
// 1, 2, 3", 2011 (Philox); S. Joe and F. Kuo's direction numbers new-joe-kuo-6, of which there are the first 21
// dimensions; cuRAND's documentation for the lengths of subsequences, its headers for how seeds are spread.
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include <cstring>

#include "cuda_runtime.h"

namespace emu_rand {

// What a state keeps for the next normal number, because they come in pairs.
struct spare {
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};

// A step of XORWOW but for its counter is linear over bits, so many steps are one product with a matrix of 160 x 160
// bits. matrix[p] is that of 2^p steps; each is the square of the one before.
// (Tools of the emulator do not hear of the table.)
#define EMU_UNSEEN __attribute__((no_sanitize("thread")))
struct xorwow_powers {
    enum { POWERS = 67 + 64 };
    struct vector {
        unsigned v[5];
    };
    struct matrix {
        vector column[160];
        EMU_UNSEEN vector times(const vector &x) const {
            vector y = {};
            for (int bit = 0; bit < 160; ++bit)
                if (x.v[bit / 32] >> bit % 32 & 1)
                    for (int i = 0; i < 5; ++i) y.v[i] ^= column[bit].v[i];
            return y;
        }
    };
    matrix power[POWERS];
    EMU_UNSEEN xorwow_powers() {
        for (int bit = 0; bit < 160; ++bit) {
            vector x = {};
            x.v[bit / 32] = 1u << bit % 32;
            step(x.v);
            power[0].column[bit] = x;
        }
        for (int p = 1; p < POWERS; ++p)
            for (int bit = 0; bit < 160; ++bit) power[p].column[bit] = power[p - 1].times(power[p - 1].column[bit]);
    }
    static void step(unsigned *v) {
        const unsigned t = v[0] ^ v[0] >> 2;
        v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
        v[4] = (v[4] ^ v[4] << 4) ^ (t ^ t << 1);
    }
    static const xorwow_powers &all() { // made when first needed: about 10 ms
        static const xorwow_powers powers;
        return powers;
    }
    static void skip(unsigned *v, unsigned long long count, int unit) { // count * 2^unit steps
        vector x;
        if (count < 64 && unit == 0) {
            while (count--) step(v);
            return;
        }
        std::memcpy(x.v, v, sizeof x.v);
        for (int p = unit; count; ++p, count >>= 1)
            if (count & 1) x = all().power[p].times(x);
        std::memcpy(v, x.v, sizeof x.v);
    }
};

#undef EMU_UNSEEN

inline uint4 philox(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        if (round) key = {key.x + 0x9e3779b9, key.y + 0xbb67ae85};
        const unsigned long long a = 0xd2511f53ull * counter.x, b = 0xcd9e8d57ull * counter.z;
        counter = {static_cast<unsigned>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(b),
                   static_cast<unsigned>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(a)};
    }
    return counter;
}

inline float uniform(unsigned x) {
    return fmaf(static_cast<float>(x), 0x1p-32f, 0x1p-33f); // in (0, 1]
}
inline double uniform(unsigned x, unsigned y) {
    return static_cast<double>(x ^ static_cast<unsigned long long>(y) << 21) * 0x1p-53 + 0x1p-54;
}
inline float2 box_muller(unsigned x, unsigned y) {
    const float size = sqrtf(-2 * logf(uniform(x))),
                angle = fmaf(static_cast<float>(y), 0x1p-32f, 0x1p-33f) * 6.2831855f;
    return {size * sinf(angle), size * cosf(angle)};
}
inline double2 box_muller(uint4 x) {
    const double size = sqrt(-2 * log(uniform(x.x, x.y))), angle = 2 * uniform(x.z, x.w);
    return {size * sinpi(angle), size * cospi(angle)};
}

} // namespace emu_rand

struct curandStateXORWOW : emu_rand::spare {
    unsigned d, v[5];
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 : emu_rand::spare {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// --- XORWOW: a subsequence has 2^67 numbers ------------------------------------------------------------------------
__device__ inline void skipahead(unsigned long long n, curandStateXORWOW *state) {
    emu_rand::xorwow_powers::skip(state->v, n, 0);
    state->d += 362437 * static_cast<unsigned>(n);
}
__device__ inline void skipahead_sequence(unsigned long long n, curandStateXORWOW *state) {
    emu_rand::xorwow_powers::skip(state->v, n, 67);
}
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStateXORWOW *state) {
    const unsigned low = 1099087573u * (static_cast<unsigned>(seed) ^ 0xaad26b49u);
    const unsigned high = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu);
    *state = {};
    state->d = 6615241 + high + low;
    const unsigned v[] = {123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low};
    std::memcpy(state->v, v, sizeof v);
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
__device__ inline unsigned curand(curandStateXORWOW *state) {
    emu_rand::xorwow_powers::step(state->v);
    return state->v[4] + (state->d += 362437);
}

// --- Philox: the lower half of the counter is a place in a subsequence of 2^66 numbers, the upper half its number --
__device__ inline void skipahead(unsigned long long n, curandStatePhilox4_32_10 *state) {
    const unsigned at = state->STATE + static_cast<unsigned>(n & 3);
    state->STATE = at & 3;
    n = n / 4 + at / 4;
    const unsigned long long low = (static_cast<unsigned long long>(state->ctr.y) << 32 | state->ctr.x) + n;
    if (low < n && !++state->ctr.z) ++state->ctr.w;
    state->ctr.x = static_cast<unsigned>(low), state->ctr.y = static_cast<unsigned>(low >> 32);
    state->output = emu_rand::philox(state->ctr, state->key);
}
__device__ inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *state) {
    const unsigned long long high = (static_cast<unsigned long long>(state->ctr.w) << 32 | state->ctr.z) + n;
    state->ctr.z = static_cast<unsigned>(high), state->ctr.w = static_cast<unsigned>(high >> 32);
    state->output = emu_rand::philox(state->ctr, state->key);
}
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStatePhilox4_32_10 *state) {
    *state = {};
    state->key = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
__device__ inline unsigned curand(curandStatePhilox4_32_10 *state) {
    const unsigned four[] = {state->output.x, state->output.y, state->output.z, state->output.w};
    const unsigned result = four[state->STATE];
    if (state->STATE < 3)
        ++state->STATE;
    else
        skipahead(1, state);
    return result;
}
__device__ inline uint4 curand4(curandStatePhilox4_32_10 *state) {
    const uint4 old = state->output;
    const unsigned at = state->STATE;
    skipahead(4, state);
    const unsigned eight[] = {old.x,           old.y,           old.z,           old.w,
                              state->output.x, state->output.y, state->output.z, state->output.w};
    return {eight[at], eight[at + 1], eight[at + 2], eight[at + 3]};
}

// --- Sobol: number i is the sum without carries of the direction vectors at the bits of i in Gray code -------------
typedef unsigned int curandDirectionVectors32_t[32];
struct curandStateSobol32 {
    unsigned i, x, c, direction_vectors[32];
};
typedef curandStateSobol32 curandStateSobol32_t;

__device__ inline void skipahead(unsigned n, curandStateSobol32 *state) {
    const unsigned gray = (state->i += n) ^ state->i >> 1;
    state->x = state->c;
    for (unsigned bit = 0; bit < 32; ++bit)
        if (gray >> bit & 1) state->x ^= state->direction_vectors[bit];
}
__device__ inline void curand_init(const unsigned *direction_vectors, unsigned offset, curandStateSobol32 *state) {
    *state = {};
    std::memcpy(state->direction_vectors, direction_vectors, sizeof state->direction_vectors);
    skipahead(offset, state);
}
__device__ inline unsigned curand(curandStateSobol32 *state) {
    const unsigned x = state->x, zeros = static_cast<unsigned>(__ffs(static_cast<int>(~state->i)) - 1);
    state->x ^= state->direction_vectors[zeros % 32];
    ++state->i;
    return x;
}

namespace emu_rand {
enum { SOBOL_DIMENSIONS = 21 };
struct sobol_vectors {
    curandDirectionVectors32_t of[SOBOL_DIMENSIONS];
    sobol_vectors() {
        // The polynomial's degree and its inner coefficients, and the first numbers. (The first dimension has none.)
        static const unsigned char rows[SOBOL_DIMENSIONS - 1][9] = {
            {1, 0, 1},
            {2, 1, 1, 3},
            {3, 1, 1, 3, 1},
            {3, 2, 1, 1, 1},
            {4, 1, 1, 1, 3, 3},
            {4, 4, 1, 3, 5, 13},
            {5, 2, 1, 1, 5, 5, 17},
            {5, 4, 1, 1, 5, 5, 5},
            {5, 7, 1, 1, 7, 11, 19},
            {5, 11, 1, 1, 5, 1, 1},
            {5, 13, 1, 1, 1, 3, 11},
            {5, 14, 1, 3, 5, 5, 31},
            {6, 1, 1, 3, 3, 9, 7, 49},
            {6, 13, 1, 1, 1, 15, 21, 21},
            {6, 16, 1, 3, 1, 13, 27, 49},
            {6, 19, 1, 1, 1, 15, 7, 5},
            {6, 22, 1, 3, 1, 15, 13, 25},
            {6, 25, 1, 1, 5, 5, 19, 61},
            {7, 1, 1, 3, 7, 11, 23, 15, 103},
            {7, 4, 1, 3, 7, 13, 13, 15, 69},
        };
        for (unsigned i = 0; i < 32; ++i) of[0][i] = 1u << (31 - i);
        for (int d = 1; d < SOBOL_DIMENSIONS; ++d) {
            const unsigned char *const row = rows[d - 1];
            const unsigned degree = row[0];
            unsigned *const v = of[d];
            for (unsigned i = 0; i < 32; ++i) {
                if (i < degree) {
                    v[i] = static_cast<unsigned>(row[2 + i]) << (31 - i);
                    continue;
                }
                v[i] = v[i - degree] ^ v[i - degree] >> degree;
                for (unsigned k = 1; k < degree; ++k)
                    if (row[1] >> (degree - 1 - k) & 1) v[i] ^= v[i - k];
            }
        }
    }
    static sobol_vectors &all() {
        static sobol_vectors vectors;
        return vectors;
    }
};
} // namespace emu_rand

// --- distributions: of all generators ----------------------------------------------------------------------------
template <typename State> __device__ inline float curand_uniform(State *state) {
    return emu_rand::uniform(curand(state));
}
__device__ inline double curand_uniform_double(curandStateXORWOW *state) {
    const unsigned x = curand(state), y = curand(state);
    return emu_rand::uniform(x, y);
}
__device__ inline double curand_uniform_double(curandStatePhilox4_32_10 *state) {
    return static_cast<double>(curand(state)) * 0x1p-32 + 0x1p-32;
}
__device__ inline double curand_uniform_double(curandStateSobol32 *state) {
    return static_cast<double>(curand(state)) * 0x1p-32 + 0x1p-32;
}
__device__ inline float4 curand_uniform4(curandStatePhilox4_32_10 *state) {
    const uint4 x = curand4(state);
    return {emu_rand::uniform(x.x), emu_rand::uniform(x.y), emu_rand::uniform(x.z), emu_rand::uniform(x.w)};
}
__device__ inline double2 curand_uniform2_double(curandStatePhilox4_32_10 *state) {
    const uint4 x = curand4(state);
    return {emu_rand::uniform(x.x, x.y), emu_rand::uniform(x.z, x.w)};
}

template <typename State> __device__ inline float2 curand_normal2(State *state) {
    const unsigned x = curand(state), y = curand(state);
    return emu_rand::box_muller(x, y);
}
__device__ inline float4 curand_normal4(curandStatePhilox4_32_10 *state) {
    const uint4 x = curand4(state);
    const float2 a = emu_rand::box_muller(x.x, x.y), b = emu_rand::box_muller(x.z, x.w);
    return {a.x, a.y, b.x, b.y};
}
__device__ inline double2 curand_normal2_double(curandStateXORWOW *state) {
    const unsigned x = curand(state), y = curand(state), z = curand(state), w = curand(state);
    return emu_rand::box_muller(uint4{x, y, z, w});
}
__device__ inline double2 curand_normal2_double(curandStatePhilox4_32_10 *state) {
    return emu_rand::box_muller(curand4(state));
}
template <typename State> __device__ inline float curand_normal(State *state) {
    if ((state->boxmuller_flag = !state->boxmuller_flag) == 0) return state->boxmuller_extra;
    const float2 pair = curand_normal2(state);
    state->boxmuller_extra = pair.y;
    return pair.x;
}
template <typename State> __device__ inline double curand_normal_double(State *state) {
    if ((state->boxmuller_flag_double = !state->boxmuller_flag_double) == 0) return state->boxmuller_extra_double;
    const double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = pair.y;
    return pair.x;
}

// Quasirandom numbers do not come in pairs.
__device__ inline float curand_normal(curandStateSobol32 *state) {
    return normcdfinvf(curand_uniform(state));
}
__device__ inline double curand_normal_double(curandStateSobol32 *state) {
    return normcdfinv(curand_uniform_double(state));
}

template <typename State> __device__ inline float curand_log_normal(State *state, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(state));
}
template <typename State>
__device__ inline double curand_log_normal_double(State *state, double mean, double deviation) {
    return exp(mean + deviation * curand_normal_double(state));
}
template <typename State> __device__ inline float2 curand_log_normal2(State *state, float mean, float deviation) {
    const float2 x = curand_normal2(state);
    return {expf(mean + deviation * x.x), expf(mean + deviation * x.y)};
}
__device__ inline float4 curand_log_normal4(curandStatePhilox4_32_10 *state, float mean, float deviation) {
    const float4 x = curand_normal4(state);
    return {expf(mean + deviation * x.x), expf(mean + deviation * x.y), expf(mean + deviation * x.z),
            expf(mean + deviation * x.w)};
}

// For a small mean, the number of uniform numbers whose product stays above exp(-mean); else a rounded normal number.
template <typename State> __device__ inline unsigned curand_poisson(State *state, double mean) {
    if (mean >= 64) {
        const double x = sqrt(mean) * curand_normal_double(state) + mean + 0.5;
        return x > 0 ? static_cast<unsigned>(x) : 0;
    }
    unsigned count = 0;
    for (float product = expf(static_cast<float>(mean)); (product *= curand_uniform(state)) > 1; ++count) {}
    return count;
}
__device__ inline uint4 curand_poisson4(curandStatePhilox4_32_10 *state, double mean) {
    const unsigned x = curand_poisson(state, mean), y = curand_poisson(state, mean), z = curand_poisson(state, mean);
    return {x, y, z, curand_poisson(state, mean)};
}

#include "curand.h" // as in CUDA; last, because it uses what is above

#endif
