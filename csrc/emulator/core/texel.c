// What a texture read gives: coordinates to elements, elements to a value. Where the programming guide's "Texture
// Fetching" is silent, the rule was fitted to the answers of an H200 (tests/data/texture_filter_h200.json has some).
//
//   x in elements    the coordinate; a normalised one is wrapped or mirrored, times the axis' length (first floored
//                    to 21 bits after the point, 22 in an axis of more than 16384 elements); element i is [i, i + 1)
//   point filter     the element that holds x
//   linear filter    xB = x - 0.5 in 256ths, to nearest, halves up; i = floor(xB), a = xB - i: T[i] and T[i + 1] have
//                    weights 256 - a and a
//   outside          clamp: the nearest element (xB stops at the edges' middles); wrap, mirror: the element there;
//                    border: the border's value
//
// More axes: weights stay in 256ths and add to 256. They are divided along z, then x, then y; of each part one side
// is a product, to nearest, halves up, and the other side is what is left: weigh().
//
//   256  z:  c | left      each by x:  round(part * a) | left      a right part by y:  round(part * b) | left
//                                                                  a left part by y:   left | round(part * (1 - b))
//
// A 1-D array is filtered as a 2-D one of one row, read at y = 0: half the weight lies on row -1. Where y's mode is
// border, that half is the border's.
//
// Floats, their sum: in each plane (z) the elements with a weight lose, towards zero, what lies 28 bits below the power
// of two above the largest; their products and sum are exact: plane_sum(). Of two planes the smaller loses, downwards,
// what lies below a power 2^(4k + 2), the first one from 36 bits below the larger's power on down: together(). The
// whole is rounded once, to nearest, halves away from zero: rounded().
//
// Special floats: numbers below the normal range count as zeros of their sign, and a sum there becomes one; zeros that
// are all negative give -0. Infinities and NaN give what IEEE 754 says of their sum. They and zeros' signs count where
// each axis' own weight does, though their product be rounded to none.
//
// Halves: likewise, but 15 bits below the power above the largest are kept, the sum is rounded to a half, and numbers
// below the halves' normal range count and are given in full.
//
// Shares (8- and 16-bit integers read as floats): the products and their sum are exact integers. The sum becomes
// 65535ths (signed: 32767ths), is rounded once, halves up, and cut off at -1; only that becomes a float. 8 bits are
// widened by repeating them: unsigned s + s / 2^8; signed s + s / 2^7 + s / 2^15, each to an eighth, downwards, before
// the whole is rounded: filtered_shares(). The border's value is such an integer too, for either filter: NaN is 0, what
// is beyond the range its end, the product with the largest a float, its halves towards zero: border_number().
//
// All this gives the H200's bits in all of 17,791,869 recorded reads of float32, 517,600 of shares and 19,165 of
// halves. Not recorded, so guessed: halves between integers of a border (three, positive, were seen), a border among
// halves (as it is), a sum that is rounded up to the smallest normal number (kept), a point filter's NaN among halves.
// Where the bits of a normalised coordinate become 22 is a guess too: 4097 elements have 21 and 30000 have 22.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "device_core.h"
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

// The integer whose share is 1; 0: elements are floats.
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

// As an element: among shares an integer, halves towards zero.
static double border_number(const emu_texture *t, int channel) {
    const float border = t->border[channel];
    const int one = one_of(t);
    if (one == 0) return border;
    if (isnan(border)) return 0;
    const float wide = fminf(fmaxf(border, is_signed(t) ? -1.0f : 0.0f), 1.0f) * (float)one;
    return copysign(ceil(fabs((double)wide) - 0.5), wide);
}

// --- coordinates -------------------------------------------------------------------------------------------------
// In elements, within what an int holds; a coordinate that is no number is 0.
static double place(const emu_texture *t, int axis, float coordinate) {
    const double n = (double)t->extent[axis];
    double x = isnan(coordinate) ? 0 : (double)coordinate;
    if (t->normalized) {
        const double steps = t->extent[axis] > 16384 ? 0x1p22 : 0x1p21;
        x = floor(x * steps) / steps;
        if (t->address[axis] == cudaAddressModeWrap) {
            x = isinf(x) ? 0 : x - floor(x);
        } else if (t->address[axis] == cudaAddressModeMirror) {
            x = isinf(x) ? 0 : x - 2 * floor(x / 2); // element() mirrors
        }
        x *= n;
    }
    return fmin(fmax(x, -2), 2 * n + 2);
}

