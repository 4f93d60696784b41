// Streams: queues that keep order, a thread each; events; launches.
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
// The legacy default stream (NULL) of a device runs after all that was queued before it on the device's blocking
// streams, and they run after it; streams made with cudaStreamNonBlocking keep out of that. As on a GPU.
//
// An operation is run by the stream's own thread, made when it is first needed, or "here": by the thread that calls,
// which takes its place in the queue and waits for its turn. On an idle stream that costs no switch of threads.
//
// A kernel's error is kept in the stream until a synchronising call returns it, once. Kernels behind it in the stream
// are skipped till then: their input is not what it should be. (On a GPU nothing works after such an error until the
// process ends; here the stream does.)
#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STREAM_MAGIC = 0x5354524d, EVENT_MAGIC = 0x45564e54 };

typedef enum op_kind { OP_WORK, OP_KERNEL, OP_RECORD, OP_WAIT } op_kind;

typedef struct emu_event emu_event;

typedef struct op {
    struct op *next;
    uint64_t order, ticket;
    op_kind kind;
    int here;   // run by the thread that queued it: lives on that thread's stack
    int always; // even when the stream is cancelled
    emu_work work;
    void *data;
    emu_launch launch;
    emu_event *event;    // OP_RECORD
    uint64_t record;     // which record of the event
    emu_stream *awaited; // OP_WAIT
    uint64_t awaited_ticket;
} op;

typedef struct report { // a kernel's error, until it is returned
    int code, cancelled;
    uint64_t order;
    char message[EMU_MESSAGE];
} report;

struct emu_stream {
    int magic, live; // live: the handle is valid
    int device, is_null, priority;
    unsigned flags;
    uint64_t enqueued, completed; // tickets
    op *head, *tail;
    int has_worker, closing;
    uint64_t cancel_upto; // operations up to this ticket are given up
    atomic_int cancel;    // what the running grid polls
    report error;
    pthread_cond_t work; // for the worker: the head changed
    pthread_cond_t done; // for everyone: `completed` grew
    emu_stream *next;    // in `streams`, or in the list of free ones
};

