// Streams: queues that keep order, a thread each. What stream.c, wait.c, event.c and launch.c share.
//
//            head                    tail
//   stream A  [kernel 1]->[record 2]->[copy 6]        completed 0, enqueued 3 (tickets count within a stream)
//   stream B  [wait A,2  3]->[kernel 4]               waits for another stream's ticket
//   NULL      [set 5]                                 waits for every earlier operation of blocking streams
//
// The numbers are each operation's `order`, given under the lock when it is queued. Invariants:
//   - along a queue `order` grows; only the head runs; an operation waits only for operations of smaller order.
//     So there is no cycle, and no deadlock.
//   - a stream's operations up to ticket `completed` have run, and no other has finished.
//   - structs of streams and events are recycled, never freed, and tickets go on counting, so "completed >= ticket"
//     stays true once it was, whatever became of the handle; a stale handle is recognised, not followed.
//
// A kernel's error is kept in its stream until it is reported (wait.c: to whom). Kernels behind it in the stream are
// skipped till then: their input is not what it should be. (On a GPU nothing works after such an error until the
// process ends; here the stream does.)
#ifndef EMULATOR_STREAM_H
#define EMULATOR_STREAM_H

#include <pthread.h>

#include "host.h"

typedef enum emu_op_kind { OP_WORK, OP_KERNEL, OP_RECORD, OP_WAIT } emu_op_kind;

typedef struct emu_stream emu_stream;
typedef struct emu_event emu_event;

typedef struct emu_op {
    struct emu_op *next;
    uint64_t order, ticket;
    emu_op_kind kind;
    int here;     // run by the thread that queued it: lives on that thread's stack
    int always;   // even when it is given up
    int given_up; // who launched it broke off a wait for it: it is not carried out any more
    emu_work work;
    void *data;
    emu_grid_launch launch;
    pthread_t launcher;  // the thread that asked for it
    emu_event *event;    // OP_RECORD
    uint64_t record;     // which record of the event
    emu_stream *awaited; // OP_WAIT
    uint64_t awaited_ticket;
} emu_op;

typedef struct emu_report { // a kernel's error
    int code;
    int told; // a thread that did not launch the kernel knows
    pthread_t launcher;
    uint64_t order;
    char message[EMU_MESSAGE];
} emu_report;

struct emu_stream {
    int live; // the handle is valid
    int device, is_null, priority;
    unsigned long long id; // no other stream ever has it
    int of_thread;         // cudaStreamPerThread of `owner`
    pthread_t owner;
    unsigned flags;
    uint64_t enqueued, completed; // tickets
    emu_op *head, *tail;
    int has_worker, closing;
    uint64_t reach;    // wait.c: of what is broken off
    atomic_int cancel; // what the running grid polls
    emu_report error;
    pthread_cond_t work; // for the worker: the head changed
    pthread_cond_t done; // for everyone: `completed` grew
    emu_stream *next;    // in `streams`, or in the list of free ones
};

struct emu_event {
    int live, device;
    unsigned flags;
    emu_stream *stream; // where it was last recorded; NULL: never
    uint64_t ticket, order, record, time_ns;
    emu_event *next;
};

extern struct emu_queues {
    pthread_mutex_t lock;                // of all streams and events
    emu_stream *streams;                 // every stream in use, the NULL streams too
    emu_report orphans[EMU_MAX_DEVICES]; // errors of streams that are gone
    uint64_t last_order;
} emu_queues;

// All that follows: with the lock held.
static inline int emu_is_blocking(const emu_stream *s) {
    return !(s->flags & cudaStreamNonBlocking);
}
static inline int emu_pending_before(const emu_stream *s, uint64_t order) {
    return s->head && s->head->order < order;
}

// --- stream.c
int emu_find_stream(void *handle, int device, emu_stream **found); // `device`: the calling thread's
emu_stream *emu_blocker(const emu_stream *s, const emu_op *o); // what must advance before `o` can run; NULL: nothing
int emu_can_run_now(const emu_stream *s, emu_op *o);           // `o` is not queued yet
int emu_queue_later(emu_stream *s, emu_op *o); // for the stream's thread, which frees it; not where this fails
void emu_enqueue(emu_stream *s, emu_op *o);    // and no more: the caller sees to it that it is run
void emu_finish(emu_stream *s);                // the head has run

// --- wait.c
// Whether a wait on `s` (NULL: on the device; device -1: on all) is one for the work of `t`, too.
static inline int emu_covers(const emu_stream *s, int device, const emu_stream *t) {
    if (!s) return device < 0 || t->device == device;
    return t == s || (s->is_null && t->device == s->device && emu_is_blocking(t));
}
static inline uint64_t emu_ask_at(void) { // when somebody is asked next
    return emu_now_ns() + 50000000u;
}
// Waits till `t` has advanced, or does not wait that long; asks when it is time. Nonzero: the wait is broken off.
int emu_wait_and_ask(emu_stream *t, uint64_t *ask, emu_interrupted interrupted, void *argument);
void emu_give_up(void); // how far into each stream: its `reach`
// Tells the calling thread: a copy goes to `earliest` if that has none or a later one. An error told to its launcher
// is gone.
void emu_tell(emu_report *from, emu_report *earliest);
int emu_report_code(const emu_report *report); // notes code and words for the calling thread, if there is an error

#endif
