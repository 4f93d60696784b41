// Settings: initial values from environment variables, changes by emu_configure().
//
//   CUDAKERN_EMULATOR_DEVICES=2  --.
//   CUDAKERN_EMULATOR_MEMORY=1G  --+--> emu_config (immutable) <--- emu_current_config(): one atomic load
//   emu_configure("order", ...)  --'
//
// Invariant: a published emu_config never changes and is never freed, so a grid can read it without a lock. Each
// change publishes a new one. emu_configure() waits for running work, so a setting affects only work that starts
// later.
#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct snapshot {
    emu_config config;
    struct snapshot *older; // keeps old snapshots reachable, so that leak checkers do not report them
} snapshot;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static snapshot first; // static, so that settings exist even when memory is exhausted
static _Atomic(snapshot *) current;
static atomic_llong failing_in;            // number of allocations until one fails; 0: none fails
static char problem[256], problem_key[24]; // the message on a malformed environment variable, and its setting
static atomic_int has_problem;

static const char *const KEYS[] = {"devices", "memory", "chip",  "order",
                                   "workers", "stack",  "print", "fail_allocation"};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

// Accepts "1048576", "64K", "64MiB", "2 GB", ...; the units are powers of 1024.
size_t emu_parse_size(const char *text, int *ok) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    *ok = end != text && !errno && !strchr(text, '-');
    while (*end == ' ') end++;
    static const char UNITS[] = "kmgt";
    const char *unit = *end ? strchr(UNITS, *end | 0x20) : NULL;
    int shift = unit ? 10 * (int)(unit - UNITS + 1) : 0;
    if (unit) end++;
    if (unit && *end == 'i') end++;
    if (*end == 'B' || *end == 'b') end++;
    if (*end || (shift && number >> (64 - shift))) *ok = 0;
    return (size_t)(number << shift);
}

static int parse_count(const char *text, long long low, long long high, long long *value) {
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *value >= low && *value <= high;
}

static char chip_names[160]; // filled by start()

// Stores one setting in `config`. Returns NULL, a description of the allowed values, or "" for an unknown key.
static const char *apply(emu_config *config, const char *key, const char *value) {
    long long count = 0;
    int ok;
    if (!strcmp(key, "devices")) {
        if (!parse_count(value, 0, EMU_MAX_DEVICES, &count)) return "an integer from 0 to 64";
        config->devices = (int)count;
    } else if (!strcmp(key, "memory")) {
        size_t bytes = emu_parse_size(value, &ok);
        if (!ok)
            return "a size in bytes such as 1048576, 64M or 2G, or 0 (the chip's memory, as far as this computer has "
                   "it)";
        config->memory = bytes;
    } else if (!strcmp(key, "chip")) {
        const emu_chip *chip = emu_find_chip(value);
        if (!chip) return chip_names;
        snprintf(config->chip, sizeof config->chip, "%s", chip->name);
    } else if (!strcmp(key, "order")) {
        if (!strcmp(value, "fixed")) {
            config->order = EMU_ORDER_FIXED;
        } else if (!strcmp(value, "reversed")) {
            config->order = EMU_ORDER_REVERSED;
        } else if (!strncmp(value, "seed:", 5) && parse_count(value + 5, 0, INT64_MAX, &count)) {
            config->order = EMU_ORDER_SEEDED;
            config->seed = (uint64_t)count;
        } else {
            return "fixed, reversed or seed:N, where N is an integer from 0";
        }
    } else if (!strcmp(key, "workers")) {
        if (!parse_count(value, 0, 1024, &count)) return "an integer from 0 (one per core) to 1024";
        config->workers = (int)count;
    } else if (!strcmp(key, "stack")) {
        size_t bytes = emu_parse_size(value, &ok);
        if (!ok || (bytes && bytes < (16u << 10)) || bytes > (64u << 20))
            return "a size in bytes from 16K to 64M, or 0 (the default)";
        config->stack_bytes = bytes;
    } else if (!strcmp(key, "print")) {
        if (!parse_count(value, 0, 1, &count)) return "0 or 1";
        config->silent = !count;
    } else if (!strcmp(key, "fail_allocation")) {
        if (!parse_count(value, 0, INT64_MAX, &count))
            return "an integer n from 0 (the n-th device allocation from now fails; 0: none)";
        config->fail_allocation = count;
        atomic_store(&failing_in, count);
    } else {
        return "";
    }
    return NULL;
}

static void publish(const emu_config *config) {
    snapshot *fresh = malloc(sizeof *fresh);
    if (!fresh) return; // out of memory: the old settings remain
    fresh->config = *config;
    fresh->older = atomic_load(&current);
    atomic_store(&current, fresh);
}

// Reads CUDAKERN_EMULATOR_DEVICES and the other variables. A malformed one is not ignored: every call that needs a
// device fails with an explanation until emu_configure() sets that key.
static void start(void) {
    emu_config config = {.devices = 1, .chip = "H200"};
    emu_list_chips(chip_names, sizeof chip_names);
    for (int i = 0; i < KEY_COUNT; i++) {
        char name[64] = "CUDAKERN_EMULATOR_";
        size_t used = strlen(name);
        for (const char *c = KEYS[i]; *c; c++) name[used++] = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        const char *value = getenv(name);
        if (!value || !*value) continue;
        const char *allowed = apply(&config, KEYS[i], value);
        if (!allowed || atomic_load(&has_problem)) continue;
        snprintf(problem, sizeof problem, "the environment variable %s must be %s, not \"%.60s\"", name, allowed,
                 value);
        snprintf(problem_key, sizeof problem_key, "%s", KEYS[i]);
        atomic_store(&has_problem, 1);
    }
    first.config = config;
    atomic_store(&current, &first);
}

const emu_config *emu_current_config(void) {
    snapshot *now = atomic_load_explicit(&current, memory_order_acquire);
    if (!now) {
        pthread_once(&once, start);
        now = atomic_load(&current);
    }
    return &now->config;
}

const char *emu_config_problem(void) {
    emu_current_config();
    return atomic_load(&has_problem) ? problem : NULL;
}

int emu_allocation_should_fail(void) {
    if (atomic_load_explicit(&failing_in, memory_order_relaxed) <= 0) return 0;
    return atomic_fetch_sub(&failing_in, 1) == 1;
}

int emu_change_config(const char *key, const char *value) {
    if (!key || !value) return emu_error(cudaErrorInvalidValue, "emu_configure: the key or the value is NULL");
    emu_current_config();
    pthread_mutex_lock(&lock);
    emu_config config = atomic_load(&current)->config;
    const char *allowed = apply(&config, key, value);
    if (!allowed) {
        publish(&config);
        if (!strcmp(problem_key, key)) atomic_store(&has_problem, 0);
    }
    pthread_mutex_unlock(&lock);
    if (!allowed) return cudaSuccess;
    if (*allowed) return emu_error(cudaErrorInvalidValue, "%s must be %s, not \"%.60s\"", key, allowed, value);
    return emu_error(cudaErrorInvalidValue,
                     "unknown setting \"%.60s\"; the settings are devices, memory, chip, order, workers, stack and "
                     "fail_allocation",
                     key);
}

void emu_config_fork(emu_fork stage) {
    emu_fork_lock(stage, &lock);
}
