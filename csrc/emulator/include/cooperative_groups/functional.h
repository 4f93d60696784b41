// The operations of reduce() and the scans.
#ifndef EMULATOR_COOPERATIVE_GROUPS_FUNCTIONAL_H
#define EMULATOR_COOPERATIVE_GROUPS_FUNCTIONAL_H

#include "../cooperative_groups.h"

#define EMU_OPERATION(name, result)                                                                                  \
    template <typename T> struct name {                                                                              \
        __device__ T operator()(T x, T y) const { return result; }                                                   \
    };
namespace cooperative_groups {
EMU_OPERATION(plus, x + y)
EMU_OPERATION(less, y < x ? y : x)
EMU_OPERATION(greater, x < y ? y : x)
EMU_OPERATION(bit_and, x &y)
EMU_OPERATION(bit_or, x | y)
EMU_OPERATION(bit_xor, x ^ y)
} // namespace cooperative_groups
#undef EMU_OPERATION

#endif
