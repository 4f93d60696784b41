// One block on one OS thread: shared declarations of block.c, warp.c and grid.c.
//
//   emu_grid   a launch: next block to run, stop flag, first error           (grid.c; shared by OS threads)
//      |
//   emu_block  one per OS thread (in a cluster several), used for one block after another   (block.c)
//      |-- threads[]   state, slot, fiber; by linear thread id
//      |-- order[]     slot -> thread: the order in which threads run
//      |-- ready[]     one bit per slot: the thread can run but is not running
//      |-- warps[]     operations that wait for lanes                        (warp.c)
//      |-- services    state and hooks of async.c, mbarrier.c, tensor.c, product.c, proxy.c, registers.c
//      |-- cluster     the blocks that run in turn on this OS thread           (cluster.c)
//      '-- stacks      fibers; those without a thread are in idle[]
//
// Invariants: exactly one thread of a block runs. A thread is running, ready (its bit is set), waiting (at a barrier,
// an mbarrier or a warp operation) or has exited. A ready thread without a fiber has not begun. `live` counts threads
// that have not exited.
#ifndef EMULATOR_BLOCK_H
#define EMULATOR_BLOCK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include "core.h"
#include "emulator/device_core.h"
#include "driver_types.h"
#include "fiber.h"
#include "tools.h"

#define EMU_LIKELY(x)   __builtin_expect(!!(x), 1)
#define EMU_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define STATIC_TLS      __attribute__((tls_model("initial-exec")))

enum { EMU_MAX_WARPS = EMU_MAX_THREADS / EMU_WARP };

struct emu_block;
typedef struct emu_grid {
    const emu_grid_launch *launch;
    const atomic_int *cancel;
    double clock_ghz;
    emu_order order;
    uint64_t seed;
    size_t stack_bytes;
    uint64_t total;        // number of blocks, or of clusters
    _Atomic uint64_t next; // position in the order of blocks
    atomic_int stop;       // a block has failed: all blocks stop
    atomic_int asserted;   // an assert has failed, and been printed
    pthread_mutex_t lock;  // for the members below
    pthread_cond_t all_here;
    int waiting, finished; // cooperative launches only: blocks at the grid barrier; blocks that have ended
    // Of these, if a tool wants one block at a time: the one whose turn it is, and which ones can take it.
    uint64_t turn;
    unsigned char *can_run;
    unsigned generation; // number of grid barriers passed
    int code;
    emu_grid_error *error;
    const emu_subscriber *tool; // tools.c; NULL: nobody watches the launch, and the members below are unused
    emu_launch_event *event;
    emu_trampoline trampoline;                          // the kernel's own
    void (*begin_another)(const struct emu_grid *grid); // block, on one more OS thread; NULL: one thread runs all
    // The next block of a grid, unless blocks of it wait for each other: NULL. 0: there is none.
    int (*draw)(struct emu_block *, uint64_t *number, emu_dim3 *index);
} emu_grid;

typedef enum emu_state {
    EMU_LIVE,
    EMU_AT_WARP,
    EMU_AT_MBARRIER,
    EMU_AT_PART,
    EMU_AT_CLUSTER,
    EMU_AT_REGISTERS,
    EMU_LATE,
    EMU_EXITED
} emu_state;

typedef struct emu_thread {
    emu_fiber *fiber; // NULL: has not begun
    emu_dim3 index;   // it, id and slot: as in emu_here
    uint16_t id, slot;
    uint8_t state, kind; // kind (an emu_warp_kind) and the members below describe what the thread waits for
    uint8_t quiet;       // tools.c: the core reports what the thread accesses, its library must not
    unsigned mask;       // of a warp operation; at an mbarrier: the parity; at a barrier of a part: its number
    int line;
    const char *file;
    const void *at;  // the call of __activemask, or the mbarrier
    int arrived;     // the thread has called cluster_arrive, but not yet cluster_wait
    unsigned phase;  // of the cluster's barrier, at that call
    uint64_t result; // the return value of the call in which the thread waits
} __attribute__((aligned(64))) emu_thread;

typedef struct emu_meeting { // lanes of one warp that call one operation with one mask
    unsigned mask, arrived;
    emu_warp_kind kind;
} emu_meeting;

typedef struct emu_warp_state {
    unsigned exited; // lanes that have ended or do not exist
    unsigned asking; // lanes at __activemask
    int meetings;
    emu_meeting meeting[EMU_WARP];
    uint64_t value[EMU_WARP];
    int argument[EMU_WARP];
    uint8_t width[EMU_WARP];
} emu_warp_state;

