// The table of all allocations by address, with which invalid uses are refused as by CUDA, and errors contain the
// sizes.
//
//   entries, sorted by address:  [device 0, 4096 B] [pinned host] [device 1, 64 B] [registered host] [symbol] ...
//
// Invariants: entries never overlap; one whose release has been requested (`dying`) is invalid in every call,
// although it remains until its stream reaches the release.
//
// Device memory has canaries around it (region.c). A kernel's writes to them are found when it has ended, around the
// allocations that its arguments point to, and around others when a thread waits or frees them.
#define _GNU_SOURCE
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emu_table emu_table = {.lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};
static size_t room_for; // entries

#define HINT "Let threads whose index is not in the array do nothing: if "
static const char BEYOND[] = HINT "(i < n)", BEFORE[] = HINT "(i >= 0)";

enum { CHECKED_BY_A_WAIT = 32 };
static atomic_int unchecked;            // a kernel has run since a wait has checked canaries, or a problem is pending
static size_t next_check;               // where the next wait begins to check
static char *problems[EMU_MAX_DEVICES]; // not reported yet

void emu_memory_fork(emu_fork stage) {
    emu_fork_lock(stage, &emu_table.lock);
}

size_t emu_table_after(uintptr_t address) {
    size_t low = 0, high = emu_table.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (emu_table.entries[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

emu_entry *emu_table_find(const void *pointer) {
    size_t i = emu_table_after((uintptr_t)pointer);
    if (!i || (uintptr_t)pointer - emu_table.entries[i - 1].base >= emu_table.entries[i - 1].bytes) return NULL;
    return &emu_table.entries[i - 1];
}

int emu_table_insert(emu_entry fresh) {
    if (emu_table.count == room_for) {
        size_t room = room_for ? 2 * room_for : 64;
        emu_entry *grown = realloc(emu_table.entries, room * sizeof *grown);
        if (!grown) return 0;
        emu_table.entries = grown;
        room_for = room;
    }
    size_t i = emu_table_after(fresh.base);
    memmove(&emu_table.entries[i + 1], &emu_table.entries[i], (emu_table.count++ - i) * sizeof *emu_table.entries);
    emu_table.entries[i] = fresh;
    return 1;
}

void emu_table_remove(emu_entry *entry) {
    size_t i = (size_t)(entry - emu_table.entries);
    memmove(entry, entry + 1, (--emu_table.count - i) * sizeof *entry);
}

// --- canaries ----------------------------------------------------------------------------------------------------
// Of an allocation of a whole program, where it was made: ", allocated in program.cu:12".
static void describe_origin(const emu_entry *b, char *text, size_t size) {
    emu_line line = {.line = 0};
    *text = 0;
    if (b->code && emu_error_would_stay()) emu_source_lines(&b->code, 1, &line);
    if (line.line) snprintf(text, size, ", allocated in %s:%d", emu_as_given(line.file), line.line);
}

// Whether the canaries of a block of device memory were overwritten, as "wrote ...".
static int is_damaged(const emu_entry *b, char *text, size_t size) {
    ptrdiff_t offset;
    size_t count;
    if (!emu_entry_is_device(b) || !emu_region_damage(&b->region, &offset, &count)) return 0;
    const char *where = offset < 0 ? "before the beginning" : "beyond the end";
    char allocated[300];
    describe_origin(b, allocated, sizeof allocated);
    snprintf(text, size, "wrote %s of an allocation of %zu bytes (bytes %td to %td have changed)%s. %s%s", where,
             b->bytes, offset, offset + (ptrdiff_t)count - 1, allocated, offset < 0 ? BEFORE : BEYOND,
             emu_error_would_stay() && !emu_tool_is_there() ? ". `cudakern run --check` names the line" : "");
    return 1;
}

int emu_memory_check(const void *arguments, size_t bytes, char *text, size_t size) {
    int damaged = 0;
    pthread_mutex_lock(&emu_table.lock);
    for (size_t at = 0; at + sizeof(void *) <= bytes; at += sizeof(void *)) {
        const void *pointer;
        memcpy(&pointer, (const char *)arguments + at, sizeof pointer);
        const emu_entry *match = emu_table_find(pointer);
        if (match) damaged |= is_damaged(match, text, damaged ? 0 : size);
    }
    pthread_mutex_unlock(&emu_table.lock);
    atomic_store_explicit(&unchecked, 1, memory_order_relaxed);
    return damaged;
}

static void keep_problem(int device, const char *what) { // lock held
    char message[EMU_MESSAGE];
    snprintf(message, sizeof message, "a kernel %s", what);
    emu_tell_failure(
        &(emu_failure_event){.kind = EMU_FAILURE_KERNEL, .code = cudaErrorIllegalAddress, .message = message});
    if (!problems[device]) problems[device] = strdup(message);
    atomic_store_explicit(&unchecked, 1, memory_order_relaxed);
}

void emu_table_check(const emu_entry *entry) {
    char what[EMU_MESSAGE / 2];
    if (is_damaged(entry, what, sizeof what)) keep_problem(entry->device, what);
}

int emu_table_report_problem(int device) {
    pthread_mutex_lock(&emu_table.lock);
    char *message = problems[device];
    problems[device] = NULL;
    pthread_mutex_unlock(&emu_table.lock);
    if (!message) return cudaSuccess;
    emu_error_again(cudaErrorIllegalAddress, message);
    free(message);
    return cudaErrorIllegalAddress;
}

int emu_memory_problem(int device) {
    emu_region_settle_spares();
    if (!atomic_load_explicit(&unchecked, memory_order_relaxed)) return cudaSuccess;
    pthread_mutex_lock(&emu_table.lock);
    atomic_store_explicit(&unchecked, 0, memory_order_relaxed);
    const size_t count = emu_table.count < CHECKED_BY_A_WAIT ? emu_table.count : CHECKED_BY_A_WAIT;
    for (size_t i = 0; i < count && !emu_table.is_closed; i++) // (who closed it has looked)
        emu_table_check(&emu_table.entries[next_check++ % emu_table.count]);
    pthread_mutex_unlock(&emu_table.lock);
    return emu_table_report_problem(device);
}

void emu_memory_explain(uintptr_t address, char *text, size_t size) {
    enum { NEAR = 64 << 10 };
    const size_t freed = emu_region_was_freed(address);
    *text = 0;
    pthread_mutex_lock(&emu_table.lock);
    const size_t i = emu_table_after(address);
    const emu_entry *below = i ? &emu_table.entries[i - 1] : NULL,
                    *above = i < emu_table.count ? &emu_table.entries[i] : NULL;
    const size_t beyond = below && emu_entry_is_device(below) ? address - below->base - below->bytes : SIZE_MAX;
    const size_t before = above && emu_entry_is_device(above) ? above->base - address : SIZE_MAX;
    char allocated[300] = "";
    if (beyond < NEAR && beyond <= before)
        describe_origin(below, allocated, sizeof allocated);
    else if (before < NEAR)
        describe_origin(above, allocated, sizeof allocated);
    if (freed)
        snprintf(text, size, ", in an allocation of %zu bytes that has been freed", freed);
    else if (beyond < NEAR && beyond <= before)
        snprintf(text, size, ", %zu bytes beyond the end of an allocation of %zu bytes%s. %s", beyond, below->bytes,
                 allocated, BEYOND);
    else if (before < NEAR)
        snprintf(text, size, ", %zu bytes before the beginning of an allocation of %zu bytes%s. %s", before,
                 above->bytes, allocated, BEFORE);
    else
        snprintf(text, size, ", which is in no allocation");
    pthread_mutex_unlock(&emu_table.lock);
}
