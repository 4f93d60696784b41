// Memory that a whole program has allocated by cudaMalloc and its relatives, and from where: what is left at its end
// are leaks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#include "checker.h"

typedef struct allocation {
    uintptr_t address, caller;
    size_t bytes;
} allocation;

static allocation *all;
static size_t count, room;

size_t allocations_callers(uintptr_t *calls, size_t most) {
    enum { DEEPEST = 16 };
    void *frames[DEEPEST];
    const int depth = backtrace(frames, DEEPEST);
    size_t known = 0;
    for (int i = 1; i < depth && known < most; ++i) {
        Dl_info info;
        const uintptr_t call = (uintptr_t)frames[i] - 1; // (a return address is that of the next instruction)
        const int is_there = dladdr((void *)call, &info) && info.dli_fname;
        if (is_there && !strstr(info.dli_fname, "libcudakern_")) calls[known++] = call;
    }
    return known;
}

void allocations_add(const emu_memory_event *event) { // lock held
    if (count == room) {
        const size_t more = 2 * room + 64;
        allocation *const grown = realloc(all, more * sizeof *all);
        if (!grown) return;
        all = grown, room = more;
    }
    all[count++] = (allocation){event->address, event->code, event->bytes};
}

void allocations_remove(uintptr_t address) { // lock held
    for (size_t i = count; i--;)
        if (all[i].address == address) {
            all[i] = all[--count];
            return;
        }
}

void allocations_clear(void) {
    count = 0;
}

// What is in use: how many allocations, and of each one the caller's code and the bytes.
CHECKER_API size_t checker_allocations(uintptr_t *callers, size_t *bytes, size_t most) {
    for (size_t i = 0; i < count && i < most; ++i) callers[i] = all[i].caller, bytes[i] = all[i].bytes;
    return count;
}
