// The value of a texture read: from coordinates to elements, and from elements to a value. Where the programming
// guide's section "Texture Fetching" is silent, the rule was fitted to results of an H200 (some of them are in
// tests/data/texture_filter_h200.json).
//
//   x in elements    the coordinate. A normalized one is floored to 21 fractional bits (22 along an axis of more
//                    than 16384 elements), wrapped or mirrored, and multiplied by the axis's length. Element i covers
//                    [i, i + 1)
//   point filter     the element that contains x
//   linear filter    xB = x - 0.5, rounded to 256ths (to nearest, ties up); i = floor(xB), a = xB - i: T[i] and
//                    T[i + 1] have weights 256 - a and a, in 256ths
//   outside          clamp: the nearest element (xB is limited to the centers of the outermost elements); wrap,
//                    mirror: the element that they repeat there; border: the border's value
//
// Several axes: weights stay in 256ths and add up to 256. They are divided along z, then x, then y. When a weight is
// divided, one part is a product, rounded to nearest, ties up, and the other part is the remainder: weigh().
//
//   256 by z:  c | rest    each by x:  round(part * a) | rest      a right part by y:  round(part * b) | rest
//                                                                  a left part by y:   rest | round(part * (1 - b))
//
// A 1-D array is filtered like a 2-D array of one row that is read at y = 0: half of the weight belongs to row -1. If
// the address mode of y is border, this half is multiplied with the border's value.
//
// Floats, the sum: in each plane (z), elements with a nonzero weight are truncated towards zero to 28 bits below the
// power of two above the largest; their products and sum are then exact: plane_sum(). Of two planes, the smaller one
// is rounded down to a multiple of a power 2^(4k + 2), the first one at or below 36 bits under the larger's power:
// together(). The total is rounded once, to nearest, ties away from zero: rounded().
//
// Special floats: subnormal numbers count as zeros of the same sign, and a subnormal sum becomes such a zero. Zeros
// that are all negative give -0. Infinities and NaN give the result that IEEE 754 defines for their sum. They, and
// the signs of zeros, count if the element's weight along each axis is not 0, even if the product of these weights is
// rounded to 0.
//
// Halves: likewise, but with 15 bits below the power above the largest, the sum is rounded to a half, and subnormal
// halves keep their values, as elements and as results.
//
// Shares (8- and 16-bit integers that are read as floats): the products and their sum are exact integers. The sum is
// converted to 65535ths (signed: 32767ths), rounded once, ties up, and limited to -1 from below; only then it becomes
// a float. 8-bit sums are widened by repeating their bits: unsigned s + s / 2^8; signed s + s / 2^7 + s / 2^15, each
// rounded down to an eighth before the total is rounded: filtered_shares(). For both filters, the border's value is
// such an integer too: NaN is 0, values beyond the range are its ends, the product with the largest integer is
// computed as a float, and ties are rounded towards zero: border_number().
//
// This reproduces the H200's bits in all of 17,791,869 recorded reads of float32, 517,600 of shares and 19,165 of
// halves. Cases that were not recorded are guesses: ties between integers of a border (only three, positive, were
// recorded), a border with halves (taken unchanged), a sum that is rounded up to the smallest normal number (kept),
// and a NaN of halves under a point filter. The axis length from which a normalized coordinate has 22 bits is a guess
// too: recorded are 4097 elements, with 21 bits, and 30000, with 22.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "block.h"
#include "texture.h"

// --- elements ----------------------------------------------------------------------------------------------------
static float half_value(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                       : exponent     ? ldexpf((float)(1024 + fraction), exponent - 25)
                                      : ldexpf((float)fraction, -24);
    return bits >> 15 ? -size : size;
}

static int32_t whole(const emu_texture *t, const char *at, int channel) {
    int32_t wide;
    switch (t->format) {
    case EMU_SIGNED_8: return ((const int8_t *)at)[channel];
    case EMU_UNSIGNED_8: return ((const uint8_t *)at)[channel];
    case EMU_SIGNED_16: return ((const int16_t *)at)[channel];
    case EMU_UNSIGNED_16: return ((const uint16_t *)at)[channel];
    default: memcpy(&wide, at + 4 * channel, sizeof wide); return wide;
    }
}

// The integer that is read as 1.0; 0: elements are floats.
static int one_of(const emu_texture *t) {
    switch (t->format) {
    case EMU_SIGNED_8: return 127;
    case EMU_UNSIGNED_8: return 255;
    case EMU_SIGNED_16: return 32767;
    case EMU_UNSIGNED_16: return 65535;
    default: return 0;
    }
}

static int is_signed(const emu_texture *t) {
    return t->format == EMU_SIGNED_8 || t->format == EMU_SIGNED_16;
}

