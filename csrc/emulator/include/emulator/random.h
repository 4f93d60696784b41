// cuRAND's host functions. The numbers come from the generators of curand_kernel.h in the order of cuRAND's default:
//
//   XORWOW   number i:             subsequence i % 4096; of normal numbers, pair i
//   Philox   numbers 4i to 4i + 3: subsequence i % 65536
//   Sobol    of n numbers, the first n / dimensions are those of the first dimension, ...
//
// (The order of XORWOW is documented; that of Philox, and of normal and double-precision numbers, was seen on an
// H200.) The other pseudorandom generators' numbers are those of Philox here, and other quasirandom generators are
// refused.
#ifndef EMULATOR_RANDOM_H
#define EMULATOR_RANDOM_H

#include <cstdio>

#include "../curand_kernel.h"
#include "device_launch.h"

namespace emu_rand {

enum kind { INTEGERS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, LOG_NORMAL, LOG_NORMAL_DOUBLE, POISSON };

struct request {
    kind what;
    unsigned long long seed, first; // the first number's index
    size_t count;
    void *to;
    double mean, deviation; // of POISSON: its mean alone
};
enum { TOGETHER = 64 }; // subsequences that one block of one thread computes

template <typename State> struct order;
template <> struct order<curandStateXORWOW> {
    static constexpr unsigned sequences = 4096;
    static unsigned group(kind what) { return what >= NORMAL && what <= LOG_NORMAL_DOUBLE ? 2 : 1; }
};
template <> struct order<curandStatePhilox4_32_10> {
    static constexpr unsigned sequences = 65536;
    static unsigned group(kind) { return 4; }
};
inline unsigned draws(kind what) { // 32-bit numbers for each
    return what == UNIFORM_DOUBLE || what == NORMAL_DOUBLE || what == LOG_NORMAL_DOUBLE ? 2 : 1;
}

template <typename State> void draw(State &state, const request &r, size_t i) {
    float *const f = static_cast<float *>(r.to) + i;
    double *const d = static_cast<double *>(r.to) + i;
    const float mean = static_cast<float>(r.mean), deviation = static_cast<float>(r.deviation);
    switch (r.what) {
    case INTEGERS: static_cast<unsigned *>(r.to)[i] = curand(&state); break;
    case UNIFORM: *f = curand_uniform(&state); break;
    case NORMAL: *f = mean + deviation * curand_normal(&state); break;
    case LOG_NORMAL: *f = curand_log_normal(&state, mean, deviation); break;
    case NORMAL_DOUBLE: *d = r.mean + r.deviation * curand_normal_double(&state); break;
    case LOG_NORMAL_DOUBLE: *d = curand_log_normal_double(&state, r.mean, r.deviation); break;
    case POISSON: static_cast<unsigned *>(r.to)[i] = curand_poisson(&state, r.mean); break;
    case UNIFORM_DOUBLE: const unsigned x = curand(&state), y = curand(&state); *d = uniform(x, y);
    }
}
template <typename State> void fill(const request &r, unsigned block) {
    constexpr unsigned long long all = order<State>::sequences;
    const unsigned group = order<State>::group(r.what);
    const unsigned long long begin = r.first / group, end = (r.first + r.count + group - 1) / group;
    for (unsigned s = block * TOGETHER; s < (block + 1) * TOGETHER; ++s) {
        unsigned long long g = begin + (s + all - begin % all) % all; // the first group of this subsequence
        if (g >= end) continue;
        State state;
        curand_init(r.seed, s, g / all * group * draws(r.what), &state);
        for (; g < end; g += all)
            for (unsigned k = 0; k < group; ++k) {
                const unsigned long long i = g * group + k;
                request one = r;
                double unused;
                if (i < r.first || i - r.first >= r.count) one.to = &unused;
                draw(state, one, one.to == r.to ? i - r.first : 0);
            }
    }
}
template <typename State> EMU_VISIBLE void fill_kernel(request r) {
    fill<State>(r, blockIdx.x);
}

} // namespace emu_rand

struct curandGenerator_st {
    bool is_xorwow, is_sobol, on_host;
    unsigned dimensions;
    unsigned long long seed, offset; // offset: in 32-bit numbers
    cudaStream_t stream;
};
typedef curandGenerator_st *curandGenerator_t;