struct emu_event {
    int magic, live, device;
    unsigned flags;
    emu_stream *stream; // where it was last recorded; NULL: never
    uint64_t ticket, order, record, time_ns;
    emu_event *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // all of the following
static emu_stream *streams, *free_streams;               // every stream in use, the NULL streams too
static emu_stream *null_streams[EMU_MAX_DEVICES];
static emu_event *free_events;
static report orphans[EMU_MAX_DEVICES]; // errors of streams that are gone
static uint64_t last_order, last_record;

uint64_t emu_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int is_blocking(const emu_stream *s) {
    return !(s->flags & cudaStreamNonBlocking);
}

// --- handles (lock held) -----------------------------------------------------------------------------------------
static void start_conditions(emu_stream *s) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->work, &monotonic);
    pthread_cond_init(&s->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static emu_stream *new_stream(int device, unsigned flags, int priority) {
    emu_stream *s = free_streams;
    if (s) {
        free_streams = s->next;
    } else {
        s = calloc(1, sizeof *s);
        if (!s) return NULL;
        s->magic = STREAM_MAGIC;
        start_conditions(s);
    }
    s->live = 1;
    s->closing = s->is_null = 0;
    s->device = device;
    s->flags = flags;
    s->priority = priority;
    s->next = streams;
    streams = s;
    return s;
}

static void keep_earliest(report *to, report *from) {
    if (from->code && (!to->code || from->order < to->order)) *to = *from;
    from->code = 0;
}

static void recycle(emu_stream *s) {
    keep_earliest(&orphans[s->device], &s->error);
    for (emu_stream **at = &streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    s->closing = 0;
    s->next = free_streams;
    free_streams = s;
}

static int bad_stream(const void *handle) {
    return emu_error(cudaErrorInvalidResourceHandle, "%p is not a stream, or one that was destroyed", handle);
}

// Handle to stream; `device` is the calling thread's.
static int find_stream(void *handle, int device, emu_stream **found) {
    *found = NULL;
    if (handle == (void *)cudaStreamPerThread)
        return emu_error(cudaErrorNotSupported, "cudaStreamPerThread: the emulator does not have it yet");
    if (!handle || handle == (void *)cudaStreamLegacy) {
        if (!null_streams[device]) {
            null_streams[device] = new_stream(device, cudaStreamDefault, 0);
            if (!null_streams[device]) return emu_error(cudaErrorMemoryAllocation, "no memory left for a stream");
            null_streams[device]->is_null = 1;
        }
        *found = null_streams[device];
        return cudaSuccess;
    }
    emu_stream *s = handle;
    if ((uintptr_t)handle % _Alignof(emu_stream) || s->magic != STREAM_MAGIC || !s->live) return bad_stream(handle);
    *found = s;
    return cudaSuccess;
}

static int find_event(void *handle, emu_event **found) {
    emu_event *e = handle;
    *found = NULL;
    if (!e || (uintptr_t)handle % _Alignof(emu_event) || e->magic != EVENT_MAGIC || !e->live)
        return emu_error(cudaErrorInvalidResourceHandle, "%p is not an event, or one that was destroyed", handle);
    *found = e;
    return cudaSuccess;
}

// --- order (lock held) -------------------------------------------------------------------------------------------
static int pending_before(const emu_stream *s, uint64_t order) {
    return s->head && s->head->order < order;
}

// A stream that the operation must see advance before it can run; NULL: none.
static emu_stream *blocker(const emu_stream *s, const op *o) {
    if (o->kind == OP_WAIT && o->awaited->completed < o->awaited_ticket) return o->awaited;
    if (!is_blocking(s)) return NULL;
    if (s->is_null) {
        for (emu_stream *t = streams; t; t = t->next)
            if (t != s && t->device == s->device && is_blocking(t) && pending_before(t, o->order)) return t;
        return NULL;
    }
    emu_stream *null = null_streams[s->device];
    return null && pending_before(null, o->order) ? null : NULL;
}

static void enqueue(emu_stream *s, op *o) {
    o->next = NULL;
    o->order = ++last_order;
    o->ticket = ++s->enqueued;
    if (s->head)
        s->tail->next = o;
    else
        s->head = o;
    s->tail = o;
}

// The head has run.
static void finish(emu_stream *s) {
    op *o = s->head;
    if (o->kind == OP_RECORD && o->event->record == o->record) o->event->time_ns = emu_now_ns();
    s->head = o->next;
    s->completed = o->ticket;
    pthread_cond_broadcast(&s->done);
    if (s->has_worker && (s->head || s->closing))
        pthread_cond_signal(&s->work);
    else if (s->closing && !s->head)
        recycle(s);
}

static void set_error(emu_stream *s, uint64_t order, int code, int cancelled, const char *message) {
    if (s->error.code) return;
    s->error.code = code;
    s->error.cancelled = cancelled;
    s->error.order = order;
    snprintf(s->error.message, sizeof s->error.message, "%s", message);
}

// --- the stream's thread -----------------------------------------------------------------------------------------
static void run(emu_stream *s, op *o, int given_up) { // lock not held
    if (o->kind == OP_WORK) {
        if (!given_up || o->always) o->work(o->data);
    } else if (o->kind == OP_KERNEL) {
        char message[EMU_MESSAGE] = "";
        int code = EMU_CANCELLED;
        if (!given_up) code = emu_grid_run(&o->launch, &s->cancel, emu_chip_now()->clock_khz / 1e6, message);
        if (!code) return;
        pthread_mutex_lock(&lock);
        if (code == EMU_CANCELLED)
            set_error(s, o->order, cudaErrorLaunchFailure, 1, "the kernel was cancelled");
        else
            set_error(s, o->order, code, 0, message);
        pthread_mutex_unlock(&lock);
    }
}

static void *worker(void *argument) {
    emu_stream *s = argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!s->head || s->head->here) {
            if (!s->head && s->closing) {
                s->has_worker = 0;
                recycle(s);
                pthread_mutex_unlock(&lock);
                return NULL;
            }
            pthread_cond_wait(&s->work, &lock);
        }
        op *o = s->head;
        for (emu_stream *b; (b = blocker(s, o));) pthread_cond_wait(&b->done, &lock);
        int given_up = o->ticket <= s->cancel_upto;
        atomic_store(&s->cancel, given_up);
        int skip = o->kind == OP_KERNEL && s->error.code; // its input is another kernel's failure
        pthread_mutex_unlock(&lock);
        if (!skip) run(s, o, given_up);
        pthread_mutex_lock(&lock);
        finish(s);
        free(o);
    }
}

