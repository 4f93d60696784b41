// The launch and its blocks that run; the memory that it may access, as intervals.
//
//   its arguments: a pointer --> an array that the host has announced, or an allocation --.
//   its library: __constant__ and __device__ variables -----------------------------------+--> checker_launch.memory,
//   malloc in a kernel, also of launches before -------------------------------------------'    sorted by address
//
// A block's shared memory is no part of that list: interval_shared() looks it up in the block.
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "symbols.h"

uint32_t checker_stamp;
launch_state checker_launch;

// --- Memory that a launch may access -------------------------------------------------------------------------------

const char IN_HEAP[] = "malloc", FREED[] = "freed";
enum { NEAR = 1 << 16, MOST_ARRAYS = 64 };

typedef struct array {
    uintptr_t begin;
    size_t bytes;
} array;
static array announced[MOST_ARRAYS]; // of the next launches
static size_t announced_count;
static const library *kernels; // the launch's

// Device memory that has been freed, the last ones, until it is allocated again.
enum { MOST_FREED = 256 };
static interval freed[MOST_FREED];
static size_t freed_count;

const interval *interval_freed(uintptr_t address) {
    for (size_t i = 0; i < freed_count; ++i)
        if (address - freed[i].begin < freed[i].end - freed[i].begin) return &freed[i];
    return NULL;
}

void interval_forget_freed(uintptr_t begin, uintptr_t end) {
    for (size_t i = freed_count; i-- > 0;)
        if (freed[i].begin < end && begin < freed[i].end) freed[i] = freed[--freed_count];
}

void interval_add_freed(uintptr_t begin, uintptr_t end) {
    if (freed_count == MOST_FREED) memmove(freed, freed + 1, --freed_count * sizeof *freed);
    freed[freed_count++] = (interval){begin, end, -1, FREED, 0};
}

interval *interval_add(uintptr_t begin, uintptr_t end, int parameter, const char *variable) {
    launch_state *const launch = &checker_launch;
    size_t i = launch->memory_count++;
    launch->memory = realloc(launch->memory, launch->memory_count * sizeof *launch->memory);
    if (!launch->memory) abort();
    for (; i && launch->memory[i - 1].begin > begin; --i) launch->memory[i] = launch->memory[i - 1];
    launch->memory[i] = (interval){begin, end, parameter, variable, UINT32_MAX};
    return &launch->memory[i];
}

void interval_forget_blocks(uintptr_t begin, uintptr_t end) {
    launch_state *const launch = &checker_launch;
    for (size_t i = launch->memory_count; i-- > 0;) {
        interval *const of = &launch->memory[i];
        if (of->variable == FREED && of->begin < end && begin < of->end)
            memmove(of, of + 1, (--launch->memory_count - i) * sizeof *of);
    }
}

void intervals_announce(size_t count, const uintptr_t *begins, const size_t *bytes) {
    announced_count = count < MOST_ARRAYS ? count : MOST_ARRAYS;
    for (size_t i = 0; i < announced_count; ++i) announced[i] = (array){begins[i], bytes[i]};
}

static int is_announced(uintptr_t pointer, int parameter) {
    const array *chosen = NULL;
    for (size_t i = 0; i < announced_count; ++i) { // one that begins there, before one that contains it
        const array *const one = &announced[i];
        if (pointer == one->begin ? !chosen || chosen->begin != pointer || one->bytes > chosen->bytes
                                  : !chosen && pointer - one->begin < one->bytes)
            chosen = one;
    }
    if (chosen) interval_add(chosen->begin, chosen->begin + chosen->bytes, parameter, NULL);
    return chosen != NULL;
}

// The arrays to which the launch's arguments point.
static void find_arrays(const emu_launch_event *event) {
    size_t kept = 0; // blocks from malloc live longer than a launch
    for (size_t i = 0; i < checker_launch.memory_count; ++i)
        if (checker_launch.memory[i].variable == IN_HEAP || checker_launch.memory[i].variable == FREED)
            checker_launch.memory[kept++] = checker_launch.memory[i];
    checker_launch.memory_count = kept;
    size_t bytes = 0;
    for (unsigned i = 0; i < event->parameter_count; ++i) {
        const emu_parameter at = event->parameters[i];
        if (at.offset + at.size > bytes) bytes = at.offset + at.size;
        for (size_t offset = 0; offset + 8 <= at.size; offset += 8) { // also pointers in structs
            uintptr_t pointer;
            memcpy(&pointer, (const char *)event->arguments + at.offset + offset, sizeof pointer);
            emu_memory_event memory;
            if (is_announced(pointer, (int)i)) continue;
            if (emu_memory_at((const void *)pointer, &memory))
                interval_add(memory.address, memory.address + memory.bytes, (int)i, NULL);
        }
    }
    checker_launch.argument_bytes = bytes;
    if (bytes) interval_add((uintptr_t)event->arguments, (uintptr_t)event->arguments + bytes, -1, "");
    for (size_t i = 0; kernels && i < kernels->others.count; ++i) {
        const variable *const of = &kernels->others.of[i];
        interval_add(kernels->base + of->begin, kernels->base + of->end, -1, of->name);
    }
}

static uintptr_t away(const interval *from, uintptr_t address) {
    return address < from->begin ? from->begin - address : address >= from->end ? address - from->end + 1 : 0;
}

