// The checker: a tool of the emulator (../include/emulator/events.h) that judges what kernels do.
//
//   events.c  what the core reports --> rules.c, asynchronous.c   may this be accessed? --> findings.c  one per place
//                                           |\  \__ knowledge.c    what does a thread know of others' accesses?
//                                           | '---- launch.c       which memory may the launch access?
//                                           |------ shadow.c       who accessed these bytes last, and when?
//                                           '------ streams.c      which earlier launches and copies come before?
//
// A file uses only those whose section is above its own one, and symbols.h.
//
// One block runs at a time, and one launch, so one lock protects everything. Time is a counter, the stamp, that grows
// whenever threads synchronize: an access happened before another one if the accessing thread knows its stamp.
#ifndef CHECKER_H
#define CHECKER_H

#include <stddef.h>
#include <stdint.h>

#include "emulator/events.h"

#define CHECKER_API __attribute__((visibility("default")))

// --- shadow.c ------------------------------------------------------------------------------------------------------

// What is known of four neighboring bytes of memory: the last write and two reads since then, as far as they may
// matter. `masks` has four bits for each: the bytes that the write and the reads concern, and those that have a
// value.
enum { WRITE, READ, OTHER_READ, RECORDS };
// (Of records whose stamp is 0, they are set.)
enum { GRAIN = 4, ALL_BYTES = 15, VALUE_SHIFT = 12, IN_BYTES = 0xffff, ALL_MASKS = 0xffff, NO_VALUE = 0xfff };
typedef struct cell {
    uint32_t who[RECORDS], stamp[RECORDS];
    uint16_t site[RECORDS]; // IN_BYTES in site[WRITE]: there is a cell for each of the bytes (shadow_bytes)
    uint16_t masks;
} cell;

// The page that contains an address, with its cells. `may`: the part of it that the launch may access, as far as it
// is known; set by the caller, forgotten by shadow_new_launch().
typedef struct permission {
    uintptr_t begin, end;
    int of_launch; // not only of the block
} permission;
typedef struct cached_page {
    uintptr_t number;
    cell *cells;
    permission may;
    unsigned launch;
} cached_page;
enum { PAGE_SHIFT = 12, PAGE_BYTES = EMU_PAGE, CACHED_PAGES = EMU_PAGES };
extern cached_page shadow_cached[CACHED_PAGES];
extern emu_page shadow_pages[CACHED_PAGES]; // the same
extern unsigned shadow_launch;
cached_page *shadow_page(uintptr_t address);
static inline cell *shadow_cell(uintptr_t address) { // of the four bytes that contain it
    return &shadow_page(address)->cells[address % PAGE_BYTES / GRAIN];
}
// The tag of the line that contains an address says which reads there need no test (quick.c); 0: none.
static inline uint32_t *shadow_tag(uintptr_t address) {
    shadow_page(address);
    return &shadow_pages[(address >> PAGE_SHIFT) % CACHED_PAGES].tags[address % PAGE_BYTES / EMU_LINE];
}
void shadow_forget_tags(void);
void shadow_new_launch(void);
cell *shadow_if(uintptr_t address); // NULL: nobody has accessed its page
cell *shadow_bytes(cell *whole);    // the cells of the single bytes; NULL: there are none
cell *shadow_split(cell *whole);    // makes them
void shadow_set(uintptr_t address, size_t bytes, int has_value); // and forgets the accesses
void shadow_value(uintptr_t address, size_t bytes);              // they have values now
int shadow_has_value(uintptr_t address, size_t bytes);           // any of them
void shadow_copy(uintptr_t to, uintptr_t from, size_t bytes);    // whether they have values is copied
size_t shadow_size(size_t *accessed); // its bytes, and those of the pages that have been accessed
void shadow_clear(void);

// --- knowledge.c ---------------------------------------------------------------------------------------------------

// Of other threads' accesses, those before a stamp: for a thread, all threads of a warp or of a block. Sorted by key.
typedef struct knowledge {
    unsigned count;
    struct {
        uint64_t key;
        uint32_t stamp;
    } of[];
} knowledge;
enum { OF_THREAD, OF_WARP, OF_BLOCK, OF_ONE }; // OF_ONE: so many are of a thread's own accesses
static inline uint64_t knowledge_key(int of, uint64_t number) {
    return (uint64_t)of << 62 | number;
}
static inline uint64_t knowledge_key_of_warp(uint64_t block, unsigned thread) {
    return knowledge_key(OF_WARP, block * 32 + thread / 32);
}
uint32_t knowledge_of(const knowledge *known, uint64_t key); // 0: nothing
// What both know. Everything lasts until knowledge_clear().
const knowledge *knowledge_join(const knowledge *a, const knowledge *b);
const knowledge *knowledge_new(unsigned count, const uint64_t *keys, const uint32_t *stamps); // sorted; drops zeros
void knowledge_clear(void);

