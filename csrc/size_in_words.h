// A number of bytes for messages, in one unit for all of them: both sides of the seam include this file.
#ifndef CK_SIZE_IN_WORDS_H
#define CK_SIZE_IN_WORDS_H

#include <stddef.h>
#include <stdio.h>

typedef struct ck_words {
    char text[32];
} ck_words;

// Bytes below 1 MiB; MiB, GiB and TiB each up to 10,240 of them.
static inline ck_words ck_size_in_words(size_t bytes) {
    static const char *const UNITS[] = {"MiB", "GiB", "TiB"};
    ck_words words;
    double amount = (double)bytes / (1 << 20);
    int unit = 0;
    for (; amount > 10240 && unit < 2; unit++) amount /= 1024;
    if (bytes < 1 << 20)
        snprintf(words.text, sizeof words.text, "%zu bytes", bytes);
    else
        snprintf(words.text, sizeof words.text, "%.1f %s", amount, UNITS[unit]);
    return words;
}
#endif