const interval *interval_near(uintptr_t address, int *contains) {
    static size_t last; // its place in the list: kernels access the same array many times
    const launch_state *const launch = &checker_launch;
    if (last < launch->memory_count && !away(&launch->memory[last], address)) {
        *contains = 1;
        return &launch->memory[last];
    }
    const interval *near = NULL;
    for (size_t i = 0; i < launch->memory_count; ++i) {
        const interval *const one = &launch->memory[i];
        if (!near || away(one, address) < away(near, address)) near = one;
    }
    *contains = near && !away(near, address);
    if (*contains) last = (size_t)(near - launch->memory);
    return near && away(near, address) < (uintptr_t)1 << 40 ? near : NULL;
}

int interval_shared(const block_state *block, uintptr_t address, emu_space space, interval *array) {
    const emu_block_event *const event = block->event;
    const uintptr_t dynamic = (uintptr_t)event->shared, statics = (uintptr_t)event->statics;
    if (address - dynamic + NEAR < event->shared_bytes + 2 * NEAR) {
        *array = (interval){dynamic, dynamic + event->shared_bytes, -1, "dynamic shared memory", 0};
        if (space == EMU_SPACE_SHARED || away(array, address)) return 1;
    }
    if (!event->static_bytes || address - statics + NEAR >= event->static_bytes + 2 * NEAR) return 0;
    const variable *const near = kernels ? variable_near(&kernels->shared, address - statics) : NULL;
    if (near)
        *array = (interval){statics + near->begin, statics + near->end, -1, near->name, 0};
    else
        *array = (interval){statics, statics + event->static_bytes, -1, "static shared memory", 0};
    return 1;
}

int interval_is_guard(const emu_block_event *block, uintptr_t address) {
    if (!kernels || !kernels->guards.count) return 0;
    const uintptr_t offset = address - (uintptr_t)block->statics;
    const variable *const near = offset < block->static_bytes ? variable_near(&kernels->guards, offset) : NULL;
    return near && offset - near->begin < near->end - near->begin;
}

void intervals_clear(void) {
    freed_count = checker_launch.memory_count = 0;
}

// --- What belongs to the emulator, not to the kernel ---------------------------------------------------------------

static __thread interval core_variables; // blockDim, ...: thread-local ones of the core

static int find_core(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    const uintptr_t of_core = (uintptr_t)&emu_subscribe;
    int is_core = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD) is_core |= of_core - (info->dlpi_addr + part->p_vaddr) < part->p_memsz;
    }
    if (!is_core) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type != PT_TLS || !info->dlpi_tls_data) continue;
        core_variables.begin = (uintptr_t)info->dlpi_tls_data;
        core_variables.end = core_variables.begin + info->dlpi_phdr[i].p_memsz;
    }
    return 1;
}

interval interval_core(void) {
    if (!core_variables.end) dl_iterate_phdr(find_core, NULL);
    return core_variables;
}

// --- The launch and its blocks -------------------------------------------------------------------------------------

static struct { // the last one of which a thread has learned
    uint32_t me, who, stamp;
} learned;

void launch_start(emu_launch_event *event) {
    kernels = library_of((uintptr_t)event->function);
    checker_launch.image = kernels ? kernels->begin : 0;
    checker_launch.image_end = kernels ? kernels->end : 0;
    checker_launch.event = event;
    learned.stamp = 0;
    checker_launch.begin = checker_launch.grid_known = ++checker_stamp;
    checker_launch.generation = 0;
    checker_launch.threads = event->block.x * event->block.y * event->block.z;
    checker_launch.reports = kernels && kernels->reports;
    find_arrays(event);
}

static block_state *running;

block_state *block_running(uint64_t number) {
    block_state *block = running;
    while (block->number != number) block = block->next;
    return block;
}

block_state *block_new(emu_block_event *event) {
    block_state *const block = calloc(1, sizeof *block + checker_launch.threads * sizeof *block->thread);
    if (!block) abort();
    block->event = event;
    block->number = event->number;
    block->first = (uint32_t)(event->number * checker_launch.threads);
    block->threads = (int)checker_launch.threads;
    event->own = block;
    block->next = running;
    running = block;
    return block;
}

void block_free(block_state *block) {
    block_state **at = &running;
    while (*at != block) at = &(*at)->next;
    *at = block->next;
    for (int id = 0; id < block->threads; ++id) free(block->thread[id].sums);
    free(block->operations);
    free(block);
}

static int has_learned(const knowledge *acquired, uint32_t who, uint32_t stamp) {
    if (!acquired) return 0;
    if (stamp < knowledge_of(acquired, knowledge_key(OF_THREAD, who))) return 1;
    const uint32_t block = who / checker_launch.threads, thread = who % checker_launch.threads;
    return !(who & IS_ASYNC) && (stamp < knowledge_of(acquired, knowledge_key_of_warp(block, thread)) ||
                                 stamp < knowledge_of(acquired, knowledge_key(OF_BLOCK, block)));
}

int block_knows(const block_state *block, unsigned thread, uint32_t who, uint32_t stamp) {
    if (stamp < checker_launch.begin || stamp < checker_launch.grid_known) return 1;
    const uint32_t other = who - block->first;
    if (other < checker_launch.threads && stamp < block->known) return 1;
    if (other < checker_launch.threads && other / 32 == thread / 32 && stamp < block->warps[thread / 32]) return 1;
    const uint32_t me = block->first + thread;
    if (learned.me == me && learned.who == who && stamp <= learned.stamp) return 1;
    if (!has_learned(block->thread[thread].acquired, who, stamp) && !has_learned(block->acquired, who, stamp))
        return 0;
    learned.me = me, learned.who = who, learned.stamp = stamp;
    return 1;
}
