// Memory that a whole program has allocated by cudaMalloc and its relatives, and from where: what is left at its end
// are leaks.
#include <stdlib.h>
#include <string.h>

#include "checker.h"

typedef struct allocation {
    uintptr_t address, caller;
    size_t bytes;
} allocation;

static allocation *all;
static size_t count, room;

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