namespace emu_rand {
template <typename State> curandStatus_t run(curandGenerator_t of, const request &r) {
    constexpr unsigned blocks = order<State>::sequences / TOGETHER;
    if (of->on_host) {
        for (unsigned block = 0; block < blocks; ++block) fill<State>(r, block);
        return CURAND_STATUS_SUCCESS;
    }
    const cudaLaunchConfig_t config = {dim3(blocks), dim3(1), 0, of->stream, nullptr, 0};
    return cudaLaunchKernelEx(&config, fill_kernel<State>, r) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                                                             : CURAND_STATUS_LAUNCH_FAILURE;
}
// One block of one thread for each dimension.
inline void fill_sobol(const request &r, unsigned dimension, size_t each) {
    curandStateSobol32 state;
    curand_init(sobol_vectors::all().of[dimension], static_cast<unsigned>(r.first), &state);
    float *const f = static_cast<float *>(r.to) + dimension * each;
    double *const d = static_cast<double *>(r.to) + dimension * each;
    for (size_t i = 0; i < each; ++i) switch (r.what) {
        case UNIFORM: f[i] = curand_uniform(&state); break;
        case UNIFORM_DOUBLE: d[i] = curand_uniform_double(&state); break;
        case NORMAL: f[i] = static_cast<float>(r.mean + r.deviation * curand_normal_double(&state)); break;
        case NORMAL_DOUBLE: d[i] = r.mean + r.deviation * curand_normal_double(&state); break;
        case LOG_NORMAL: f[i] = static_cast<float>(exp(r.mean + r.deviation * curand_normal_double(&state))); break;
        case LOG_NORMAL_DOUBLE: d[i] = exp(r.mean + r.deviation * curand_normal_double(&state)); break;
        default: static_cast<unsigned *>(r.to)[dimension * each + i] = curand(&state);
        }
}
EMU_VISIBLE inline void fill_sobol_kernel(request r, size_t each) {
    fill_sobol(r, blockIdx.x, each);
}
inline curandStatus_t generate_sobol(curandGenerator_t of, kind what, void *to, size_t count, double mean,
                                     double deviation) {
    if (count % of->dimensions) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (what == POISSON) return CURAND_STATUS_TYPE_ERROR;
    const size_t each = count / of->dimensions;
    const request r = {what, 0, of->offset, count, to, mean, deviation};
    of->offset += each;
    sobol_vectors::all(); // made by the host
    if (of->on_host) {
        for (unsigned dimension = 0; dimension < of->dimensions; ++dimension) fill_sobol(r, dimension, each);
        return CURAND_STATUS_SUCCESS;
    }
    const cudaLaunchConfig_t config = {dim3(of->dimensions), dim3(1), 0, of->stream, nullptr, 0};
    return cudaLaunchKernelEx(&config, fill_sobol_kernel, r, each) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                                                                  : CURAND_STATUS_LAUNCH_FAILURE;
}
inline curandStatus_t generate(curandGenerator_t of, kind what, void *to, size_t count, double mean = 0,
                               double deviation = 1) {
    if (!of) return CURAND_STATUS_NOT_INITIALIZED;
    if (of->is_sobol) return generate_sobol(of, what, to, count, mean, deviation);
    if (what >= NORMAL && what <= LOG_NORMAL_DOUBLE && count % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    const request r = {what, of->seed, of->offset / draws(what), count, to, mean, deviation};
    of->offset += count * draws(what);
    return of->is_xorwow ? run<curandStateXORWOW>(of, r) : run<curandStatePhilox4_32_10>(of, r);
}
inline curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool on_host) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    const bool is_sobol = type == CURAND_RNG_QUASI_DEFAULT || type == CURAND_RNG_QUASI_SOBOL32;
    if (type > CURAND_RNG_QUASI_SOBOL32 || type < CURAND_RNG_PSEUDO_DEFAULT) {
        fprintf(stderr, "curandCreateGenerator: of quasirandom generators, the emulator has Sobol's of 32 bits\n");
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = new curandGenerator_st{type <= CURAND_RNG_PSEUDO_XORWOW, is_sobol, on_host, 1, 0, 0, nullptr};
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t check(curandGenerator_t generator) {
    return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
} // namespace emu_rand

inline curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) {
    return emu_rand::create(generator, type, false);
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type) {
    return emu_rand::create(generator, type, true);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    delete generator;
    return emu_rand::check(generator);
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    if (generator) generator->stream = stream;
    return emu_rand::check(generator);
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
    if (generator) generator->seed = seed, generator->offset = 0;
    return emu_rand::check(generator);
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
    if (generator) generator->offset = offset;
    return emu_rand::check(generator);
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t) {
    return emu_rand::check(generator);
}
inline curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned dimensions) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (!generator->is_sobol) return CURAND_STATUS_TYPE_ERROR;
    if (dimensions < 1 || dimensions > emu_rand::SOBOL_DIMENSIONS) {
        fprintf(stderr, "curandSetQuasiRandomGeneratorDimensions: the emulator has %d dimensions, not %u\n",
                emu_rand::SOBOL_DIMENSIONS, dimensions);
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    generator->dimensions = dimensions;
    return CURAND_STATUS_SUCCESS;
}
// (The emulator has 21 dimensions.)
inline curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t *vectors[], curandDirectionVectorSet_t) {
    *vectors = emu_rand::sobol_vectors::all().of;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    return emu_rand::check(generator);
}
inline curandStatus_t curandGetVersion(int *version) {
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *to, size_t count) {
    return emu_rand::generate(generator, emu_rand::INTEGERS, to, count);
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *to, size_t count) {
    return emu_rand::generate(generator, emu_rand::UNIFORM, to, count);
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *to, size_t count) {
    return emu_rand::generate(generator, emu_rand::UNIFORM_DOUBLE, to, count);
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *to, size_t count, float mean,
                                           float deviation) {
    return emu_rand::generate(generator, emu_rand::NORMAL, to, count, mean, deviation);
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *to, size_t count, double mean,
                                                 double deviation) {
    return emu_rand::generate(generator, emu_rand::NORMAL_DOUBLE, to, count, mean, deviation);
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *to, size_t count, float mean,
                                              float deviation) {
    return emu_rand::generate(generator, emu_rand::LOG_NORMAL, to, count, mean, deviation);
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *to, size_t count,
                                                    double mean, double deviation) {
    return emu_rand::generate(generator, emu_rand::LOG_NORMAL_DOUBLE, to, count, mean, deviation);
}
inline curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned *to, size_t count, double mean) {
    return emu_rand::generate(generator, emu_rand::POISSON, to, count, mean);
}

#endif