// Once threads of ours exist, the library must stay: dlclose() would pull the code from under them.
static void stay_loaded(void) {
    Dl_info self;
    if (dladdr((void *)(uintptr_t)stay_loaded, &self) && self.dli_fname)
        dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

static int ensure_worker(emu_stream *s) { // lock held
    static int first = 1;
    if (s->has_worker) return cudaSuccess;
    if (first) stay_loaded();
    first = 0;
    // Signals are for the program's own threads (Python takes Ctrl-C in its main one); faults stay where they occur.
    sigset_t blocked, before;
    sigfillset(&blocked);
    static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) sigdelset(&blocked, FAULTS[i]);
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int error = pthread_create(&thread, &detached, worker, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    if (error) return emu_error(cudaErrorOperatingSystem, "a stream's thread cannot be made: %s", strerror(error));
    s->has_worker = 1;
    return cudaSuccess;
}

// Queues an operation made by malloc, for the stream's thread. Lock held; on failure the caller still owns it.
static int queue_later(emu_stream *s, op *o) {
    int code = ensure_worker(s);
    if (code) return code;
    enqueue(s, o);
    if (s->head == o) pthread_cond_signal(&s->work);
    return cudaSuccess;
}

static int can_run_now(const emu_stream *s, op *o) { // lock held; before it is queued
    o->order = last_order + 1;
    return !s->head && !blocker(s, o);
}

int emu_submit(void *handle, emu_work work, const void *data, size_t bytes, emu_manner manner, int always) {
    int device, code = emu_enter(&device);
    if (code) return code;
    op *later = NULL;
    if (manner != EMU_HERE) { // before the lock is taken
        later = calloc(1, sizeof *later + bytes);
        if (!later) return emu_error(cudaErrorMemoryAllocation, "no memory left for a stream's queue");
        *later = (op){.kind = OP_WORK, .work = work, .data = later + 1, .always = always};
        memcpy(later->data, data, bytes);
    }
    emu_stream *s;
    op here = {.kind = OP_WORK, .here = 1};
    pthread_mutex_lock(&lock);
    code = find_stream(handle, device, &s);
    if (!code && (manner == EMU_LATER || (manner == EMU_EITHER && !can_run_now(s, &here)))) {
        code = queue_later(s, later);
        if (!code) later = NULL;
    } else if (!code) {
        enqueue(s, &here);
        for (emu_stream *b;;) {
            if (s->head != &here)
                pthread_cond_wait(&s->done, &lock);
            else if ((b = blocker(s, &here)))
                pthread_cond_wait(&b->done, &lock);
            else
                break;
        }
        pthread_mutex_unlock(&lock);
        work((void *)(uintptr_t)data);
        pthread_mutex_lock(&lock);
        finish(s);
    }
    pthread_mutex_unlock(&lock);
    free(later);
    return code;
}

int emu_stream_device(void *handle, int *device) {
    int code = emu_enter(device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&lock);
    code = find_stream(handle, *device, &s);
    if (!code) *device = s->device;
    pthread_mutex_unlock(&lock);
    return code;
}

// --- waiting -----------------------------------------------------------------------------------------------------
// A stream with work that a wait on `s` covers; s NULL: every stream of `device` (-1: of all). Lock held.
static emu_stream *unfinished(const emu_stream *s, int device, uint64_t order) {
    for (emu_stream *t = streams; t; t = t->next) {
        int covered = !s ? device < 0 || t->device == device
                         : t == s || (s->is_null && t->device == s->device && is_blocking(t));
        if (covered && pending_before(t, order)) return t;
    }
    return NULL;
}

// Waits for what is queued now; returns 0 when the time is up first. Lock held. A NULL deadline is for ever.
static int wait_queued(const emu_stream *s, int device, const struct timespec *deadline) {
    uint64_t order = last_order + 1;
    for (emu_stream *t; (t = unfinished(s, device, order));) {
        if (!deadline)
            pthread_cond_wait(&t->done, &lock);
        else if (pthread_cond_timedwait(&t->done, &lock, deadline) == ETIMEDOUT)
            return !unfinished(s, device, order);
    }
    return 1;
}

static int return_report(report *from) {
    int code = from->code;
    if (code) emu_error(code, "%s", from->message);
    from->code = 0;
    return code;
}

// The earliest error among the streams that a wait on `s` (NULL: on the device) covers; the others go with it.
static int collect(emu_stream *s, int device) {
    if (s && !s->is_null) return return_report(&s->error);
    report *first = NULL;
    for (emu_stream *t = streams; t; t = t->next)
        if (t->device == device && (!s || is_blocking(t)) && t->error.code &&
            (!first || t->error.order < first->order))
            first = &t->error;
    if (orphans[device].code && (!first || orphans[device].order < first->order)) first = &orphans[device];
    int code = first ? return_report(first) : cudaSuccess;
    if (code) {
        orphans[device].code = 0;
        for (emu_stream *t = streams; t; t = t->next)
            if (t->device == device && (!s || is_blocking(t))) t->error.code = 0;
    }
    return code;
}

int emu_collect(void *handle) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&lock);
    code = find_stream(handle, device, &s);
    if (!code) code = collect(s, s->device);
    pthread_mutex_unlock(&lock);
    return code;
}

