// Counters: a tool of the emulator (../include/emulator/events.h) that counts what a GPU's memory system would do.
//
//   tool.c      loads and stores of threads --> requests.c   which lanes' accesses are one request of the warp?
//                                                   '------> cost.c   how many sectors or wavefronts does it take?
//
// A file uses only those whose section is above its own one.
//
// One block runs at a time, in its order, so the figures are the same on every run. Threads run one after another up
// to their barriers: a warp's first lane is far ahead of its last one, and requests stay open until all lanes have
// come, or cannot come any more.
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "emulator/events.h"

#define COUNTERS_API __attribute__((visibility("default")))

enum { LANES = 32 };

// --- cost.c --------------------------------------------------------------------------------------------------------

enum { SECTOR = 32, BANKS = 32, WORD = 4 };
typedef struct request { // of one warp
    uint32_t lanes;      // that take part
    uintptr_t address[LANES];
} request;
typedef struct cost {
    unsigned sectors;           // of 32 bytes in global memory
    unsigned used;              // different bytes in them that lanes access
    unsigned wavefronts, ideal; // passes through shared memory; as many as without conflicts
} cost;
cost cost_of_global(const request *of, unsigned bytes);
cost cost_of_atomics(const request *of, unsigned bytes);               // in global memory
cost cost_of_shared(const request *of, unsigned bytes, int can_merge); // parts of the warp that read the same

// --- requests.c ----------------------------------------------------------------------------------------------------

// A load, store or atomic operation of the kernel's code, and what its requests have cost in a launch.
enum { MOST_STEPS = 8 };
enum { OF_MATRIX = 1 << 16 }; // in a site's kind, besides emu_access_kind: of ldmatrix or stmatrix
typedef struct site {
    uintptr_t code; // in the instruction, or ...
    const char *file;
    int line;
    unsigned kind, bytes; // emu_access_kind
    int space;            // emu_space
    uint64_t requests, lanes, sectors, used, wavefronts, ideal;
    uint64_t most; // sectors, or wavefronts, of the costliest request ...
    request worst; // ... and its addresses
    unsigned step_warp, step_count;
    request steps[MOST_STEPS]; // the first requests of the first warp that makes one, in one block
} site;

void requests_start(unsigned threads); // a launch with so many threads per block
void requests_access(unsigned thread, const emu_where *at, const void *after, uintptr_t address, unsigned bytes,
                     unsigned kind, emu_space space);
void requests_converge(unsigned warp); // lanes wait for each other: what they do next, they do together
void requests_converge_all(void);
void requests_clear(void);
size_t requests_sites(const site **all);

#endif
