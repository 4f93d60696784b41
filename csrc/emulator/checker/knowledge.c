// What threads know of each other's accesses, and what they leave for others to learn.
//
//   thread A: writes, fence, atomic operation on X   --> release_at(X): what A knew at its fence
//   thread B: atomic operation on X, fence, reads    --> B knows that, too
//
// A block's barrier needs none of this: one stamp per block says all (rules.c).
#include <stdlib.h>
#include <string.h>

#include "checker.h"

// --- Memory that lasts until the end of a launch -------------------------------------------------------------------

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    char bytes[] __attribute__((aligned(16)));
} chunk;
static chunk *chunks;

static void *take(size_t bytes) {
    bytes = (bytes + 15) / 16 * 16;
    if (!chunks || chunks->size - chunks->used < bytes) {
        const size_t size = bytes > 1 << 20 ? bytes : 1 << 20;
        chunk *const added = malloc(sizeof *added + size);
        if (!added) abort();
        *added = (chunk){.next = chunks, .size = size};
        chunks = added;
    }
    void *const taken = chunks->bytes + chunks->used;
    chunks->used += bytes;
    return taken;
}

// --- Knowledge -----------------------------------------------------------------------------------------------------

// The place of a key, or where it would be, from `low` on.
static size_t place_of(const knowledge *known, uint64_t key, size_t low) {
    size_t high = known->count;
    if (low < high && known->of[low].key >= key) return low;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (known->of[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t knowledge_of(const knowledge *known, uint64_t key) {
    const size_t i = known ? place_of(known, key, 0) : 0;
    return known && i < known->count && known->of[i].key == key ? known->of[i].stamp : 0;
}

const knowledge *knowledge_new(unsigned count, const uint64_t *keys, const uint32_t *stamps) {
    knowledge *const result = take(sizeof *result + count * sizeof *result->of);
    result->count = 0;
    for (unsigned i = 0; i < count; ++i) {
        if (!stamps[i]) continue;
        result->of[result->count].key = keys[i];
        result->of[result->count++].stamp = stamps[i];
    }
    return result;
}

static int knows_all(const knowledge *a, const knowledge *b) { // whether a knows what b knows
    unsigned i = 0;
    for (unsigned j = 0; j < b->count; ++j) {
        while (i < a->count && a->of[i].key < b->of[j].key) ++i;
        if (i == a->count || a->of[i].key != b->of[j].key || a->of[i].stamp < b->of[j].stamp) return 0;
    }
    return 1;
}

static const knowledge *join(const knowledge *a, const knowledge *b) {
    if (!a || a == b) return b;
    if (!b || knows_all(a, b)) return a;
    if (knows_all(b, a)) return b;
    knowledge *const both = take(sizeof *both + (a->count + b->count) * sizeof *both->of);
    unsigned i = 0, j = 0, n = 0;
    while (i < a->count || j < b->count) {
        if (j == b->count || (i < a->count && a->of[i].key < b->of[j].key)) {
            both->of[n++] = a->of[i++];
        } else if (i == a->count || b->of[j].key < a->of[i].key) {
            both->of[n++] = b->of[j++];
        } else {
            both->of[n++] = a->of[i].stamp > b->of[j].stamp ? a->of[i] : b->of[j];
            ++i, ++j;
        }
    }
    both->count = n;
    return both;
}

// The threads of a block often join the same two, one after another.
enum { MOST_JOINED = 64 };
static struct { const knowledge *a, *b, *both; } joined[MOST_JOINED];

const knowledge *knowledge_join(const knowledge *a, const knowledge *b) {
    if (!a || !b || a == b) return a ? a : b;
    const size_t i = ((uintptr_t)a >> 4 ^ (uintptr_t)b >> 8) % MOST_JOINED;
    if (joined[i].a != a || joined[i].b != b) joined[i].a = a, joined[i].b = b, joined[i].both = join(a, b);
    return joined[i].both;
}

// --- Releases ------------------------------------------------------------------------------------------------------

// Whether `to` has all keys of `more`, whose later stamps it then has.
static int raise(knowledge *to, const knowledge *more) {
    size_t i = 0;
    for (unsigned j = 0; j < more->count; ++j, ++i) {
        i = place_of(to, more->of[j].key, i);
        if (i == to->count || to->of[i].key != more->of[j].key) return 0;
        if (to->of[i].stamp < more->of[j].stamp) to->of[i].stamp = more->of[j].stamp;
    }
    return 1;
}

void release_add(release *at, const knowledge *more) {
    if (!more || at->added == more) return;
    if (!at->own || !raise(at->own, more)) {
        const knowledge *const before = at->known;
        at->known = join(before, more);
        if (at->known != before) at->own = at->known == more ? NULL : (knowledge *)at->known;
    }
    if (more->count > OF_ONE) at->added = more;
}

const knowledge *release_known(release *at) {
    at->own = NULL;
    return at->known;
}

void release_set(release *at, const knowledge *known) {
    at->known = known;
    at->own = NULL;
    at->added = NULL;
}

static release **table;
static size_t room, used;

static size_t place(uint64_t key, uint64_t block) {
    size_t i = ((key ^ block * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
    while (table[i] && (table[i]->key != key || table[i]->block != block)) i = (i + 1) & (room - 1);
    return i;
}

release *release_at(uint64_t key, uint64_t block, int make) {
    if (!table && !make) return NULL;
    if (used * 2 >= room) {
        release **const before = table;
        const size_t count = room;
        room = room ? room * 2 : 256;
        table = calloc(room, sizeof *table);
        if (!table) abort();
        for (size_t i = 0; i < count; ++i)
            if (before[i]) table[place(before[i]->key, before[i]->block)] = before[i];
        free(before);
    }
    const size_t i = place(key, block);
    if (!table[i] && make) {
        table[i] = take(sizeof *table[i]);
        *table[i] = (release){.key = key, .block = block};
        ++used;
    }
    return table[i];
}

void knowledge_clear(void) {
    while (chunks) {
        chunk *const next = chunks->next;
        free(chunks);
        chunks = next;
    }
    free(table);
    table = NULL;
    room = used = 0;
    memset(joined, 0, sizeof joined);
}