// The element's place in its axis, or -1: the border.
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

typedef struct tap { // what of an axis takes part: two elements, and the second one's weight in 256ths
    long at[2];
    int second;
} tap;

static tap taps(const emu_texture *t, int axis, float coordinate) {
    const double x = place(t, axis, coordinate);
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

// What each of the eight elements weighs, in 256ths; element 4 z + 2 y + x.
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
    int unit; // its power of two; INT_MIN: nothing was added
} sum;

// Of a plane's four products; a value without a weight is 0; `bits` are kept below the power above the largest.
static sum plane_sum(const double values[4], const int weights[4], int bits) {
    int top = INT_MIN; // all are below 2^top
    for (int i = 0; i < 4; i++) {
        int above;
        if (frexp(values[i], &above) != 0 && above > top) top = above;
    }
    if (top == INT_MIN) return (sum){0, INT_MIN};
    int64_t whole = 0;
    for (int i = 0; i < 4; i++) whole += weights[i] * (int64_t)ldexp(values[i], bits - top);
    return (sum){whole, top - bits - 8}; // 8 of the weights
}

static sum together(sum a, sum b) {
    if (a.unit == INT_MIN) return b;
    if (b.unit == INT_MIN) return a;
    const sum high = a.unit > b.unit ? a : b, low = a.unit > b.unit ? b : a;
    const int finer = (high.unit - 2) & 3, unit = high.unit - finer, apart = unit - low.unit; // apart: -3 and more
    const int64_t kept = low.whole * 8 >> (apart < 60 ? apart + 3 : 63);
    return (sum){high.whole * (1 << finer) + kept, unit};
}

// To a float, or a half, of so many bits and no finer than `unit`: to nearest, halves away from zero.
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

static float no_number(const emu_texture *t) { // the one that a GPU makes
    const uint32_t bits = t->format == EMU_FLOAT_16 ? 0x7fffe000 : 0x7fffffff;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double value_at(const emu_texture *t, const long at[3], int channel) {
    const char *from = element_at(t, at);
    return from ? number(t, from, channel) : border_number(t, channel);
}

static float filtered(const emu_texture *t, const tap taps[3], int channel) {
    int weights[8];
    double values[8], total = 0;
    int all_negative = 1;
    weigh(taps, weights);
    for (int i = 0; i < 8; i++) {
        const int x = i & 1, y = i >> 1 & 1, z = i >> 2;
        const long at[3] = {taps[0].at[x], taps[1].at[y], taps[2].at[z]};
        const int counts = (!x || taps[0].second) && (!y || taps[1].second) && (!z || taps[2].second);
        const double value = counts ? value_at(t, at, channel) : 0;
        total += value;
        if (counts && !signbit(value)) all_negative = 0;
        values[i] = weights[i] ? value : 0;
    }
    if (one_of(t)) return filtered_shares(t, values, weights);
    if (isnan(total)) return no_number(t);
    if (isinf(total)) return (float)total;
    const float value = (t->format == EMU_FLOAT_16 ? filtered_halves : filtered_floats)(values, weights);
    return value == 0 && all_negative ? -0.0f : value;
}

// By a point filter.
static float plain(const emu_texture *t, const long at[3], int channel) {
    const double value = value_at(t, at, channel);
    const int one = one_of(t);
    return (float)(one ? fmax(value / one, -1) : value);
}

static const char *problem(const emu_texture *t, int axes, int as_float, int channels) {
    if (t == NULL) return "a read of a texture that never existed or has been destroyed";
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

void emu_texture_read(uint64_t texture, int axes, const float *at, int index, int as_float, int channels,
                      uint32_t words[4], const char *file, int line) {
    const emu_texture *t = emu_find_texture(texture);
    const char *wrong = problem(t, axes, as_float, channels);
    if (wrong) emu_fail(wrong, file, line);
    tap all[3] = {{{0, 0}, 0}, {{0, 0}, 0}, {{0, 0}, 0}};
    if (axes == 0) all[0].at[0] = index >= 0 && (size_t)index < t->extent[0] ? index : -1; // outside is 0
    for (int axis = 0; axis < axes; axis++) all[axis] = taps(t, axis, at[axis]);
    if (axes == 1) all[1] = taps(t, 1, 0);
    const long first[3] = {all[0].at[0], all[1].at[0], all[2].at[0]};
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
