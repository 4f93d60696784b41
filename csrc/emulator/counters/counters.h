// Counters: a tool of the emulator (../include/emulator/events.h) that counts what a GPU's memory system would do.
//
//   tool.c    what each thread has done: blocks of code, loads and stores
//        '--> branches.c    which lanes run together, and where do they part?
//                  '--> requests.c    the loads, stores and atomic operations of lanes that run together
//                            '--> cost.c      how many sectors or wavefronts does it take?
//                            '--> caches.c    which of the sectors do L1 and L2 have?
//
// A file uses only those whose section is above its own one.
//
// One block runs at a time, in its order, so the figures are the same on every run. Threads run one after another up
// to their barriers: what each of them does is noted, and replayed as its warp would execute it.
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "emulator/events.h"

#define COUNTERS_API __attribute__((visibility("default")))

enum { LANES = 32, MOST_SITES = 1 << 12, MOST_WARPS = 32 };

// --- cost.c --------------------------------------------------------------------------------------------------------

enum { SECTOR = 32, LINE = 128, BANKS = 32, WORD = 4 };
typedef struct request { // of one warp
    uint32_t lanes;      // that take part
    uintptr_t address[LANES];
} request;
typedef struct cost {
    unsigned sectors;           // of 32 bytes in global memory
    unsigned used;              // different bytes in them that lanes access
    unsigned wavefronts, ideal; // passes through shared memory; as many as without conflicts
    unsigned serial;            // of atomic operations there: if lanes take turns that change one word
} cost;
typedef struct touched { // the lines of global memory that a request accesses
    unsigned count;
    struct {
        uintptr_t line;               // address / LINE
        unsigned char sectors, whole; // bits: accessed, and those of which all bytes are
    } of[2 * LANES];
} touched;
cost cost_of_global(const request *of, unsigned bytes, touched *to);
cost cost_of_atomics(const request *of, unsigned bytes, touched *to);  // in global memory
cost cost_of_shared(const request *of, unsigned bytes, int can_merge); // parts of the warp that read the same
cost cost_of_copy(const request *of, unsigned bytes);                  // into shared memory
// An address in shared memory, with the bank that the data comes from; NULL: from none, they are zeros.
uintptr_t copy_address(uintptr_t shared, const void *from);

// --- caches.c ------------------------------------------------------------------------------------------------------

typedef struct cache_figures {             // of a launch
    uint64_t reads, writes, atomics, hits; // sectors, in L2
    uint64_t dram_sectors;                 // read
} cache_figures;
enum { CACHE_LOAD, CACHE_STORE, CACHE_ATOMIC, CACHE_BYPASS, CACHE_STORE_PAST }; // the last ones: past L1

void caches_start(unsigned threads, size_t dynamic_shared); // a launch, whose blocks have so many
void caches_block_begin(uint64_t number);
void caches_add(unsigned warp, unsigned site, unsigned kind, const touched *lines);
void caches_converge(void); // the block's warps have waited for each other
void caches_block_end(void);
cache_figures caches_end(size_t static_shared); // bytes per block
uint64_t caches_hits(unsigned site);            // sectors that L1 had
void caches_clear(void);

// --- requests.c ----------------------------------------------------------------------------------------------------

// A load, store or atomic operation of the kernel's code, and what its requests have cost in a launch.
enum { MOST_STEPS = 8 };
// In a site's kind, besides emu_access_kind:
enum {
    OF_MATRIX = 1 << 16, // of ldmatrix or stmatrix
    IS_JOINED = 1 << 17, // with neighbors: of shared memory
};
typedef struct site {
    uintptr_t code; // in the instruction, or ...
    const char *file;
    int line;
    unsigned kind, bytes; // emu_access_kind
    int space;            // emu_space
    unsigned part;        // of an access in several requests: bytes of each; else 0
    const char *name;     // of an operation: of the warp, by TMA, or a texture read; else NULL
    uint64_t requests, lanes, sectors, used, wavefronts, ideal, serial;
    uint64_t hits;         // sectors that L1 had
    uint64_t shared_bytes; // that an operation reads or writes there
    uint64_t quads;        // of an operation: groups of four neighboring lanes of which any takes part
    uint64_t edges;        // of TMA: sectors that come besides, for rows that the edge of the array cuts
    uint64_t most;         // sectors, or wavefronts, of the costliest request ...
    request worst;         // ... and its addresses
    unsigned step_warp, step_count;
    request steps[MOST_STEPS]; // the first requests of the first warp that makes one, in one block
} site;

// A range of memory; accesses to the kernel's parameters, blockDim and gridDim do not count.
enum { NOT_COUNTED = EMU_SPACES };
typedef struct range {
    uintptr_t begin;
    size_t bytes;
    int space; // emu_space, NOT_COUNTED
} range;

// A launch with so many threads per block. `find`: in which range an address lies.
void requests_start(unsigned threads, size_t dynamic_shared, range (*find)(uintptr_t address));
void requests_forget_memory(void); // what `find` has said
void requests_block_begin(uint64_t number, uintptr_t statics, size_t static_bytes);
unsigned requests_site(const emu_where *at, size_t bytes, unsigned kind, emu_space space); // its number
unsigned requests_word(const emu_where *at); // bytes of each access by which a struct is copied there
unsigned requests_name(const emu_where *at, const char *name);                   // of an operation's site
void requests_operation(const emu_where *at, const char *name, unsigned lanes);  // of a warp, ...
void requests_row(unsigned warp, uintptr_t address, size_t bytes, int is_store); // that copies such rows
void requests_shared_row(size_t bytes, unsigned edges);                          // of shared memory
void requests_make(unsigned warp, uint64_t note, const request *of);             // note: as branches_note
void requests_separate(void);          // later requests have no members of the same objects
void requests_converge(unsigned warp); // lanes wait for each other: later requests are joined with none before
void requests_block_end(void);
cache_figures requests_end(void); // of the launch
void requests_clear(void);
size_t requests_sites(const site **all);
uint64_t requests_costs(void); // sectors and wavefronts so far, of all sites

// --- branches.c ----------------------------------------------------------------------------------------------------

// A basic block of the kernel's code, and how often it has been executed in a launch.
typedef struct code_block {
    uintptr_t code; // an address in it: behind its first call
    uint64_t warps, threads;
    uint64_t divergent; // times that lanes of a warp have parted at its end; twice into three ways
    int ends;           // a thread has ended in it
} code_block;

typedef struct branches branches;                       // of a block of threads: what its lanes have entered
void branches_start(void);                              // a launch
branches *branches_new(unsigned threads, int is_alone); // others, which take turns, ...
emu_path *branches_use(branches *of);                   // from now on: of the block that runs; its threads' paths
void branches_clear(void);                              // its threads have not begun
void branches_begin(unsigned thread);                   // the thread that calls this
void branches_end(unsigned thread);
void branches_full(void); // the current thread's path
// An access of the thread: a site's number, or an emu_note(). Address 0: it has no part in the request.
void branches_note(unsigned thread, uint64_t note, uintptr_t address);
void branches_converge(unsigned warp); // its lanes wait for each other: what they do next, they do together
void branches_converge_all(void);
size_t branches_blocks(const code_block **all);

#endif