// State of a file that serves device code: of one block, and kept for the OS thread's next one. In the order of their
// reports.
enum emu_service {
    EMU_REGISTERS,
    EMU_WAITS,
    EMU_CLUSTER,
    EMU_COPIES,
    EMU_STORES,
    EMU_PRODUCTS,
    EMU_VIEW,
    EMU_SERVICES
};
typedef struct emu_service_state {
    void *state; // NULL: not used yet
    void (*release)(void *);
} emu_service_state;

// A mapping for shared memory; shared.c has a diagram.
typedef struct emu_shared {
    char *map; // NULL: there is none yet
    size_t room;
    char *begin, *end; // of the variables, and of the room
    size_t bytes;
} emu_shared;

typedef struct emu_hooks {              // of such a file; NULL: nothing to do
    int (*deliver)(struct emu_block *); // finishes copies that threads wait for: whether any thread became ready
    void (*report)(struct emu_block *); // no thread can continue: fails if a thread waits in that file
    void (*end)(struct emu_block *);    // all threads have ended: finishes the rest, or fails
} emu_hooks;

typedef struct emu_block {
    emu_thread *current;
    unsigned slot; // the current thread's
    emu_grid *grid;
    int live, arrived;
    int inside; // a thread runs, on a fiber: the OS thread is not on its own stack
    // Where to continue after a fault in a copy that the OS thread itself carries out; NULL: it carries out none.
    sigjmp_buf *recover;
    const char *site_file; // where the first thread waits at the barrier
    int site_line, slow;   // slow: it is another barrier than __syncthreads, or a tool wants to hear of each arrival
    int sum, sum_not_zero; // predicates at this barrier: their number, and how many are true
    int result;            // of the last barrier passed
    int words;             // of the bitmaps in use
    int asking;            // number of threads at __activemask
    int late, next_late;   // number of threads in emu_block_be_late, and where to look for the next one
    unsigned spins;
    int alone;                                // one thread stands for all: emu_block_alone
    int silent, one_by_one;                   // and does not tell for which; again, because one of them has failed
    int tries;                                // number of calls of emu_yield in this round of the threads
    unsigned waits;                           // number of such rounds, in which perhaps all threads only waited
    uint64_t ready[EMU_MAX_THREADS / 64 + 1]; // words that are not in use are 0
    uint64_t live_slots[EMU_MAX_THREADS / 64];
    emu_thread *order[EMU_MAX_THREADS];
    emu_thread threads[EMU_MAX_THREADS];
    emu_warp_state warps[EMU_MAX_WARPS];
    int thread_count, warp_count;
    emu_barrier barrier;              // the kind of the barrier at the site
    void (*open)(struct emu_block *); // lets the threads that wait there continue; set by barrier.c
    emu_dim3 shape;                   // the block size for which threads[] is filled in
    emu_dim3 index;
    uint64_t number, phase;
    uint64_t position; // in the order of the grid's blocks
    uint64_t runs;     // blocks that this OS thread has begun: state of an earlier one is out of date
    const emu_hooks *hooks[EMU_SERVICES]; // NULL: the block does not use the service
    emu_service_state services[EMU_SERVICES];
    // Set by cluster.c in a block of a cluster, otherwise NULL.
    struct emu_cluster *cluster;
    void (*leave)(struct emu_block *, emu_fiber *); // lets other blocks run, and returns when a thread is ready
    void (*exits)(struct emu_block *, const emu_thread *);
    struct emu_block *mate;          // the cluster's next block, in a ring; in a block outside of one not used
    struct emu_cluster *own_cluster; // in the OS thread's own block: memory for clusters
    void (*free_cluster)(struct emu_cluster *);
    int rank;
    emu_fiber *parked;       // where the block continues; NULL: has not begun
    char *static_copy;       // its static shared variables while another block of the cluster runs
    emu_fiber main, nowhere; // the OS thread's own stack; a stack that is left for good
    emu_fiber *idle[EMU_MAX_FIBERS];
    int idle_count, idle_mixed;
    int abandoned, failed;
    int fail_code;         // the error to report once back on the OS thread's own stack
    const char *fail_file; // NULL: unknown
    int fail_line;
    emu_dim3 fail_thread;
    char fail_text[EMU_MESSAGE / 2];
    uintptr_t fail_code_at, fail_address; // of a fault: the kernel's instruction, and what it accessed; 0: unknown
    pthread_t thread;                     // the OS thread (in its own block)
    struct emu_block *next_runner;        // grid.c
    emu_shared shared;                    // dynamic shared memory
    char *locals;                         // what threads keep in emu_locals; NULL: there is none yet
    size_t locals_used;
    // The OS thread's static shared variables of the libraries whose kernels it has run last.
    struct {
        size_t module;
        emu_shared shared;
    } own_statics[8];
    unsigned next_statics; // the place to use for another library
    // tools.c
    const emu_subscriber *tool; // NULL: nobody watches the block, and the members below are unused
    emu_block_event event;
    const char *statics_at; // where its code finds its static shared variables
    unsigned operations;    // asynchronous ones that have begun
    const emu_shared
        *statics; // static shared variables, which all blocks of a cluster share; NULL: the core has not placed them
    emu_stacks stacks;
} emu_block;

