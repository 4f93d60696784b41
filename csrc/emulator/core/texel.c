// What a texture read gives: coordinates to elements, elements to a value, as the programming guide's "Texture
// Fetching" has it.
//
//   coordinate --normalised: wrap or mirror, times the axis' length--> x in elements; element i is [i, i + 1)
//   point filter     the element that holds x
//   linear filter    xB = x - 0.5 with 8 bits after the point, to nearest; i = floor(xB), a = xB - i;
//                    (1 - a) * T[i] + a * T[i + 1], in each axis; the sum is rounded once here
//   outside          clamp: the nearest element; wrap, mirror: the element there; border: the border's value
//
// How a chip rounds a coordinate to 8 bits, and the sum, is not documented: where coordinates are whole 256ths and every
// product and sum is exact (small integers), results are the same bits on both sides; elsewhere by one weight at most,
// and in the last places.
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

// As a float: itself, or an integer's share of its type's largest.
static double number(const emu_texture *t, const char *at, int channel) {
    float value;
    double share;
    switch (t->format) {
    case EMU_FLOAT_32: memcpy(&value, at + 4 * channel, sizeof value); return value;
    case EMU_FLOAT_16: return half_value(((const uint16_t *)at)[channel]);
    case EMU_SIGNED_8: share = whole(t, at, channel) / 127.0; break;
    case EMU_UNSIGNED_8: share = whole(t, at, channel) / 255.0; break;
    case EMU_SIGNED_16: share = whole(t, at, channel) / 32767.0; break;
    default: share = whole(t, at, channel) / 65535.0;
    }
    return share < -1 ? -1 : share;
}

// --- coordinates -------------------------------------------------------------------------------------------------
// In elements, within what an int holds; a coordinate that is no number is 0.
static double place(const emu_texture *t, int axis, float coordinate) {
    const double n = (double)t->extent[axis];
    double x = isnan(coordinate) ? 0 : (double)coordinate;
    if (t->normalized) {
        if (t->address[axis] == cudaAddressModeWrap) {
            x = isinf(x) ? 0 : x - floor(x);
        } else if (t->address[axis] == cudaAddressModeMirror) {
            x = isinf(x) ? 0 : x - 2 * floor(x / 2);
            if (x > 1) x = 2 - x;
        }
        x *= n;
    }
    return fmin(fmax(x, -2), n + 2);
}

// The element's place in its axis, or -1: the border.
static long element(const emu_texture *t, int axis, long i) {
    const long n = (long)t->extent[axis];
    if (i >= 0 && i < n) return i;
    switch (t->address[axis]) {
    case cudaAddressModeBorder: return -1;
    case cudaAddressModeWrap: return (i % n + n) % n;
    default: return i < 0 ? 0 : n - 1; // a mirror at the edge shows the element at the edge
    }
}

typedef struct tap { // what of an axis takes part, with weights in 256ths
    long at[2];
    int weight[2], count;
} tap;

static tap taps(const emu_texture *t, int axis, float coordinate) {
    const double x = place(t, axis, coordinate);
    if (!t->linear) return (tap){{element(t, axis, (long)floor(x)), 0}, {256, 0}, 1};
    const long fixed = lrint(x * 256) - 128, i = fixed >> 8;
    const int weight = (int)(fixed & 255);
    return (tap){{element(t, axis, i), element(t, axis, i + 1)}, {256 - weight, weight}, 2};
}

// --- values ------------------------------------------------------------------------------------------------------
// NULL: the border.
static const char *element_at(const emu_texture *t, const long at[3]) {
    if (at[0] < 0 || at[1] < 0 || at[2] < 0) return NULL;
    return t->data + (size_t)at[2] * t->slice + (size_t)at[1] * t->pitch + (size_t)at[0] * t->element;
}

static double filtered(const emu_texture *t, const tap taps[3], int channel) {
    double sum = 0;
    for (int z = 0; z < taps[2].count; z++)
        for (int y = 0; y < taps[1].count; y++)
            for (int x = 0; x < taps[0].count; x++) {
                const int weight = taps[2].weight[z] * taps[1].weight[y] * taps[0].weight[x];
                if (weight == 0) continue; // nothing of it, be it infinite
                const char *from = element_at(t, (const long[3]){taps[0].at[x], taps[1].at[y], taps[2].at[z]});
                sum += weight * (from ? number(t, from, channel) : (double)t->border[channel]);
            }
    return sum / (256.0 * 256 * 256);
}

static const char *problem(const emu_texture *t, int axes, int as_float, int channels) {
    if (t == NULL) return "a read of a texture that never was, or that was destroyed";
    if (axes != t->axes)
        return axes == 0      ? "tex1Dfetch of a texture that is not linear memory"
               : t->axes == 0 ? "a texture of linear memory is read by tex1Dfetch alone"
                              : "a texture read with another number of coordinates than the texture has axes";
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
    tap all[3] = {{{0, 0}, {256, 0}, 1}, {{0, 0}, {256, 0}, 1}, {{0, 0}, {256, 0}, 1}};
    if (axes == 0) all[0].at[0] = index >= 0 && (size_t)index < t->extent[0] ? index : -1; // outside is 0
    for (int axis = 0; axis < axes; axis++) all[axis] = taps(t, axis, at[axis]);
    for (int channel = 0; channel < channels; channel++) {
        if (as_float) {
            const float value = axes == 0 && all[0].at[0] < 0 ? 0 : (float)filtered(t, all, channel);
            memcpy(&words[channel], &value, sizeof value);
        } else {
            const char *from = element_at(t, (const long[3]){all[0].at[0], all[1].at[0], all[2].at[0]});
            words[channel] = from ? (uint32_t)whole(t, from, channel) : 0;
        }
    }
}