void emu_wait_idle(int device) {
    pthread_mutex_lock(&lock);
    wait_queued(NULL, device, NULL);
    pthread_mutex_unlock(&lock);
}

int emu_wait_device(int device) {
    pthread_mutex_lock(&lock);
    wait_queued(NULL, device, NULL);
    int code = collect(NULL, device);
    pthread_mutex_unlock(&lock);
    return code;
}

// cudaErrorNotReady is an answer, not an error: nothing is noted, here or by a query (so it is on a GPU).
int emu_stream_wait(void *handle, long milliseconds) {
    int device, code = emu_enter(&device);
    if (code) return code;
    struct timespec deadline;
    if (milliseconds >= 0) {
        uint64_t at = emu_now_ns() + (uint64_t)milliseconds * 1000000u;
        deadline.tv_sec = (time_t)(at / 1000000000u);
        deadline.tv_nsec = (long)(at % 1000000000u);
    }
    emu_stream *s;
    pthread_mutex_lock(&lock);
    code = find_stream(handle, device, &s);
    if (!code) {
        device = s->device;
        if (!wait_queued(s, device, milliseconds < 0 ? NULL : &deadline))
            code = cudaErrorNotReady;
        else
            code = collect(s, device);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int emu_stream_query(void *handle) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&lock);
    code = find_stream(handle, device, &s);
    if (!code && unfinished(s, s->device, last_order + 1))
        code = cudaErrorNotReady;
    else if (!code)
        code = collect(s, s->device);
    pthread_mutex_unlock(&lock);
    return code;
}

// What the stream has been given so far is abandoned: kernels end at their next barrier, thread or block, what is
// queued is dropped, memory on its way back is still given back, events still fire. What a dropped operation waited
// for on another stream is waited for. For the NULL stream that means the device's blocking streams as well, because
// waiting for it means waiting for them.
int emu_stream_cancel(void *handle) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&lock);
    code = find_stream(handle, device, &s);
    if (!code) {
        for (emu_stream *t = streams; t; t = t->next) {
            if (t != s && !(s->is_null && t->device == s->device && is_blocking(t))) continue;
            t->cancel_upto = t->enqueued;
            if (t->head) atomic_store(&t->cancel, 1);
        }
        wait_queued(s, s->device, NULL);
        for (emu_stream *t = streams; t; t = t->next)
            if (t->error.cancelled && t->device == s->device && (t == s || s->is_null)) t->error.code = 0;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

// --- streams -----------------------------------------------------------------------------------------------------
int emu_stream_create(void **handle, unsigned flags, int priority) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!handle || flags > cudaStreamNonBlocking)
        return emu_error(cudaErrorInvalidValue, "cudaStreamCreateWithFlags: flags %u; 0 and 1 are allowed", flags);
    pthread_mutex_lock(&lock);
    *handle = new_stream(device, flags, priority);
    pthread_mutex_unlock(&lock);
    return *handle ? cudaSuccess : emu_error(cudaErrorMemoryAllocation, "no memory left for a stream");
}

static void close_stream(emu_stream *s) { // lock held; what is queued still runs
    s->live = 0;
    s->closing = 1;
    if (s->head) return;
    if (s->has_worker)
        pthread_cond_signal(&s->work);
    else
        recycle(s);
}

int emu_stream_destroy(void *handle) {
    if (!handle || handle == (void *)cudaStreamLegacy || handle == (void *)cudaStreamPerThread)
        return emu_error(cudaErrorInvalidResourceHandle, "cudaStreamDestroy: a default stream cannot be destroyed");
    emu_stream *s;
    pthread_mutex_lock(&lock);
    int code = find_stream(handle, 0, &s);
    if (!code) close_stream(s);
    pthread_mutex_unlock(&lock);
    return code;
}