// This OS thread's block. Like threadIdx and similar variables it is in static TLS, which is accessed without a call
// and is small enough for the reserve that the system keeps for libraries loaded at run time.
extern __thread emu_block *emu_current __attribute__((tls_model("initial-exec"), visibility("hidden")));

// --- block.c
extern const char *const emu_barrier_names[];           // of the kinds of emu_sync_block_with
emu_block *emu_block_here(void);                        // this OS thread's, created on first use; NULL: no memory
int emu_block_attach(emu_block *block, emu_grid *grid); // before the grid's blocks run here; -1: no memory
void emu_block_run(emu_block *block, uint64_t number, emu_dim3 index);
void emu_block_run_watched(emu_block *block, uint64_t number, emu_dim3 index); // of a grid that a tool watches
// The parts of emu_block_run: sets the block up; runs it until its threads have ended, it leaves, or it is abandoned;
// discards what an abandoned block has left, and reports its error.
void emu_block_prepare(emu_block *block, uint64_t number, emu_dim3 index);
void emu_block_enter(emu_block *block);
void emu_block_discard(emu_block *block);
emu_block *emu_block_new(void); // NULL: no memory
void emu_block_free(emu_block *block);
// The state of a service, zeros at first. Fails the block if there is no memory.
void *emu_block_service(emu_block *block, enum emu_service service, size_t bytes, void (*release)(void *));
emu_thread *emu_block_search(emu_block *block, unsigned from);
emu_thread *emu_block_nothing_ready(emu_block *block, emu_fiber *fiber, unsigned from); // `fiber`: the one that runs
_Noreturn void emu_block_deadlock(emu_block *block);
int emu_block_deliver(emu_block *block); // finishes copies that threads wait for: whether any thread became ready
void emu_block_wait(emu_block *block);   // lets others run, also within an operation of the warp
// Returns when no other thread of the block or cluster can continue, and no copy could change that.
void emu_block_be_late(emu_block *block);
int emu_block_let_late(emu_block *block); // one that waits so continues; returns 0 if there is none
void emu_block_shuffle(emu_block *block);
emu_fiber *emu_block_first_fiber(emu_block *block, emu_thread *thread);
_Noreturn void emu_block_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void emu_block_fail_as(int code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
_Noreturn void emu_block_abandon(emu_block *block);
void emu_block_watch_thread(const void *function, const void *arguments); // a trampoline that reports the thread
// Turns of a cooperative grid's blocks (turns.c), for the caller that holds grid->lock. The block cannot take its
// turn until `ready`, which lets all blocks of the grid; passes the turn on; waits for its own.
void emu_turn_give(emu_block *block, int can_run);
void emu_turn_all_ready(emu_grid *grid);
void emu_turn_take(emu_block *block);
void emu_grid_wait(emu_grid *grid); // for grid->all_here, or a short time
// The first error wins; all blocks stop. `address`: as in emu_grid_error.
void emu_grid_fail(emu_grid *grid, int code, const char *message, uintptr_t address);
void emu_block_refuse(const char *file, int line); // if one thread stands for all, which must not wait
static inline void emu_block_make_ready(emu_block *block, emu_thread *thread) {
    thread->state = EMU_LIVE;
    block->ready[thread->slot >> 6] |= (uint64_t)1 << (thread->slot & 63);
}
static inline int emu_block_stopped(const emu_block *block) {
    const emu_grid *grid = block->grid;
    return atomic_load_explicit(&grid->stop, memory_order_relaxed) ||
           (grid->cancel && atomic_load_explicit(grid->cancel, memory_order_relaxed));
}

// Which thread is current: threadIdx, id and slot at once.
static inline void emu_block_show(const emu_thread *thread) {
    memcpy(&emu_threadIdx, (const char *)thread + offsetof(emu_thread, index), offsetof(emu_here, direct));
}

// Removes and returns the first ready thread, from slot `from` on and then from slot 0; the caller runs it next.
//
// Usually it is the thread in slot `from` itself. A branch tests this first: the processor predicts it and continues
// without waiting for the search, so it works on several emulated threads at once.
static inline __attribute__((always_inline)) emu_thread *emu_block_take(emu_block *block, unsigned from) {
    uint64_t *word = &block->ready[from >> 6], bit = (uint64_t)1 << (from & 63);
    if (EMU_UNLIKELY(!(*word & bit))) return emu_block_search(block, from);
    *word &= ~bit;
    block->slot = from;
    return block->order[from];
}

// Leaves the fiber `from` and continues `next`. Returns when the thread that left continues, with its result.
static inline __attribute__((always_inline)) uint64_t emu_block_resume(emu_block *block, emu_fiber *from,
                                                                       emu_thread *next) {
    emu_fiber *to = next->fiber;
    if (EMU_UNLIKELY(!to)) to = emu_block_first_fiber(block, next);
    block->current = next;
    emu_block_show(next);
    return emu_fiber_go(from, to, next->result, 0);
}

// Lets the current thread wait and runs others, from slot `from` on.
static inline __attribute__((always_inline)) uint64_t emu_block_switch(emu_block *block, unsigned from) {
    emu_thread *self = block->current, *next = emu_block_take(block, from);
    if (EMU_UNLIKELY(!next)) next = emu_block_nothing_ready(block, self->fiber, from);
    if (EMU_UNLIKELY(next == self)) return self->result;
    return emu_block_resume(block, self->fiber, next);
}

// --- shared.c
enum { EMU_SHARED_GRAIN = 1024 }; // a box that is copied with a swizzle begins at a multiple of it
static inline size_t emu_shared_room(const emu_shared *shared) { // from the first variable on
    return (size_t)(shared->end - shared->begin);
}
// Makes room for so many bytes that begin `first` bytes after a multiple of `align`. -1: no memory.
int emu_shared_place(emu_shared *shared, size_t bytes, size_t align, size_t first);
void emu_shared_free(emu_shared *shared);
// Whether canaries before or behind the block's variables have changed, and in which words: "wrote beyond the end of
// ...".
int emu_shared_damage(const emu_block *block, int behind, char *text, size_t size);
// What is at an address near shared memory, in words: "12 bytes beyond the end of ...". Returns 0 if it is not near.
int emu_shared_explain(const emu_block *block, uintptr_t address, char *text, size_t size);
// Before an OS thread runs blocks of the grid, with its own block: places the static variables; -1: no memory. And
// afterwards.
int emu_shared_enter(emu_block *block);
void emu_shared_leave(emu_block *block);
char *emu_statics_of(const emu_block *block, size_t *bytes);

// --- cluster.c: blocks that run in turn on one OS thread
// Runs the cluster `number` of a grid, whose first block is `first`. `block`: this OS thread's.
void emu_cluster_run(emu_block *block, uint64_t number, emu_dim3 first);
// A block of the running block's cluster; fails if there is none, or if it has ended.
emu_block *emu_cluster_block(int rank, const char *call, const char *file, int line);
// A block of the same cluster, which may have ended.
emu_block *emu_cluster_member(emu_block *block, int rank);
// The address in `block` of the variable that the running block has at `address`, as `block` itself sees it; and
// where that is now.
void *emu_cluster_peer(const emu_block *block, const void *address);
void *emu_cluster_address(const emu_block *block, const void *address);

// --- proxy.c
// A copy has brought bytes to that address in the block, which may not run now.
void emu_proxy_landed(emu_block *block, const void *address, size_t bytes);
void emu_proxy_begin(emu_block *block);             // an asynchronous operation that reads shared memory begins
void emu_proxy_read(void *to, const void *address); // what it sees in 16 bytes

// --- mbarrier.c

// A copy that is to report its bytes to an mbarrier. Allocated with malloc; mbarrier.c frees it.
typedef struct emu_delivery {
    struct emu_delivery *next;
    void *mbarrier;
    emu_block *block; // whose mbarrier it is
    int bytes;
    void (*land)(const struct emu_delivery *); // carries the copy out
} emu_delivery;
void emu_mbarrier_promise(emu_delivery *delivery, const char *file, int line);

// --- fault.c
#define EMU_STACK_OVERFLOW                                                                                           \
    "the thread overflowed its stack of %zu bytes. Use less recursion and smaller local arrays, or raise the "       \
    "setting \"stack\""
void emu_fault_catch(void);          // before kernels run: installs the handler unless it is in place
void emu_fault_prepare_thread(void); // the same, for the calling OS thread: its signal stack
void emu_fault_fork(void);
// If the block that the OS thread runs is to stop: abandons it at once if it executes the kernel's code, otherwise
// when it returns there.
void emu_fault_interrupt(pthread_t thread);
// The end of a failed `assert` (device_assert.h).
EMU_API _Noreturn void emu_assert_fail(const char *expression, const char *file, unsigned line, const char *function);

// --- warp.c
extern const char *const emu_warp_names[EMU_WARP_KINDS];
void emu_warp_lane_exits(emu_block *block, emu_thread *thread);
int emu_warp_answer_asking(emu_block *block); // whether any thread became ready
_Noreturn void emu_warp_report_deadlock(emu_block *block);

#endif