static double number(const emu_texture *t, const char *at, int channel) {
    float value;
    switch (t->format) {
    case EMU_FLOAT_32: memcpy(&value, at + 4 * channel, sizeof value); return value;
    case EMU_FLOAT_16: return half_value(((const uint16_t *)at)[channel]);
    default: return whole(t, at, channel);
    }
}

// The border's value as an element: of shares an integer, with ties rounded towards zero.
static double border_number(const emu_texture *t, int channel) {
    const float border = t->border[channel];
    const int one = one_of(t);
    if (one == 0) return border;
    if (isnan(border)) return 0;
    const float wide = fminf(fmaxf(border, is_signed(t) ? -1.0f : 0.0f), 1.0f) * (float)one;
    return copysign(ceil(fabs((double)wide) - 0.5), wide);
}

// --- coordinates -------------------------------------------------------------------------------------------------
// The coordinate in elements, limited to the range of an int. NaN becomes 0.
static double position(const emu_texture *t, int axis, float coordinate) {
    const double n = (double)t->extent[axis];
    double x = isnan(coordinate) ? 0 : (double)coordinate;
    if (t->normalized) {
        const double steps = t->extent[axis] > 16384 ? 0x1p22 : 0x1p21;
        x = floor(x * steps) / steps;
        if (t->address[axis] == cudaAddressModeWrap) {
            x = isinf(x) ? 0 : x - floor(x);
        } else if (t->address[axis] == cudaAddressModeMirror) {
            x = isinf(x) ? 0 : x - 2 * floor(x / 2); // element() does the mirroring
        }
        x *= n;
    }
    return fmin(fmax(x, -2), 2 * n + 2);
}

// The element's index along its axis; -1: the border.
static long element(const emu_texture *t, int axis, long i) {
    const long n = (long)t->extent[axis];
    if (i >= 0 && i < n) return i;
    switch (t->address[axis]) {
    case cudaAddressModeBorder: return -1;
    case cudaAddressModeWrap: return (i % n + n) % n;
    case cudaAddressModeMirror: i = (i % (2 * n) + 2 * n) % (2 * n); return i < n ? i : 2 * n - 1 - i;
    default: return i < 0 ? 0 : n - 1;
    }
}

typedef struct tap { // along one axis: the two elements that take part, and the second one's weight in 256ths
    long at[2];
    int second;
} tap;

static tap taps(const emu_texture *t, int axis, float coordinate) {
    const double x = position(t, axis, coordinate);
    const long half = 128, last = 256 * ((long)t->extent[axis] - 1);
    if (!t->linear) {
        const long i = element(t, axis, (long)floor(x));
        return (tap){{i, i}, 0};
    }
    long fixed = (long)floor(x * 256 + 0.5) - half;
    if (t->address[axis] == cudaAddressModeClamp) fixed = fixed < 0 ? 0 : fixed > last ? last : fixed;
    const long i = fixed >> 8;
    return (tap){{element(t, axis, i), element(t, axis, i + 1)}, (int)(fixed & 255)};
}

// --- values ------------------------------------------------------------------------------------------------------
// NULL: the border.
static const char *element_at(const emu_texture *t, const long at[3]) {
    if (at[0] < 0 || at[1] < 0 || at[2] < 0) return NULL;
    return t->data + (size_t)at[2] * t->slice + (size_t)at[1] * t->pitch + (size_t)at[0] * t->element;
}

static int share(int of, int part) {
    return (of * part + 128) >> 8;
}

// The weights of the eight elements in 256ths; element 4 z + 2 y + x.
static void weigh(const tap taps[3], int weights[8]) {
    const int a = taps[0].second, b = taps[1].second, c = taps[2].second;
    for (int z = 0; z < 2; z++) {
        const int plane = z ? c : 256 - c, right = share(plane, a), left = plane - right;
        int *of = &weights[4 * z];
        of[3] = share(right, b);
        of[1] = right - of[3];
        of[0] = share(left, 256 - b);
        of[2] = left - of[0];
    }
}

typedef struct sum {
    int64_t whole;
    int unit; // the exponent of its unit, a power of two; INT_MIN: an empty sum
} sum;

// The sum of a plane's four products. A value of weight 0 must be 0. Of each value, `bits` bits below the power of
// two above the largest value are kept.
static sum plane_sum(const double values[4], const int weights[4], int bits) {
    int top = INT_MIN; // all values are below 2^top
    for (int i = 0; i < 4; i++) {
        int above;
        if (frexp(values[i], &above) != 0 && above > top) top = above;
    }
    if (top == INT_MIN) return (sum){0, INT_MIN};
    int64_t whole = 0;
    for (int i = 0; i < 4; i++) whole += weights[i] * (int64_t)ldexp(values[i], bits - top);
    return (sum){whole, top - bits - 8}; // 8 bits for the weights
}