// What is released at an address (or another key), for a block or for all (UINT64_MAX).
typedef struct release {
    uint64_t key, block;
    const knowledge *known, *added; // added: what others had acquired, last
    knowledge *own;                 // `known`, as long as nobody has acquired it: it changes in place
} release;
release *release_at(uint64_t key, uint64_t block, int make); // NULL: nothing, if `make` is 0
void release_add(release *at, const knowledge *more);        // to what others have released there
void release_set(release *at, const knowledge *known);       // in place of it
const knowledge *release_known(release *at);                 // to be acquired

// --- launch.c ------------------------------------------------------------------------------------------------------

enum { CHECKER_PENDING = 6, CHECKER_SUMS = 32, CHECKER_TOUCHED = 64 };
typedef struct pending_sums { // of a product that has not ended, in the memory of a thread
    uintptr_t begin, end;
    uint32_t pending;
    unsigned site;
} pending_sums;
typedef struct thread_state {
    const knowledge *acquired;          // of others, besides what the block knows
    const knowledge *fenced, *in_block; // what it knew at its last fence, for all and for its block
    release *pending[CHECKER_PENDING];  // read by atomic operations since then
    int pending_count;
    struct { // a plain read next to atomic operations of others, until the thread's next access there (rules.c)
        emu_access_event event;
        unsigned site, other_site;
        uint32_t other_who;
        int is_held;
    } held;
    pending_sums *sums; // CHECKER_SUMS of them; NULL: it has had none
    int sums_count;
    uint32_t shown; // asynchronous operations see what it has written before this stamp: its last proxy fence
} thread_state;

typedef struct block_state {
    emu_block_event *event;
    uint64_t number;
    uint32_t first;     // its first thread among those of the grid
    uint32_t known;     // all threads of the block know each other's accesses before this stamp
    uint32_t warps[32]; // the same for threads of a warp
    uint32_t live[32];  // lanes that have begun and not ended
    const knowledge *acquired;
    const knowledge *fenced, *in_block;    // of its threads' fences before the last barrier
    int has_fences;                        // since then
    uintptr_t touched[CHECKER_TOUCHED];    // shared variables that it has accessed
    int touched_count, touched_all;        // all: of a cluster, whose blocks access each other's
    unsigned generation;                   // number of the grid's barriers passed
    uint32_t *operations, operations_room; // places of its asynchronous operations (operations.c)
    struct block_state *next;              // that runs
    int threads;
    thread_state thread[];
} block_state;

typedef struct interval { // memory that the launch may access
    uintptr_t begin, end;
    int parameter; // whose array it is; -1: none
    const char *variable;
    unsigned leak; // of memory from malloc: the number of its place (findings.c)
} interval;

extern const char IN_HEAP[], FREED[]; // "variables" of memory from malloc in a kernel, and of freed memory

typedef struct launch_state {
    emu_launch_event *event;
    int reports;         // its library reports accesses
    uint32_t begin;      // stamps before this one are known to all its threads
    uint32_t grid_known; // and these, since the grid's last barrier
    unsigned generation; // number of those
    uint32_t threads;    // per block
    size_t argument_bytes;
    interval *memory; // sorted
    size_t memory_count;
    uintptr_t image, image_end; // the kernel's library
} launch_state;

extern uint32_t checker_stamp;
extern launch_state checker_launch;

void launch_start(emu_launch_event *event);     // fills checker_launch
block_state *block_new(emu_block_event *event); // of that launch; sets event->own
block_state *block_running(uint64_t number);
void block_free(block_state *block);
// Whether the thread knows of what `who` (see operations.c) did then.
int block_knows(const block_state *block, unsigned thread, uint32_t who, uint32_t stamp);

const interval *interval_near(uintptr_t address, int *contains); // of the launch
const interval *interval_freed(uintptr_t address);               // device memory; NULL: it is not freed
// Of a block's shared memory: the array that contains the address, or the one nearest to it. 0: it is far from both.
int interval_shared(const block_state *block, uintptr_t address, emu_space space, interval *array);
// Whether the address belongs to a flag of the compiler: has a shared variable with a constructor been initialized?
int interval_is_guard(const emu_block_event *block, uintptr_t address);
interval *interval_add(uintptr_t begin, uintptr_t end, int parameter, const char *variable); // to the launch
void interval_forget_blocks(uintptr_t begin, uintptr_t end); // of freed blocks of malloc, those that overlap this
void interval_add_freed(uintptr_t begin, uintptr_t end);     // device memory
void interval_forget_freed(uintptr_t begin, uintptr_t end);
void intervals_announce(size_t count, const uintptr_t *begins, const size_t *bytes); // arrays for the next launches
void intervals_clear(void);
interval interval_core(void); // blockDim and the like, which the emulator itself has, for this OS thread

