// The memory behind a device allocation; region.c has a diagram.
#ifndef EMULATOR_REGION_H
#define EMULATOR_REGION_H

#include <stddef.h>
#include <stdint.h>

typedef struct emu_region {
    char *low;
    size_t room; // bytes that can be accessed, from `low` on
    char *data;  // the allocation
    size_t bytes;
    int guarded; // a guard page follows
} emu_region;

int emu_region_create(emu_region *region, size_t bytes); // -1: no memory
void emu_region_destroy(const emu_region *region);
void emu_region_drop_spares(void);
void emu_region_set_apart(void); // from now on, regions lie in a part of the address space that nothing else uses
const char *emu_region_explain(const void *outside);        // what the address is, which is in no allocation
int emu_region_close(const emu_region *region, int closed); // the first pages cannot be accessed, or can again
// After a wait of the host; before a kernel runs: regions that were freed before the last wait become inaccessible.
void emu_region_settle_spares(void);
void emu_region_protect_spares(void);
size_t emu_region_was_freed(
    uintptr_t address); // the size of the freed allocation that contained the address; 0: none is known
// Whether canaries have been overwritten: the offset of the first byte from the allocation's beginning, and the
// number of bytes up to the last one. Restores the canaries.
int emu_region_damage(const emu_region *region, ptrdiff_t *offset, size_t *count);

// Canaries in [from, to); `to` is a multiple of 16. The check returns the first byte that has changed (NULL: none),
// and counts bytes up to the last one.
void emu_canaries_write(char *from, char *to);
const char *emu_canaries_check(const char *from, const char *to, size_t *count);

#endif
