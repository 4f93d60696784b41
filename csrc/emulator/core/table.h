// The table of all allocations: shared declarations of table.c and memory.c.
#ifndef EMULATOR_TABLE_H
#define EMULATOR_TABLE_H

#include <pthread.h>

#include "host.h"
#include "region.h"
#include "tools.h"

typedef enum emu_entry_kind {
    DEVICE = EMU_MEMORY_DEVICE,
    PINNED = EMU_MEMORY_PINNED,
    REGISTERED = EMU_MEMORY_REGISTERED,
    SYMBOL = EMU_MEMORY_SYMBOL,
    MANAGED = EMU_MEMORY_MANAGED
} emu_entry_kind;

typedef struct emu_entry {
    uintptr_t base;
    size_t bytes;
    emu_entry_kind kind;
    int device, dying;
    int is_closed;  // closed.c
    unsigned flags; // of PINNED: those of cudaHostAlloc; of SYMBOL: 1 if it is all of a library's managed variables
    void *pool;     // memory.c
    uintptr_t code; // that has called for it; 0: unknown
    emu_region region; // of DEVICE and MANAGED
    // Of MANAGED: cudaMemAdvise's and cudaMemPrefetchAsync's, by cudaMemRangeAttribute - 1. They have no effect.
    int advice[4];
} emu_entry;

static inline int emu_entry_is_device(const emu_entry *entry) { // its memory is that of a device, with canaries
    return entry->kind == DEVICE || entry->kind == MANAGED;
}

extern struct emu_table {
    pthread_mutex_t lock;
    emu_entry *entries;
    size_t count;
    atomic_int is_closed; // closed.c: entries may be closed
} emu_table;

// The lock must be held when these functions are called.
size_t emu_table_after(uintptr_t address);      // index of the first entry that begins after the address
emu_entry *emu_table_find(const void *pointer); // the one that contains the address; NULL: none
int emu_table_insert(emu_entry fresh);          // 0: no memory
void emu_table_remove(emu_entry *entry);        // the caller frees the memory
void emu_table_check(const emu_entry *entry);   // keeps an error if canaries were overwritten

int emu_table_report_problem(int device); // records and returns an error that was kept; lock not held

// --- closed.c (the lock must be held)
void emu_closed_add(emu_entry *entry);    // before it is inserted
void emu_closed_remove(emu_entry *entry); // before it is removed

#endif
