// Shared memory: a mapping for the dynamic one of each block, and for each OS thread one for the static variables of
// a library.
//
//   map          map + GUARD         begin        begin + bytes    end
//   [guard pages][ ... ][canaries]   [variables]  [canaries]       [guard pages]
//
// Static shared variables are thread-local ones of the kernel's library, because a block runs on one OS thread. The C
// library would place them within the heap of the process, where a write beyond an array destroys what malloc keeps
// there, for all kernels of a library at once, and without a way to report that no memory is left. Therefore the
// library's code asks emu_find_variable (device_memory.h), and finds them here while the OS thread runs its kernels.
// Where compilers find variables in another way, they are where the C library places them.
//
// The canaries behind the variables are checked when a block ends, and those before them when the OS thread has run
// its last one. Invariant: they are intact when an OS thread begins to run a grid's blocks.
#include "block.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "region.h"

enum { GUARD = 64 << 10, FRONT = 256 };

EMU_API __thread emu_statics emu_placed_statics STATIC_TLS;

// --- A mapping
// -------------------------------------------------------------------------------------------------------

void emu_shared_free(emu_shared *shared) {
    if (shared->map) munmap(shared->map, shared->room + 2 * GUARD);
    shared->map = NULL;
}

// The canaries before the variables: from here to before().
static char *front(const emu_shared *shared) {
    char *low = shared->map + GUARD;
    return shared->begin - low < FRONT ? low : shared->begin - FRONT;
}
static char *
before(const emu_shared *shared) { // canaries end at a multiple of 16, as the variables nearly always begin
    return shared->begin - (uintptr_t)shared->begin % 16;
}

int emu_shared_place(emu_shared *shared, size_t bytes, size_t align, size_t first) {
    if (align < 16) align = 16;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + 2 * align + page - 1) / page * page;
    if (!shared->map || room > shared->room) {
        emu_shared_free(shared);
        char *map = mmap(NULL, room + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) return -1;
        if (mprotect(map + GUARD, room, PROT_READ | PROT_WRITE)) {
            munmap(map, room + 2 * GUARD);
            return -1;
        }
        *shared = (emu_shared){.map = map, .room = room, .end = map + GUARD + room};
    }
    shared->bytes = bytes;
    shared->begin = shared->end - ((uintptr_t)(shared->end - bytes - first) % align) - bytes;
    emu_canaries_write(front(shared), before(shared));
    emu_canaries_write(shared->begin + bytes, shared->end);
    return 0;
}

static const char *const NAMES[] = {"dynamic", "static"};
static const char *const ADVICE[] = {"Launch the kernel with more, or use less",
                                     "Compare the indices with the sizes of the arrays"};

int emu_shared_damage(const emu_block *block, int behind, char *text, size_t size) {
    const emu_shared *const both[] = {&block->shared, block->statics};
    for (int i = 0; i < 2; ++i) {
        const emu_shared *one = both[i];
        size_t count;
        if (!one) continue;
        const char *from = behind ? one->begin + one->bytes : front(one), *to = behind ? one->end : before(one);
        if (EMU_LIKELY(!emu_canaries_check(from, to, &count))) continue;
        snprintf(text, size, "wrote %s of the %zu bytes of %s shared memory (%zu bytes have changed). %s",
                 behind ? "beyond the end" : "before the beginning", one->bytes, NAMES[i], count, ADVICE[i]);
        return 1;
    }
    return 0;
}

static int explain(const emu_shared *shared, const char *name, uintptr_t address, char *text, size_t size) {
    const uintptr_t begin = (uintptr_t)shared->begin, low = (uintptr_t)shared->map;
    const int beyond = address - (uintptr_t)shared->end < GUARD;
    if (!shared->map || (!beyond && address - low >= GUARD)) return 0;
    snprintf(text, size, "%zu bytes %s of the %zu bytes of %s shared memory",
             beyond ? address - begin - shared->bytes : begin - address,
             beyond ? "beyond the end" : "before the beginning", shared->bytes, name);
    return 1;
}

int emu_shared_explain(const emu_block *block, uintptr_t address, char *text, size_t size) {
    return explain(&block->shared, NAMES[0], address, text, size) ||
           (block->statics && explain(block->statics, NAMES[1], address, text, size));
}

// --- Static variables
// ------------------------------------------------------------------------------------------------

void *emu_other_variable(const emu_variable *variable) {
    extern void *__tls_get_addr(const emu_variable *); // the C library's
    return __tls_get_addr(variable);
}

int emu_statics_can_be_placed(const emu_module *module, void *(*variable)(void)) {
    if (!module->bytes) return 0;
    const emu_statics before = emu_placed_statics;
    char *const begin = (char *)&before; // any place: nothing is accessed there
    emu_placed_statics = (emu_statics){module->number, begin};
    const uintptr_t found = (uintptr_t)variable();
    emu_placed_statics = before;
    return found - (uintptr_t)begin <= module->bytes;
}

int emu_shared_enter(emu_block *block) {
    const emu_module *module = block->grid->launch->module;
    const unsigned places = sizeof block->own_statics / sizeof *block->own_statics;
    if (!module->can_be_placed) return 0;
    unsigned i = 0;
    while (i < places && block->own_statics[i].module != module->number) ++i;
    const int is_new = i == places;
    if (is_new) i = block->next_statics++ % places;
    emu_shared *const shared = &block->own_statics[i].shared;
    if (is_new) {
        block->own_statics[i].module = 0;
        emu_shared_free(shared);
    }
    if (emu_shared_place(shared, module->bytes, module->align, module->first)) return -1;
    block->own_statics[i].module = module->number;
    if (is_new) memcpy(shared->begin, module->image, module->image_bytes);
    block->statics = shared;
    emu_placed_statics = (emu_statics){module->number, shared->begin};
    return 0;
}

void emu_shared_leave(emu_block *block) {
    block->statics = NULL;
    emu_placed_statics = (emu_statics){0, NULL};
}

char *emu_statics_of(const emu_block *block, size_t *bytes) {
    const emu_module *module = block->grid->launch->module;
    *bytes = module->bytes;
    if (block->statics) return block->statics->begin;
    return *bytes ? emu_other_variable(&(emu_variable){module->number, 0}) : NULL;
}