static sum together(sum a, sum b) {
    if (a.unit == INT_MIN) return b;
    if (b.unit == INT_MIN) return a;
    const sum high = a.unit > b.unit ? a : b, low = a.unit > b.unit ? b : a;
    const int finer = (high.unit - 2) & 3, unit = high.unit - finer, apart = unit - low.unit; // apart: -3 and more
    const int64_t kept = low.whole * 8 >> (apart < 60 ? apart + 3 : 63);
    return (sum){high.whole * (1 << finer) + kept, unit};
}

// Rounds to a float or half with `bits` significant bits, but no finer than 2^unit: to nearest, ties away from zero.
static float rounded(sum s, int bits, int unit) {
    if (s.whole == 0) return 0;
    int64_t size = s.whole < 0 ? -s.whole : s.whole;
    int exponent = s.unit;
    const int precision = ilogb((double)size) + 1 - bits, range = unit - exponent;
    const int beyond = precision > range ? precision : range;
    if (beyond > 0) {
        size = (size + ((int64_t)1 << (beyond - 1))) >> beyond;
        exponent += beyond;
    }
    return (float)ldexp(s.whole < 0 ? -(double)size : (double)size, exponent);
}

static float flushed(float value) {
    return fabsf(value) < FLT_MIN ? copysignf(0, value) : value;
}

static float filtered_floats(const double values[8], const int weights[8]) {
    double normal[8];
    for (int i = 0; i < 8; i++) normal[i] = flushed((float)values[i]);
    const sum s = together(plane_sum(normal, weights, 28), plane_sum(normal + 4, weights + 4, 28));
    return flushed(rounded(s, 24, INT_MIN / 2));
}

static float filtered_halves(const double values[8], const int weights[8]) {
    return rounded(together(plane_sum(values, weights, 15), plane_sum(values + 4, weights + 4, 15)), 11, -24);
}

static float filtered_shares(const emu_texture *t, const double values[8], const int weights[8]) {
    const int one = is_signed(t) ? 32767 : 65535;
    int total = 0;
    for (int i = 0; i < 8; i++) total += weights[i] * (int)values[i];
    switch (t->format) {
    case EMU_SIGNED_8: total = (8 * total + (total >> 4) + (total >> 12) + 4) >> 3; break;
    case EMU_UNSIGNED_8: total = (257 * total + 128) >> 8; break;
    default: total = (total + 128) >> 8;
    }
    return (float)((double)(total < -one ? -one : total) / one);
}

