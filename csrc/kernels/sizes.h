// Arithmetic of sizes, for plans. Sizes are not negative.
#ifndef CK_SIZES_H
#define CK_SIZES_H

#include <stdint.h>

inline int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

inline int64_t divide_up(int64_t n, int64_t by) {
    return n / by + (n % by != 0);
}

// INT64_MAX if the product is larger: a question may be about an array that does not fit in any memory.
inline int64_t product(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

#endif
