// CUDA's complex numbers of floats and doubles, for host and kernels. Also for C.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_functions.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// `f` is the suffix of the functions' names.
#define EMU_COMPLEX(C, T, f, hypotenuse)                                                                             \
    static inline __attribute__((unused)) C make_##C(T real, T imaginary) {                                          \
        C z = {real, imaginary};                                                                                     \
        return z;                                                                                                    \
    }                                                                                                                \
    static inline __attribute__((unused)) T cuCreal##f(C z) {                                                        \
        return z.x;                                                                                                  \
    }                                                                                                                \
    static inline __attribute__((unused)) T cuCimag##f(C z) {                                                        \
        return z.y;                                                                                                  \
    }                                                                                                                \
    static inline __attribute__((unused)) C cuConj##f(C z) {                                                         \
        return make_##C(z.x, -z.y);                                                                                  \
    }                                                                                                                \
    static inline __attribute__((unused)) C cuCadd##f(C a, C b) {                                                    \
        return make_##C(a.x + b.x, a.y + b.y);                                                                       \
    }                                                                                                                \
    static inline __attribute__((unused)) C cuCsub##f(C a, C b) {                                                    \
        return make_##C(a.x - b.x, a.y - b.y);                                                                       \
    }                                                                                                                \
    static inline __attribute__((unused)) C cuCmul##f(C a, C b) {                                                    \
        return make_##C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                               \
    }                                                                                                                \
    static inline __attribute__((unused)) C cuCfma##f(C a, C b, C c) {                                               \
        return cuCadd##f(cuCmul##f(a, b), c);                                                                        \
    }                                                                                                                \
    /* Both are divided by the size of b first, so that no square overflows: by reciprocals, as on a GPU. */         \
    static inline __attribute__((unused)) C cuCdiv##f(C a, C b) {                                                    \
        const T scale = 1 / ((b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y)), ar = a.x * scale, ai = a.y * scale;   \
        const T br = b.x * scale, bi = b.y * scale, inverse = 1 / (br * br + bi * bi);                               \
        return make_##C((ar * br + ai * bi) * inverse, (ai * br - ar * bi) * inverse);                               \
    }                                                                                                                \
    static inline __attribute__((unused)) T cuCabs##f(C z) {                                                         \
        return hypotenuse(z.x, z.y);                                                                                 \
    }
EMU_COMPLEX(cuFloatComplex, float, f, hypotf)
EMU_COMPLEX(cuDoubleComplex, double, , hypot)
#undef EMU_COMPLEX

#define make_cuComplex make_cuFloatComplex
static inline __attribute__((unused)) cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
    return make_cuDoubleComplex(z.x, z.y);
}
static inline __attribute__((unused)) cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
    return make_cuFloatComplex((float)z.x, (float)z.y);
}

#endif
