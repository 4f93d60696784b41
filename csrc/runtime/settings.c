// Environment variables with a number.
#include <errno.h>
#include <stdlib.h>

#include "state.h"

int ck_setting(const char *name, int64_t least, int64_t most, int64_t *value, ck_error *error) {
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') return CK_OK;
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift > 0) end++;
    if (end == text || *end != '\0' || errno != 0 || __builtin_mul_overflow(number, 1LL << shift, &number) ||
        number < least || number > most)
        return ck_fail(error, CK_BAD_VALUE,
                       "the environment variable %s must be an integer from %lld to %lld%s, not \"%.60s\"", name,
                       (long long)least, (long long)most, most >= 1 << 20 ? ", such as 64M" : "", text);
    *value = number;
    return CK_OK;
}
