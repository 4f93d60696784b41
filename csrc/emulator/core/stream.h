// Streams: queues that keep order, each with a thread. Shared declarations of stream.c, wait.c, event.c and launch.c.
//
//            head                    tail
//   stream A  [kernel 1]->[record 2]->[copy 6]        completed 0, enqueued 3 (tickets count within a stream)
//   stream B  [wait A,2  3]->[kernel 4]               waits for another stream's ticket
//   NULL      [set 5]                                 waits for every earlier operation of blocking streams
//
// The numbers are each operation's `order`, which is assigned under the lock when it is queued. Invariants:
//   - `order` increases along a queue; only the head runs; an operation waits only for operations of smaller order.
//     So there is no cycle and no deadlock.
//   - exactly a stream's operations up to ticket `completed` have finished.
//   - structs of streams and events are recycled, never freed, and tickets continue to count. So once "completed >=
//     ticket" is true, it stays true, even after the handle is destroyed. A stale handle is recognized without
//     dereferencing it.
//
// After a kernel's failure, later kernels of the stream are skipped, because their input is wrong, until the failure
// has been reported. A kernel that failed or was skipped stays in its stream's list `reports` until its launcher has
// been told; wait.c has a picture. (On a GPU nothing works after such an error until the process ends; here this
// is so for whole programs, errors.c, and for others the stream stays usable.)
#ifndef EMULATOR_STREAM_H
#define EMULATOR_STREAM_H

#include <pthread.h>
#include <stdlib.h>

#include "host.h"
#include "emulator/events.h"

typedef enum emu_op_kind { OP_WORK, OP_KERNEL, OP_RECORD, OP_WAIT } emu_op_kind;

// By which waits a thread has been told of a failure.
typedef enum emu_told { NOT_TOLD, TOLD_ELSEWHERE, TOLD_BY_STREAM } emu_told;

enum { EMU_AWAITED = 16 };

typedef struct emu_stream emu_stream;
typedef struct emu_event emu_event;

typedef struct emu_op {
    struct emu_op *next;
    uint64_t order, ticket;
    emu_op_kind kind;
    int here;     // run by the thread that queued it, on whose stack this struct is
    int always;   // run even if it was canceled
    int given_up; // canceled: its launcher interrupted a wait for it
    emu_work work;
    void *data;
    emu_grid_launch launch;
    struct emu_op *children, *last_child; // of a kernel: those that it has launched, which run after it
    struct emu_op *tail, *last_of_tail;   // and those that come last
    uint64_t launcher;                    // the number of the thread that queued it; 0: it has ended
    emu_event *event;                     // OP_RECORD
    uint64_t record;                      // which record of the event
    emu_stream *awaited;                  // OP_WAIT
    uint64_t awaited_ticket;
    // OP_KERNEL, in a list of reports: it failed or was skipped
    int code;
    char *message;     // NULL: there was no memory for it
    size_t reason;     // where the message begins to tell of the kernel that failed
    uint64_t last;     // the order of the last operation that it stands for, since a list has one report per launcher
    emu_told reported; // to threads that did not launch it
} emu_op;

typedef struct emu_awaited { // an event that a stream has waited for: its stream, and what was queued before it
    emu_stream *stream;
    unsigned long long id;
    uint64_t order;
} emu_awaited;

struct emu_stream {
    int live; // the handle is valid
    int device, is_null, priority;
    unsigned long long id; // never reused for another stream; 0: the stream is gone
    uint64_t owner;        // it is the cudaStreamPerThread of this thread; 0: it is another kind of stream
    unsigned flags;
    uint64_t enqueued, completed; // tickets
    emu_op *head, *tail;
    int has_worker, closing;
    uint64_t reach;    // wait.c: operations of smaller order may be canceled
    atomic_int cancel; // polled by the running grid
    emu_op *reports;
    emu_awaited awaited[EMU_AWAITED]; // the last ones
    unsigned awaited_count;
    unsigned long long visit; // of emu_tell_awaited
    pthread_cond_t work;      // for the worker: the head changed
    pthread_cond_t done;      // for waiting threads: `completed` grew
    emu_stream *next;         // in `streams`, or in the list of free ones
};

struct emu_event {
    int live, device;
    unsigned flags;
    emu_stream *stream; // the stream of its last record; NULL: never recorded
    unsigned long long stream_id;
    uint64_t ticket, order, record, time_ns;
    emu_event *next;
};

extern struct emu_queues {
    pthread_mutex_t lock;             // for all streams and events
    emu_stream *streams;              // every stream in use, including the NULL streams
    emu_op *orphans[EMU_MAX_DEVICES]; // reports of destroyed streams
    uint64_t last_order;
    uint64_t report_count; // of streams and orphans
} emu_queues;

// The lock must be held when these functions are called.
static inline int emu_is_blocking(const emu_stream *s) {
    return !(s->flags & cudaStreamNonBlocking);
}
static inline int emu_pending_before(const emu_stream *s, uint64_t order) {
    return s->head && s->head->order < order;
}

// --- stream.c
int emu_find_stream(void *handle, int device, emu_stream **result); // `device`: the calling thread's
emu_stream *emu_blocker(const emu_stream *s, const emu_op *o);      // a stream that `o` must wait for; NULL: none
int emu_can_run_now(const emu_stream *s, emu_op *o);                // `o` is not queued yet
int emu_queue_later(emu_stream *s, emu_op *o); // for the stream's thread, which frees `o`; on failure the caller does
void emu_enqueue(emu_stream *s, emu_op *o);    // only adds it to the queue; the caller must run it
void emu_finish(emu_stream *s);                // removes the head after it has run
// To the tool that watches, if there is one. `device`: of EMU_ORDER_DEVICE.
void emu_tell_order(emu_order_kind kind, const emu_stream *s, int device, const emu_event *event);
// The calling thread's number, which is never reused. A thread that has not found a stream has launched nothing:
// UINT64_MAX.
uint64_t emu_thread_number(void);
static inline void emu_forget(emu_op *report) {
    emu_queues.report_count--;
    free(report->message);
    free(report);
}

int emu_event_has_record(void *event); // event.c; takes the lock

// --- wait.c
// Whether a wait on `s` (NULL: on the device; device -1: on all devices) includes the work of `t`.
static inline int emu_covers(const emu_stream *s, int device, const emu_stream *t) {
    if (!s) return device < 0 || t->device == device;
    return t == s || (s->is_null && t->device == s->device && emu_is_blocking(t));
}
static inline uint64_t emu_ask_at(void) { // the time of the next call of `interrupted`
    return emu_now_ns() + 50000000u;
}
// Waits until `t` advances, or shorter; calls `interrupted` when it is due. Nonzero: the wait is interrupted.
int emu_wait_and_ask(emu_stream *t, uint64_t *ask, emu_interrupted interrupted, void *argument);
void emu_give_up(void); // cancels operations up to each stream's `reach`
// What a wait reports to the calling thread: of several failures, the earliest of its own launches, else the earliest
// one.
typedef struct emu_failure {
    int code, is_own;
    uint64_t order;
    char message[EMU_MESSAGE];
} emu_failure;
// Tells the calling thread of the reports of operations before `end`. `how`: whether by a wait on the stream itself.
void emu_tell(emu_op **reports, uint64_t end, emu_told how, emu_failure *failure);
void emu_tell_awaited(emu_stream *s, emu_failure *failure); // of its own launches that the stream has waited for
int emu_failure_code(const emu_failure *failure); // records code and message for the calling thread, if there is one

#endif
