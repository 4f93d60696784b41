// Shadow memory: 32 bytes for each 4 bytes that a kernel accesses, in pages that are made when they are needed.
//
//   address --> number of its 4 KiB page --> table --> page: cells[1024] and tags[128] (quick.c), or only whether its
//                                                            bytes have values
//
// Memory that the checker has not seen being allocated counts as having values.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "checker.h"

enum { CELLS = PAGE_BYTES / GRAIN, LINES = PAGE_BYTES / EMU_LINE };

typedef struct page {
    uintptr_t number; // of the page plus 1; 0: the place is free
    cell *cells;      // NULL: nobody has accessed them, and all bytes have values, or none
    uint32_t *tags;   // behind the cells
    int has_value;
} page;

static page *table;
static size_t room, used;
static int any_split; // shadow_split() has been called
cached_page shadow_cached[CACHED_PAGES];
emu_page shadow_pages[CACHED_PAGES] = {{.begin = 1}}; // none begins there
unsigned shadow_launch;

static size_t hash(uintptr_t number) {
    return number * 0x9e3779b97f4a7c15u >> 20;
}

static page *look_up(uintptr_t number) { // where it is, or should be
    size_t i = hash(number) & (room - 1);
    while (table[i].number && table[i].number != number + 1) i = (i + 1) & (room - 1);
    return &table[i];
}

static page *page_at(uintptr_t number) {
    if (!table || used * 2 >= room) {
        page *const before = table;
        const size_t count = room;
        room = room ? room * 2 : 1024;
        table = calloc(room, sizeof *table);
        if (!table) abort();
        for (size_t i = 0; i < count; ++i)
            if (before[i].number) *look_up(before[i].number - 1) = before[i];
        free(before);
    }
    page *found = look_up(number);
    if (!found->number) {
        *found = (page){.number = number + 1, .has_value = 1};
        ++used;
    }
    return found;
}

static page *page_if(uintptr_t number) {
    page *found = table ? look_up(number) : NULL;
    return found && found->number ? found : NULL;
}

// Their memory, which remains for the next check, because the system's is slow to come by.
typedef struct chunk {
    struct chunk *next;
    struct memory {
        cell cells[CELLS];
        uint32_t tags[LINES];
    } of[64] __attribute__((aligned(64)));
} chunk;
enum { IN_CHUNK = sizeof((chunk *)0)->of / sizeof(struct memory), MOST_KEPT = 32 };
static chunk *chunks, *current; // current: in which `taken` are in use, and none behind it
static size_t taken;