static float gpu_nan(const emu_texture *t) { // the NaN that a GPU returns
    const uint32_t bits = t->format == EMU_FLOAT_16 ? 0x7fffe000 : 0x7fffffff;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double value_at(const emu_texture *t, const long at[3], int channel) {
    const char *from = element_at(t, at);
    return from ? number(t, from, channel) : border_number(t, channel);
}

// Whether element 4 z + 2 y + x has a weight along each axis.
static int is_counted(const tap taps[3], int i) {
    return (!(i & 1) || taps[0].second) && (!(i & 2) || taps[1].second) && (!(i & 4) || taps[2].second);
}

static float filtered(const emu_texture *t, const tap taps[3], int channel) {
    int weights[8];
    double values[8], total = 0;
    int all_negative = 1;
    weigh(taps, weights);
    for (int i = 0; i < 8; i++) {
        const int x = i & 1, y = i >> 1 & 1, z = i >> 2;
        const long at[3] = {taps[0].at[x], taps[1].at[y], taps[2].at[z]};
        const int counts = is_counted(taps, i);
        const double value = counts ? value_at(t, at, channel) : 0;
        total += value;
        if (counts && !signbit(value)) all_negative = 0;
        values[i] = weights[i] ? value : 0;
    }
    if (one_of(t)) return filtered_shares(t, values, weights);
    if (isnan(total)) return gpu_nan(t);
    if (isinf(total)) return (float)total;
    const float value = (t->format == EMU_FLOAT_16 ? filtered_halves : filtered_floats)(values, weights);
    return value == 0 && all_negative ? -0.0f : value;
}

// The value under a point filter.
static float plain(const emu_texture *t, const long at[3], int channel) {
    const double value = value_at(t, at, channel);
    const int one = one_of(t);
    return (float)(one ? fmax(value / one, -1) : value);
}

static const char *problem(const emu_texture *t, int axes, int as_float, int channels) {
    if (t == NULL || t->is_surface) return "a read of a texture that never existed or has been destroyed";
    if ((axes & EMU_LAYERED) != (t->layers ? EMU_LAYERED : 0))
        return t->layers ? "a texture of a layered array can be read by layers only (tex2DLayered, texCubemap)"
                         : "a read of a layer from a texture that has none";
    axes &= ~EMU_LAYERED;
    if (axes != t->axes)
        return axes == 0 ? "tex1Dfetch of a texture that is not linear memory"
               : t->axes == 0
                   ? "a texture of linear memory can be read with tex1Dfetch only"
                   : "a texture read whose number of coordinates differs from the texture's number of axes";
    if (as_float != t->gives_float)
        return as_float ? "a read of floats from a texture of integers"
                        : "a read of integers from a texture of floats";
    return channels > t->channels ? "a read of more channels than the texture has" : NULL;
}

// Reports the elements that the filter takes into account.
static __attribute__((noinline)) void tell(const emu_texture *t, const tap taps[3], const char *file, int line) {
    const emu_where where = emu_tool_where(emu_current, file, line, NULL);
    uint64_t number = 0;
    for (int i = 0; i < (t->linear ? 8 : 1); i++) {
        const int x = i & 1, y = i >> 1 & 1, z = i >> 2;
        const long at[3] = {taps[0].at[x], taps[1].at[y], taps[2].at[z]};
        const char *element = is_counted(taps, i) ? element_at(t, at) : NULL;
        if (element) emu_tool_access(&where, element, t->element, EMU_READS, EMU_BY_TEXTURE, number++);
    }
}

void emu_texture_read(uint64_t texture, int axes, const float *at, int index, int as_float, int channels,
                      uint32_t words[4], const char *file, int line) {
    const emu_texture *t = emu_find_texture(texture);
    const char *wrong = problem(t, axes, as_float, channels);
    if (wrong) emu_fail(wrong, file, line);
    emu_texture layer;
    if (axes & EMU_LAYERED) {
        const long last = (long)t->layers - 1;
        layer = *t;
        layer.data += (size_t)(index < 0 ? 0 : index > last ? last : index) * t->slice;
        t = &layer;
        axes &= ~EMU_LAYERED;
    }
    tap all[3] = {{{0, 0}, 0}, {{0, 0}, 0}, {{0, 0}, 0}};
    if (axes == 0) all[0].at[0] = index >= 0 && (size_t)index < t->extent[0] ? index : -1; // outside is 0
    for (int axis = 0; axis < axes; axis++) all[axis] = taps(t, axis, at[axis]);
    if (axes == 1) all[1] = taps(t, 1, 0);
    const long first[3] = {all[0].at[0], all[1].at[0], all[2].at[0]};
    if (EMU_UNLIKELY(emu_current->tool != NULL)) tell(t, all, file, line);
    for (int channel = 0; channel < channels; channel++) {
        if (as_float) {
            const float value = t->linear                   ? filtered(t, all, channel)
                                : axes == 0 && first[0] < 0 ? 0
                                                            : plain(t, first, channel);
            memcpy(&words[channel], &value, sizeof value);
        } else {
            const char *from = element_at(t, first);
            words[channel] = from ? (uint32_t)whole(t, from, channel) : 0;
        }
    }
}

// --- surfaces -----------------------------------------------------------------------------------------------------
void *emu_surface_at(uint64_t surface, int axes, int x, int y, int z, size_t bytes, int mode, const char *file,
                     int line) {
    const emu_texture *t = emu_find_texture(surface);
    if (!t || !t->is_surface) emu_fail("an access to a surface that never existed or has been destroyed", file, line);
    if ((axes & ~EMU_LAYERED) != t->axes || !(axes & EMU_LAYERED) != !t->layers)
        emu_fail("an access to a surface with another number of coordinates than it has", file, line);
    if (x % (int)bytes)
        emu_fail("an access to a surface where x, in bytes, is not a multiple of the size", file, line);
    const size_t width = t->extent[0] * t->element, planes = t->layers ? t->layers : t->extent[2];
    const int outside =
        x < 0 || (size_t)x + bytes > width || y < 0 || (size_t)y >= t->extent[1] || z < 0 || (size_t)z >= planes;
    if (outside && mode == cudaBoundaryModeTrap) emu_fail("an access outside of a surface", file, line);
    if (outside && mode == cudaBoundaryModeZero) return NULL;
    const long at[3] = {x, y, z}, last[3] = {(long)(width - bytes), (long)t->extent[1] - 1, (long)planes - 1};
    size_t place[3];
    for (int i = 0; i < 3; i++) place[i] = (size_t)(at[i] < 0 ? 0 : at[i] > last[i] ? last[i] : at[i]);
    return (char *)(uintptr_t)t->data + place[2] * t->slice + place[1] * t->pitch + place[0];
}