// --- operations.c --------------------------------------------------------------------------------------------------

// Whose accesses records are: a thread of the grid; or, from IS_ASYNC on, an asynchronous operation that has not
// ended (IS_PENDING, and its place in the list), or those that have ended and belong to an mbarrier or a warpgroup.
#define IS_ASYNC    (1u << 31)
#define IS_PENDING  (1u << 30)
#define OF_MBARRIER (1u << 29)
typedef struct operation {
    uint32_t thread; // that began it
    uint32_t next;   // in the list of free places, where 0 is the end
    uintptr_t mbarrier;
} operation;
void operation_begin(block_state *block, int thread, const emu_async_event *event);
uint32_t operation_find(block_state *block, uint64_t number); // IS_PENDING; 0: it has not begun, or has ended
operation *operation_of(uint32_t pending);
void operation_end(block_state *block, uint64_t number); // that has been found
uint32_t operation_thread(uint32_t who);                 // that began it; of an ordinary access: `who`
void operations_clear(void);

// --- allocations.c -------------------------------------------------------------------------------------------------
// (The caller holds the lock.)
void allocations_add(const emu_memory_event *event);
void allocations_remove(uintptr_t address);
void allocations_clear(void);

// --- failures.c: kernels that ended with an error, and launches that did not run -----------------------------------

typedef struct checker_failure {
    int kind, code; // emu_failure_kind; a cudaError_t
    uint64_t launch;
    unsigned grid[3], block[3]; // of EMU_FAILURE_KERNEL
    uint64_t call;              // of EMU_FAILURE_REFUSED: the code that launches; 0: unknown
    uint64_t count;
    char message[1024]; // in the core's words
} checker_failure;

void failures_add(const emu_failure_event *event, uint64_t launch);
void failures_clear(void);

// --- streams.c -----------------------------------------------------------------------------------------------------

enum { WORK_CALLS = 4 };
typedef struct stream_work { // a launch or a copy
    uint32_t begin, end;     // its stamps
    uint64_t order, launch;  // launch: its number, or CHECKER_COPY
    int stream;
    uintptr_t calls[WORK_CALLS]; // by which the host has queued it, the innermost first; 0: no more
    char kernel[128];            // "" of a copy
} stream_work;
void streams_order(const emu_order_event *event);
void streams_begin(uint64_t order, uint64_t launch, const char *kernel); // that work begins now
const stream_work *streams_current(void);
void streams_end(uint64_t order);
int streams_matter(void);                             // the current work does not come after all that has run
const stream_work *streams_unordered(uint32_t stamp); // the work of the stamp; NULL: the current work comes after it
int streams_are_several(void);
typedef enum stream_state { STREAMS_AWAITED, STREAMS_ENDED, STREAMS_RUN } stream_state;
stream_state streams_of_host(void); // of all work: the host has waited for it, or it has ended, or neither
// The current work copies memory of the host, which does not wait for it.
void streams_copies(unsigned kind, uintptr_t begin, size_t pitch, size_t width, size_t height);
// What such a copy, for which the host has not waited, does to bytes that the host accesses; 0: there is no conflict.
unsigned streams_copied(const emu_host_event *event, int learns, stream_work *work);
// Whether the host has not waited for the work of the stamp, which is stored. `learns`: now it knows of it.
int streams_not_awaited(uint32_t stamp, int learns, stream_work *work);
int streams_last_launch(stream_work *work); // whether there is one that has begun, and the host has not waited for it
void streams_clear(void);

// --- findings.c ----------------------------------------------------------------------------------------------------

typedef enum checker_kind {
    CHECKER_BOUNDS,
    CHECKER_MISALIGNED,
    CHECKER_FREED,
    CHECKER_UNINITIALISED,
    CHECKER_RACE,
    CHECKER_SCOPE,
    CHECKER_DOUBLE_FREE,
    CHECKER_PROXY,   // an asynchronous operation reads what a thread has written, without a fence between the two
    CHECKER_LEAK,    // these two on request
    CHECKER_ENDED,   // a thread has ended when the others meet at a barrier
    CHECKER_INDEX,   // bounds of an array whose type is known: `offset` is the index, `variable` the type
    CHECKER_STREAMS, // `other_launch` has accessed the same bytes in another stream
    CHECKER_KINDS
} checker_kind;

typedef struct checker_access { // one side of a finding
    emu_line line;              // where in the source
    unsigned kind;              // emu_access_kind
    unsigned bytes;
    unsigned block[3], thread[3];
} checker_access;

