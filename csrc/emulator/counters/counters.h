// Counters: a tool of the emulator (../include/emulator/events.h) that counts what a GPU's memory system would do.
//
//   tool.c      loads and stores of threads --> requests.c   which lanes' accesses are one request of the warp?
//          |                                        '------> cost.c   how many sectors or wavefronts does it take?
//          '--> blocks of code that they enter --> branches.c   which lanes execute them together, and where do they part?
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
    unsigned serial;            // of atomic operations there: if lanes take turns that change one word
} cost;
cost cost_of_global(const request *of, unsigned bytes);
cost cost_of_atomics(const request *of, unsigned bytes);               // in global memory
cost cost_of_shared(const request *of, unsigned bytes, int can_merge); // parts of the warp that read the same
cost cost_of_copy(const request *of, unsigned bytes);                  // into shared memory
// An address in shared memory, with the bank that the data comes from; NULL: from none, they are zeros.
uintptr_t copy_address(uintptr_t shared, const void *from);

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
    uint64_t requests, lanes, sectors, used, wavefronts, ideal, serial;
    uint64_t most; // sectors, or wavefronts, of the costliest request ...
    request worst; // ... and its addresses
    unsigned step_warp, step_count;
    request steps[MOST_STEPS]; // the first requests of the first warp that makes one, in one block
} site;

// A range of memory; accesses to the kernel's parameters, blockDim and gridDim do not count.
enum { NOT_COUNTED = -1 };
typedef struct range {
    uintptr_t begin;
    size_t bytes;
    int space; // emu_space, NOT_COUNTED
} range;

// A launch with so many threads per block. `find`: in which range an address lies; 0: in a thread's local memory.
void requests_start(unsigned threads, int (*find)(uintptr_t address, range *in));
void requests_forget_memory(void);                                                         // what `find` has said
void requests_direct(const void *address, size_t bytes, unsigned kind, const void *after); // as emu_direct.access
void requests_access(unsigned thread, const emu_where *at, uintptr_t address, size_t bytes, unsigned kind,
                     emu_space space);
void requests_skip(unsigned thread, const emu_where *at, size_t bytes, unsigned kind, emu_space space); // no part
void requests_converge(unsigned warp); // lanes wait for each other: what they do next, they do together
void requests_converge_all(void);
void requests_end_steps(void); // the block ends
void requests_clear(void);
size_t requests_sites(const site **all);

// --- branches.c ----------------------------------------------------------------------------------------------------

// A basic block of the kernel's code, and how often it has been executed in a launch.
enum { SUCCESSORS = 2 };
typedef struct code_block {
    uintptr_t code; // an address in it: behind its first call
    uint64_t warps, threads;
    uint64_t divergent;               // times that lanes of a warp have parted at its end; twice into three ways
    uintptr_t successors[SUCCESSORS]; // the first blocks of code that lanes have gone to from there; 0: fewer
    int ends;                         // a thread has ended in it
} code_block;

emu_path *branches_start(unsigned threads); // a launch with so many threads per block
void branches_begin(unsigned thread);       // the thread that calls this
void branches_end(unsigned thread);
void branches_full(void);              // the current thread's path
void branches_converge(unsigned warp); // as requests_converge
void branches_converge_all(void);
void branches_clear(void); // the threads of the next block begin
size_t branches_blocks(const code_block **all);

#endif