void emu_drop_streams(int device) {
    pthread_mutex_lock(&lock);
    for (emu_stream *s = streams, *next; s; s = next) {
        next = s->next;
        if (s->device == device && s->live && !s->is_null) close_stream(s);
    }
    pthread_mutex_unlock(&lock);
}

int emu_stream_info(void *handle, unsigned *flags, int *priority, int *device_out) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&lock);
    code = find_stream(handle, device, &s);
    if (!code) {
        if (flags) *flags = s->flags;
        if (priority) *priority = s->priority;
        if (device_out) *device_out = s->device;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

typedef struct host_call {
    void (*function)(void *);
    void *argument;
} host_call;

static void run_host_call(void *data) {
    host_call *call = data;
    call->function(call->argument);
}

int emu_stream_call(void *stream, void (*function)(void *), void *argument) {
    if (!function) return emu_error(cudaErrorInvalidValue, "cudaLaunchHostFunc: the function is NULL");
    host_call call = {function, argument};
    return emu_submit(stream, run_host_call, &call, sizeof call, EMU_LATER, 0);
}

// --- events ------------------------------------------------------------------------------------------------------
int emu_event_create(void **handle, unsigned flags) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!handle || flags > 7 || (flags & cudaEventInterprocess))
        return emu_error(cudaErrorInvalidValue,
                         "cudaEventCreateWithFlags: flags %u; allowed are 1 (blocking) and 2 (no timing)", flags);
    pthread_mutex_lock(&lock);
    emu_event *e = free_events;
    if (e) free_events = e->next;
    pthread_mutex_unlock(&lock);
    if (!e) e = malloc(sizeof *e);
    if (!e) return emu_error(cudaErrorMemoryAllocation, "no memory left for an event");
    pthread_mutex_lock(&lock);
    *e = (emu_event){.magic = EVENT_MAGIC, .live = 1, .device = device, .flags = flags};
    pthread_mutex_unlock(&lock);
    *handle = e;
    return cudaSuccess;
}