typedef struct checker_finding {
    int kind;
    uint64_t launch; // its number
    char kernel[256];
    unsigned grid[3], shape[3];   // of the launch: blocks, and threads per block
    checker_access access, other; // other: of a race; with no bytes elsewhere
    uint64_t address;
    int space;          // emu_space
    int parameter;      // of the kernel, whose array it is (or nearly); -1: none
    char variable[128]; // the shared or constant variable; "" for others
    int64_t offset;     // of the address in that array or variable, which ...
    uint64_t length;    // ... has so many bytes; 0: unknown
    uint64_t count;     // of such accesses at this place
    uint64_t other_launch;
    // Of CHECKER_STREAMS: the lines of the host that have queued the two, and the kernel of the other.
    emu_line call, other_call;
    char other_kernel[128];
} checker_finding;
#define CHECKER_COPY (1ull << 63) // as a launch's number: it is none, but a copy by the host

// A place in a kernel and the kind of its access.
typedef struct site {
    uintptr_t code;
    const char *file;
    int line;
    unsigned kind, bytes;
} site;
enum { ATOMIC_SITES = 1 << 15 }; // numbers from here on are of atomic and volatile accesses
unsigned site_number(const emu_where *at, unsigned kind, size_t bytes);
const site *site_of(unsigned number);

// `other` < 0: no other access. Returns the finding if it is new.
checker_finding *findings_add(checker_kind kind, const block_state *block, int thread, unsigned at,
                              const emu_access_event *access, int64_t other_who, unsigned other_site,
                              const interval *array);
// A copy by the host, with that number, and a launch in another stream.
void findings_add_copy(uint64_t number, unsigned at, uintptr_t address, size_t bytes, const stream_work *before,
                       unsigned other);
void findings_set_works(checker_finding *of, const stream_work *before); // of CHECKER_STREAMS, with the current one
// Places where kernels call malloc: a block more is in use, or one less.
unsigned findings_malloc(const block_state *block, const emu_where *at, const emu_access_event *access);
void findings_freed(unsigned leak);
emu_line findings_line(const uintptr_t *calls); // of the call by which the host has queued a work
void findings_add_index(const block_state *block, const emu_where *at, int64_t index, const char *type);
void findings_clear(void);

// --- quick.c: accesses that are no mistake, as nearly all ----------------------------------------------------------

extern int quick_is_wanted;                   // (tests compare its findings with those of the rules alone)
void quick_begin(const block_state *block);   // it runs from now on
void quick_barrier(const block_state *block); // it has passed one
void quick_end(void);
void quick_clear(void);
void quick_forget(void);     // which reads of the block need no test: something has changed that concerns them
void quick_new_launch(void); // which of the launch, too
uint32_t quick_stamp(void);  // a new stamp, the next one
static inline int quick_distance(uint32_t a, uint32_t b) { // 0: of one warp, 1: of one block, 2: of two
    const uint32_t threads = checker_launch.threads;
    if ((a | b) & IS_ASYNC || a / threads != b / threads) return 2;
    return a % threads / 32 != b % threads / 32;
}

// --- rules.c -------------------------------------------------------------------------------------------------------

void rules_access(block_state *block, const emu_where *at, const emu_access_event *access);
void rules_fence(block_state *block, int thread, unsigned scope);
void rules_release(block_state *block, int thread, uint64_t key, uint64_t for_block);
void rules_acquire(block_state *block, int thread, uint64_t key, uint64_t for_block);
void rules_block_barrier(block_state *block);
void rules_warp_barrier(block_state *block, int warp, uint32_t lanes);
void rules_free(block_state *block, const emu_where *at, const emu_access_event *access);
void rules_thread_ends(block_state *block, int thread);
void rules_copy(const emu_copy_event *event); // by the host
// Whether the host accesses what a kernel for which it has not waited accesses, in `work`, at that site.
int rules_host(const emu_host_event *event, stream_work *work, unsigned *with);
void rules_clear(void);

// Of asynchronous operations.
void rules_begin(block_state *block, const emu_where *at, const emu_access_event *access, uint32_t pending);
void rules_end(const emu_access_event *access, uint32_t pending, uint32_t who);
void rules_learn(block_state *block, int first, int count, uint32_t who); // threads: all accesses of `who` so far

// --- asynchronous.c ------------------------------------------------------------------------------------------------

void async_event(block_state *block, const emu_where *at, const emu_async_event *event);
void async_access(block_state *block, const emu_where *at, const emu_access_event *access);
void async_local(block_state *block, const emu_where *at, const emu_access_event *access); // a thread's own access

#endif
