// CUDA's vector types: two to four adjacent numbers, aligned so that 8 and 16 bytes are one access. Also for C.
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

// The alignments are CUDA's (vectors of 3 have their element's alignment). They determine the layout of structs.
#define EMU_VECTORS(name, type, align1, align2, align4)                                                              \
    typedef struct __attribute__((aligned(align1))) name##1 {                                                        \
        type x;                                                                                                      \
    }                                                                                                                \
    name##1;                                                                                                         \
    typedef struct __attribute__((aligned(align2))) name##2 {                                                        \
        type x, y;                                                                                                   \
    }                                                                                                                \
    name##2;                                                                                                         \
    typedef struct name##3 {                                                                                         \
        type x, y, z;                                                                                                \
    }                                                                                                                \
    name##3;                                                                                                         \
    typedef struct __attribute__((aligned(align4))) name##4 {                                                        \
        type x, y, z, w;                                                                                             \
    }                                                                                                                \
    name##4;

EMU_VECTORS(char, signed char, 1, 2, 4)
EMU_VECTORS(uchar, unsigned char, 1, 2, 4)
EMU_VECTORS(short, short, 2, 4, 8)
EMU_VECTORS(ushort, unsigned short, 2, 4, 8)
EMU_VECTORS(int, int, 4, 8, 16)
EMU_VECTORS(uint, unsigned int, 4, 8, 16)
EMU_VECTORS(long, long, 8, 16, 16)
EMU_VECTORS(ulong, unsigned long, 8, 16, 16)
EMU_VECTORS(longlong, long long, 8, 16, 16)
EMU_VECTORS(ulonglong, unsigned long long, 8, 16, 16)
EMU_VECTORS(float, float, 4, 8, 16)
EMU_VECTORS(double, double, 8, 16, 16)
#undef EMU_VECTORS

// CUDA 13's vectors of four 8-byte numbers, whose names say how they are aligned.
#define EMU_VECTORS(name, type, suffix, align)                                                                       \
    typedef struct __attribute__((aligned(align))) name##4_##suffix {                                                \
        type x, y, z, w;                                                                                             \
    }                                                                                                                \
    name##4_##suffix;
#define EMU_VECTORS_OF_8(define)                                                                                     \
    define(long, long, 16a, 16) define(ulong, unsigned long, 16a, 16) define(longlong, long long, 16a, 16)           \
        define(ulonglong, unsigned long long, 16a, 16) define(double, double, 16a, 16) define(long, long, 32a, 32)   \
            define(ulong, unsigned long, 32a, 32) define(longlong, long long, 32a, 32)                               \
                define(ulonglong, unsigned long long, 32a, 32) define(double, double, 32a, 32)
EMU_VECTORS_OF_8(EMU_VECTORS)
#undef EMU_VECTORS

// Sizes of grids and blocks; omitted sizes are 1. The constructor is constexpr, so that a thread-local dim3 needs no
// initialization at run time.
typedef struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 sizes) : x(sizes.x), y(sizes.y), z(sizes.z) {}
    constexpr operator uint3() const {
        return uint3{x, y, z};
    }
#endif
} dim3;

#endif