static struct memory *take(void) {
    if (!current || taken == IN_CHUNK) {
        chunk **const next = current ? &current->next : &chunks;
        if (!*next) *next = mmap(NULL, sizeof **next, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (*next == MAP_FAILED) abort();
        current = *next;
        taken = 0;
    }
    return &current->of[taken++];
}

static void give_all(void) {
    chunk **at = &chunks;
    for (int i = 0; i < MOST_KEPT && *at; ++i) at = &(*at)->next;
    while (*at) {
        chunk *const one = *at;
        *at = one->next;
        munmap(one, sizeof *one);
    }
    current = NULL;
}

static void make_cells(page *of) {
    if (of->cells) return;
    struct memory *const memory = take();
    of->cells = memory->cells;
    of->tags = memory->tags;
    memset(of->tags, 0, sizeof memory->tags);
    for (int i = 0; i < CELLS; ++i) of->cells[i] = (cell){.masks = of->has_value ? ALL_MASKS : NO_VALUE};
}

void shadow_new_launch(void) {
    ++shadow_launch;
}

cached_page *shadow_page(uintptr_t address) {
    const uintptr_t number = address >> PAGE_SHIFT;
    cached_page *const here = &shadow_cached[number % CACHED_PAGES];
    if (here->number != number || !here->cells || here->launch != shadow_launch) {
        page *const of = page_at(number);
        make_cells(of);
        *here = (cached_page){.number = number, .cells = of->cells, .launch = shadow_launch};
        shadow_pages[number % CACHED_PAGES] = (emu_page){number << PAGE_SHIFT, of->tags};
    }
    return here;
}

cell *shadow_if(uintptr_t address) {
    const page *const of = page_if(address >> PAGE_SHIFT);
    return of && of->cells ? &of->cells[address % PAGE_BYTES / GRAIN] : NULL;
}

cell *shadow_bytes(cell *whole) {
    cell *bytes = NULL;
    if (whole->site[WRITE] == IN_BYTES) memcpy(&bytes, whole->who, sizeof bytes);
    return bytes;
}

cell *shadow_split(cell *whole) {
    cell *const bytes = calloc(GRAIN, sizeof(cell));
    any_split = 1;
    if (!bytes) abort();
    for (int i = 0; i < GRAIN; ++i) {
        bytes[i] = *whole;
        bytes[i].masks &= (uint16_t)(0x1111 << i);
        for (int r = 0; r < RECORDS; ++r)
            if (!(whole->masks >> 4 * r & 1 << i)) bytes[i].stamp[r] = 0;
    }
    memcpy(whole->who, &bytes, sizeof bytes);
    whole->site[WRITE] = IN_BYTES;
    return bytes;
}

static void reset(cell *of, unsigned mask, int has_value, int forget) {
    cell *const bytes = shadow_bytes(of);
    if (bytes && forget && mask == ALL_BYTES) {
        free(bytes);
        *of = (cell){.masks = NO_VALUE};
    } else if (bytes) {
        for (int i = 0; i < GRAIN; ++i)
            if (mask >> i & 1) reset(&bytes[i], 1u << i, has_value, forget);
        return;
    }
    if (forget && mask == ALL_BYTES) *of = (cell){.masks = NO_VALUE};
    if (forget) of->masks &= (uint16_t) ~(0x111 * mask);
    for (int r = WRITE; forget && r < RECORDS; ++r)
        if (!of->stamp[r] || !(of->masks >> 4 * r & ALL_BYTES)) of->stamp[r] = 0, of->masks |= ALL_BYTES << 4 * r;
    of->masks = (uint16_t)((of->masks & ~(mask << VALUE_SHIFT)) | (has_value ? mask << VALUE_SHIFT : 0));
}

static void each(uintptr_t address, size_t bytes, int has_value, int forget) {
    const uintptr_t end = address + bytes;
    while (address < end) {
        const uintptr_t number = address >> PAGE_SHIFT, next = (number + 1) << PAGE_SHIFT;
        const uintptr_t stop = next < end ? next : end;
        page *const of = page_at(number);
        if (!of->cells && stop - address == PAGE_BYTES) {
            of->has_value = has_value;
        } else if (of->cells || of->has_value != has_value) {
            make_cells(of);
            memset(of->tags, 0, LINES * sizeof *of->tags);
            for (uintptr_t at = address; at < stop;) {
                cell *const whole = &of->cells[at % PAGE_BYTES / GRAIN];
                if (forget && at % GRAIN == 0 && stop - at >= GRAIN && whole->site[WRITE] != IN_BYTES) {
                    *whole = (cell){.masks = has_value ? ALL_MASKS : NO_VALUE};
                    at += GRAIN;
                    continue;
                }
                const unsigned first = at % GRAIN, most = GRAIN - first;
                const unsigned count = stop - at < most ? (unsigned)(stop - at) : most;
                reset(&of->cells[at % PAGE_BYTES / GRAIN], ((1u << count) - 1) << first, has_value, forget);
                at += count;
            }
        }
        address = stop;
    }
}

void shadow_set(uintptr_t address, size_t bytes, int has_value) {
    each(address, bytes, has_value, 1);
}
void shadow_value(uintptr_t address, size_t bytes) {
    each(address, bytes, 1, 0);
}

static int has_value(uintptr_t address) {
    const page *const of = page_if(address >> PAGE_SHIFT);
    if (!of || !of->cells) return !of || of->has_value;
    cell *const whole = &of->cells[address % PAGE_BYTES / GRAIN], *const bytes = shadow_bytes(whole);
    return (bytes ? &bytes[address % GRAIN] : whole)->masks >> (VALUE_SHIFT + address % GRAIN) & 1;
}

int shadow_has_value(uintptr_t address, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
        if (has_value(address + i)) return 1;
    return 0;
}

void shadow_copy(uintptr_t to, uintptr_t from, size_t bytes) {
    for (size_t i = 0; i < bytes;) { // runs of bytes that are alike
        const int value = has_value(from + i);
        size_t count = 1;
        while (i + count < bytes) {
            const page *const of = page_if((from + i + count) >> PAGE_SHIFT);
            const size_t rest = PAGE_BYTES - (from + i + count) % PAGE_BYTES;
            if (!of || !of->cells) { // a page without cells at once
                if ((!of || of->has_value) != value) break;
                count += rest;
            } else if (has_value(from + i + count) == value) {
                ++count;
            } else {
                break;
            }
        }
        if (count > bytes - i) count = bytes - i;
        each(to + i, count, value, 0);
        i += count;
    }
}

void shadow_forget_tags(void) {
    for (size_t i = 0; i < room; ++i)
        if (table[i].tags) memset(table[i].tags, 0, LINES * sizeof *table[i].tags);
}

size_t shadow_size(size_t *accessed) {
    size_t bytes = room * sizeof *table;
    *accessed = 0;
    for (size_t i = 0; i < room; ++i) {
        if (!table[i].cells) continue;
        *accessed += PAGE_BYTES;
        bytes += sizeof(struct memory);
        for (int c = 0; c < CELLS; ++c)
            if (shadow_bytes(&table[i].cells[c])) bytes += GRAIN * sizeof(cell);
    }
    return bytes;
}

void shadow_clear(void) {
    for (size_t i = 0; any_split && i < room; ++i)
        for (int c = 0; table[i].cells && c < CELLS; ++c) free(shadow_bytes(&table[i].cells[c]));
    any_split = 0;
    give_all();
    free(table);
    table = NULL;
    room = used = 0;
    memset(shadow_cached, 0, sizeof shadow_cached);
    memset(shadow_pages, 0, sizeof shadow_pages);
    shadow_pages[0].begin = 1;
}