int emu_event_destroy(void *handle) {
    emu_event *e;
    pthread_mutex_lock(&lock);
    int code = find_event(handle, &e);
    if (!code) {
        e->live = 0;
        e->record = 0; // a record on its way finds that it is not meant any more
        e->next = free_events;
        free_events = e;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int emu_event_record(void *event, void *stream) {
    int device, code = emu_enter(&device);
    if (code) return code;
    op *later = calloc(1, sizeof *later);
    if (!later) return emu_error(cudaErrorMemoryAllocation, "no memory left for a stream's queue");
    later->kind = OP_RECORD;
    emu_stream *s;
    emu_event *e;
    pthread_mutex_lock(&lock);
    code = find_stream(stream, device, &s);
    if (!code) code = find_event(event, &e);
    if (!code && e->device != s->device)
        code = emu_error(cudaErrorInvalidResourceHandle,
                         "cudaEventRecord: an event of device %d on a stream of device %d", e->device, s->device);
    if (!code) {
        int now = can_run_now(s, later);
        later->event = e;
        later->record = last_record + 1;
        if (now)
            enqueue(s, later);
        else
            code = queue_later(s, later);
        if (!code) {
            e->record = ++last_record;
            e->stream = s;
            e->ticket = s->enqueued;
            e->order = last_order;
            if (now)
                finish(s);
            else
                later = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    free(later);
    return code;
}

static int fired(const emu_event *e) {
    return !e->stream || e->stream->completed >= e->ticket;
}

// The error that waiting for the event reports: of its stream, if it arose before the event.
static int event_error(emu_event *e) {
    emu_stream *s = e->stream;
    return s && s->error.order < e->order ? return_report(&s->error) : cudaSuccess;
}

int emu_event_query(void *handle) {
    emu_event *e;
    pthread_mutex_lock(&lock);
    int code = find_event(handle, &e);
    if (!code) code = fired(e) ? event_error(e) : (int)cudaErrorNotReady;
    pthread_mutex_unlock(&lock);
    return code;
}

int emu_event_synchronize(void *handle) {
    emu_event *e;
    pthread_mutex_lock(&lock);
    int code = find_event(handle, &e);
    if (!code && e->stream) {
        emu_stream *s = e->stream; // as it is now: a later record is not waited for
        uint64_t ticket = e->ticket;
        while (s->completed < ticket) pthread_cond_wait(&s->done, &lock);
        if (e->stream == s) code = event_error(e);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int emu_event_elapsed(float *milliseconds, void *start, void *end) {
    emu_event *a, *b;
    if (!milliseconds) return emu_error(cudaErrorInvalidValue, "cudaEventElapsedTime: no place for the result");
    pthread_mutex_lock(&lock);
    int code = find_event(start, &a);
    if (!code) code = find_event(end, &b);
    if (!code &&
        (!a->stream || !b->stream || a->device != b->device || (a->flags | b->flags) & cudaEventDisableTiming))
        code = emu_error(cudaErrorInvalidResourceHandle,
                         "cudaEventElapsedTime: both events must have been recorded, on one device, with timing");
    if (!code && !(fired(a) && fired(b))) code = cudaErrorNotReady;
    if (!code) *milliseconds = (float)((double)(int64_t)(b->time_ns - a->time_ns) / 1e6);
    pthread_mutex_unlock(&lock);
    return code;
}

int emu_stream_wait_event(void *stream, void *event) {
    int device, code = emu_enter(&device);
    if (code) return code;
    op *later = calloc(1, sizeof *later);
    if (!later) return emu_error(cudaErrorMemoryAllocation, "no memory left for a stream's queue");
    later->kind = OP_WAIT;
    emu_stream *s;
    emu_event *e;
    pthread_mutex_lock(&lock);
    code = find_stream(stream, device, &s);
    if (!code) code = find_event(event, &e);
    if (!code && !fired(e) && e->stream != s) {
        later->awaited = e->stream;
        later->awaited_ticket = e->ticket;
        code = queue_later(s, later);
        if (!code) later = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(later);
    return code;
}

// --- launches ----------------------------------------------------------------------------------------------------
int emu_launch_kernel(const emu_launch *launch) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (launch->interface_version != EMU_INTERFACE_VERSION)
        return emu_error(cudaErrorInvalidKernelImage,
                         "the kernel was built against version %u of the emulator's interface; this is version %d: "
                         "build it again",
                         launch->interface_version, EMU_INTERFACE_VERSION);
    code = emu_check_launch(launch);
    if (code) return code;
    size_t align = launch->argument_align > 64 ? launch->argument_align : 64;
    size_t offset = (sizeof(op) + align - 1) / align * align;
    void *memory;
    if (posix_memalign(&memory, align, offset + launch->argument_bytes))
        return emu_error(cudaErrorMemoryAllocation, "no memory left for a launch");
    op *later = memory;
    *later = (op){.kind = OP_KERNEL, .launch = *launch};
    later->launch.arguments = (char *)memory + offset;
    if (launch->argument_bytes) memcpy((char *)memory + offset, launch->arguments, launch->argument_bytes);
    emu_stream *s;
    pthread_mutex_lock(&lock);
    code = find_stream(launch->stream, device, &s);
    if (!code && s->device != device)
        code = emu_error(
            cudaErrorInvalidResourceHandle,
            "a kernel on a stream of device %d, while the current device is %d: call cudaSetDevice(%d) first",
            s->device, device, s->device);
    if (!code) code = queue_later(s, later);
    pthread_mutex_unlock(&lock);
    if (code) free(later);
    return code;
}

// --- fork --------------------------------------------------------------------------------------------------------
// In the child only the thread that forked exists. Queues are emptied: what was on its way is lost there, and frees
// are carried out. Streams stay usable and get new threads when they need them.
void emu_streams_after_fork(void) {
    for (emu_stream *s = streams, *next; s; s = next) {
        next = s->next;
        start_conditions(s);
        s->has_worker = 0;
        s->error.code = 0;
        atomic_store(&s->cancel, 0);
        while (s->head) {
            op *o = s->head;
            s->head = o->next;
            if (o->here) continue; // on the stack of a thread that is no more
            if (o->kind == OP_WORK && o->always) o->work(o->data);
            free(o);
        }
        s->completed = s->enqueued;
        if (s->closing) recycle(s);
    }
    for (emu_stream *s = free_streams; s; s = s->next) start_conditions(s);
}

void emu_stream_fork(emu_fork stage) {
    if (stage == EMU_FORK_PREPARE) pthread_mutex_lock(&lock);
    if (stage == EMU_FORK_CHILD) emu_streams_after_fork();
    if (stage != EMU_FORK_PREPARE) pthread_mutex_unlock(&lock);
}
