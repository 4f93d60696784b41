// make_float4(x, y, z, w) and similar functions for every vector type. Also for C.
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define EMU_MAKE static inline __attribute__((unused, always_inline))
#define EMU_MAKERS(name, type)                                                                                       \
    EMU_MAKE name##1 make_##name##1(type x) {                                                                        \
        name##1 v = {x};                                                                                             \
        return v;                                                                                                    \
    }                                                                                                                \
    EMU_MAKE name##2 make_##name##2(type x, type y) {                                                                \
        name##2 v = {x, y};                                                                                          \
        return v;                                                                                                    \
    }                                                                                                                \
    EMU_MAKE name##3 make_##name##3(type x, type y, type z) {                                                        \
        name##3 v = {x, y, z};                                                                                       \
        return v;                                                                                                    \
    }                                                                                                                \
    EMU_MAKE name##4 make_##name##4(type x, type y, type z, type w) {                                                \
        name##4 v = {x, y, z, w};                                                                                    \
        return v;                                                                                                    \
    }

EMU_MAKERS(char, signed char)
EMU_MAKERS(uchar, unsigned char)
EMU_MAKERS(short, short)
EMU_MAKERS(ushort, unsigned short)
EMU_MAKERS(int, int)
EMU_MAKERS(uint, unsigned int)
EMU_MAKERS(long, long)
EMU_MAKERS(ulong, unsigned long)
EMU_MAKERS(longlong, long long)
EMU_MAKERS(ulonglong, unsigned long long)
EMU_MAKERS(float, float)
EMU_MAKERS(double, double)
#undef EMU_MAKERS
#define EMU_MAKERS(name, type, suffix, align)                                                                        \
    EMU_MAKE name##4_##suffix make_##name##4_##suffix(type x, type y, type z, type w) {                              \
        name##4_##suffix v = {x, y, z, w};                                                                           \
        return v;                                                                                                    \
    }
EMU_VECTORS_OF_8(EMU_MAKERS)
#undef EMU_MAKERS
#undef EMU_MAKE

#endif
