// Streams: their handles, the order of operations, and the thread that runs queued operations. (Diagram: stream.h.)
//
// As on a GPU, work on the legacy default stream (NULL) of a device runs after all work that was queued before it on
// the device's blocking streams, and their later work runs after it. Streams created with cudaStreamNonBlocking are
// exempt. A thread's own default stream (cudaStreamPerThread) is a blocking stream. Each thread has one per device,
// created when the thread first uses it.
//
// An operation is run by the stream's own thread, which is started when first needed, or "here", by the calling
// thread, which queues it and waits for its turn. On an idle stream the latter needs no switch of threads.
#define _GNU_SOURCE
#include "stream.h"

#include "region.h"
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Atomic(const emu_capture_calls *) emu_capture_now;
struct emu_queues emu_queues = {.lock = PTHREAD_MUTEX_INITIALIZER};
static emu_stream *free_streams, *null_streams[EMU_MAX_DEVICES]; // protected by that lock
static unsigned long long last_id, last_thread;                  // likewise
static pthread_key_t threads;
static pthread_once_t threads_once = PTHREAD_ONCE_INIT;

typedef struct thread { // the record of a thread that has used streams
    uint64_t number;
    emu_stream *own[EMU_MAX_DEVICES]; // its cudaStreamPerThread of each device; NULL: not used yet
} thread;

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
        start_conditions(s);
    }
    s->live = 1;
    s->closing = s->is_null = 0;
    s->owner = 0;
    s->awaited_count = 0;
    s->id = ++last_id;
    s->device = device;
    s->flags = flags;
    s->priority = priority;
    s->next = emu_queues.streams;
    emu_queues.streams = s;
    return s;
}

// Adds a report to a list that has one per launcher: an unreported one rather than a reported one, else the earliest.
static void keep(emu_op **reports, emu_op *r) {
    emu_op **at = reports;
    while (*at && (*at)->launcher != r->launcher) at = &(*at)->next;
    emu_op *old = *at;
    r->next = old ? old->next : NULL;
    *at = r;
    if (!old) return;
    if (old->reported == r->reported ? old->order < r->order : old->reported < r->reported) {
        *at = old;
        old = r;
    }
    if (old->order < (*at)->order) (*at)->order = old->order;
    if (old->last > (*at)->last) (*at)->last = old->last;
    emu_forget(old);
}

static void keep_as_orphans(int device, emu_op *reports) {
    for (emu_op *r = reports, *next; r; r = next) {
        next = r->next;
        keep(&emu_queues.orphans[device], r);
    }
}

static void recycle(emu_stream *s) {
    keep_as_orphans(s->device, s->reports);
    s->reports = NULL;
    for (emu_stream **at = &emu_queues.streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    s->closing = 0;
    s->id = 0;
    s->next = free_streams;
    free_streams = s;
}

static void close_stream(emu_stream *s) { // queued operations still run
    s->live = 0;
    s->closing = 1;
    if (s->head) return;
    if (s->has_worker)
        pthread_cond_signal(&s->work);
    else
        recycle(s);
}

static void leave_reports(emu_op **reports,
                          uint64_t launcher) { // to the next thread that waits, unless they were reported
    emu_op **at = reports;
    while (*at && (*at)->launcher != launcher) at = &(*at)->next;
    emu_op *r = *at;
    if (!r) return;
    *at = r->next;
    r->launcher = 0;
    if (r->reported)
        emu_forget(r);
    else
        keep(reports, r);
}

static void thread_ends(void *record) { // lock not held
    thread *ended = record;
    pthread_mutex_lock(&emu_queues.lock);
    for (emu_stream *s = emu_queues.streams; s; s = s->next) {
        leave_reports(&s->reports, ended->number);
        for (emu_op *o = s->head; o; o = o->next)
            if (o->launcher == ended->number) o->launcher = 0;
    }
    for (int device = 0; device < EMU_MAX_DEVICES; device++) {
        leave_reports(&emu_queues.orphans[device], ended->number);
        if (ended->own[device]) close_stream(ended->own[device]);
    }
    pthread_mutex_unlock(&emu_queues.lock);
    free(ended);
}
static void make_threads_key(void) {
    pthread_key_create(&threads, thread_ends);
}

static thread *this_thread(int create) { // NULL: no record yet, or no memory for it
    pthread_once(&threads_once, make_threads_key);
    thread *record = pthread_getspecific(threads);
    if (record || !create) return record;
    record = calloc(1, sizeof *record);
    if (record && pthread_setspecific(threads, record)) {
        free(record);
        return NULL;
    }
    if (record) record->number = ++last_thread;
    return record;
}

uint64_t emu_thread_number(void) {
    const thread *record = this_thread(0);
    return record ? record->number : UINT64_MAX;
}

static emu_stream *own_stream(thread *self, int device) { // NULL: no memory
    emu_stream **own = &self->own[device];
    if (!*own && (*own = new_stream(device, cudaStreamDefault, 0))) (*own)->owner = self->number;
    return *own;
}

static int bad_stream(const void *handle) {
    return emu_error(cudaErrorInvalidResourceHandle, "%p is not a stream, or the stream has been destroyed", handle);
}

int emu_find_stream(void *handle, int device, emu_stream **result) {
    *result = NULL;
    thread *self = this_thread(1);
    if (!self || handle == (void *)cudaStreamPerThread) {
        *result = self ? own_stream(self, device) : NULL;
        return *result ? cudaSuccess : emu_error(cudaErrorMemoryAllocation, "out of host memory for a stream");
    }
    if (!handle || handle == (void *)cudaStreamLegacy) {
        if (!null_streams[device]) {
            null_streams[device] = new_stream(device, cudaStreamDefault, 0);
            if (!null_streams[device]) return emu_error(cudaErrorMemoryAllocation, "out of host memory for a stream");
            null_streams[device]->is_null = 1;
        }
        *result = null_streams[device];
        return cudaSuccess;
    }
    // Looked up and not dereferenced, because an invalid handle may point anywhere.
    for (emu_stream *s = emu_queues.streams; s && !*result; s = s->next)
        if (s == handle && s->live) *result = s;
    return *result ? cudaSuccess : bad_stream(handle);
}

// --- order (lock held) -------------------------------------------------------------------------------------------
emu_stream *emu_blocker(const emu_stream *s, const emu_op *o) {
    if (o->kind == OP_WAIT && o->awaited->completed < o->awaited_ticket) return o->awaited;
    if (!emu_is_blocking(s)) return NULL;
    if (s->is_null) {
        for (emu_stream *t = emu_queues.streams; t; t = t->next)
            if (t != s && t->device == s->device && emu_is_blocking(t) && emu_pending_before(t, o->order)) return t;
        return NULL;
    }
    emu_stream *null = null_streams[s->device];
    return null && emu_pending_before(null, o->order) ? null : NULL;
}

static void tell_order(emu_order_kind kind, const emu_stream *s, int device, const emu_event *event, uintptr_t call) {
    if (!emu_tool_is_there()) return;
    emu_order_event order = {
        .kind = kind, .order = emu_queues.last_order, .device = device, .event = event, .call = call};
    if (s) order.stream = s->id, order.device = s->device;
    if (s) order.is_legacy = s->is_null, order.is_blocking = emu_is_blocking(s);
    emu_tool_order(&order);
}

void emu_tell_order(emu_order_kind kind, const emu_stream *s, int device, const emu_event *event) {
    tell_order(kind, s, device, event, 0);
}

void emu_enqueue(emu_stream *s, emu_op *o) {
    o->next = NULL;
    o->order = ++emu_queues.last_order;
    o->ticket = ++s->enqueued;
    o->launcher = emu_thread_number();
    if (s->head)
        s->tail->next = o;
    else
        s->head = o;
    s->tail = o;
    const uintptr_t call = o->kind == OP_KERNEL ? o->launch.call : 0;
    if (o->kind != OP_WAIT)
        tell_order(o->kind == OP_RECORD ? EMU_ORDER_RECORD : EMU_ORDER_WORK, s, 0, o->event, call);
}

void emu_finish(emu_stream *s) {
    emu_op *o = s->head;
    if (o->kind == OP_RECORD && o->event->record == o->record) o->event->time_ns = emu_now_ns();
    s->head = o->next;
    s->completed = o->ticket;
    pthread_cond_broadcast(&s->done);
    if (s->has_worker && (s->head || s->closing))
        pthread_cond_signal(&s->work);
    else if (s->closing && !s->head)
        recycle(s);
}

// --- the stream's thread -----------------------------------------------------------------------------------------
// Whether the kernel must be skipped: an earlier kernel, which may write its input, failed or was skipped, and this
// has not been reported yet. If so, copies that report's error.
static int inherits_failure(const emu_stream *s, emu_op *o) { // lock held
    if (o->kind != OP_KERNEL || (emu_error_would_stay() && !emu_error_is_there())) return 0;
    for (const emu_op *r = s->reports; r; r = r->next) {
        if (r->reported >= (r->launcher == o->launcher ? TOLD_BY_STREAM : TOLD_ELSEWHERE)) continue;
        o->code = r->code;
        o->message = r->message ? strdup(r->message + r->reason) : NULL;
        return 1;
    }
    return 0;
}

void emu_launch_not_run(const void *function) {
    char name[256], text[EMU_MESSAGE];
    if (!emu_error_would_stay()) return;
    emu_kernel_name(function, name, sizeof name);
    snprintf(
        text, sizeof text,
        "kernel %s was not run, nor will any later one be: as on a GPU, a kernel's error ends all work, and every "
        "later call returns it",
        name);
    emu_tell_failure(&(emu_failure_event){.kind = EMU_FAILURE_NOT_RUN, .message = text});
}

static void say_skipped(emu_op *o) { // lock not held, since the loader has a lock for names
    char name[256], text[EMU_MESSAGE];
    emu_launch_not_run(o->launch.function);
    if (!o->message) return;
    emu_kernel_name(o->launch.function, name, sizeof name);
    o->reason = (size_t)snprintf(text, sizeof text,
                                 "kernel %s was not run, because a kernel before it in its stream failed: ", name);
    snprintf(text + o->reason, sizeof text - o->reason, "%s", o->message);
    free(o->message);
    o->message = strdup(text);
}

static void run(emu_stream *s, emu_op *o);

// Any order in which a kernel's own launches come after it is right: it cannot wait for them, and those of one of its
// blocks in one stream come one after another.
static void run_children(emu_stream *s, emu_op *o) {
    for (emu_op *child; (child = o->children ? o->children : o->tail);) {
        *(o->children ? &o->children : &o->tail) = child->next;
        if (!o->code && !atomic_load(&s->cancel)) {
            run(s, child);
            o->code = child->code;
            o->message = child->message;
        }
        free(child);
    }
}

// `always`: also after an error of a kernel that stays.
static void do_work(emu_work work, void *data, int always) {
    if (emu_error_is_there() && !always) return;
    emu_device_begin();
    work(data);
    emu_device_end();
}

static void run(emu_stream *s, emu_op *o) { // lock not held
    if (o->kind == OP_WORK) {
        do_work(o->work, o->data, o->always);
    } else if (o->kind == OP_KERNEL) {
        emu_grid_error error;
        char *message = error.message;
        emu_region_protect_spares();
        emu_device_begin();
        int code = emu_grid_run(&o->launch, &s->cancel, emu_chip_now()->clock_khz / 1e6, &error);
        char damage[EMU_MESSAGE / 2];
        emu_error_stays(code, message); // (not what a GPU does not notice, either: damage)
        if (emu_memory_check(o->launch.arguments, o->launch.argument_bytes, damage, sizeof damage) && !code) {
            char name[256], where[300] = "";
            emu_line at = {.line = 0};
            code = cudaErrorIllegalAddress;
            emu_kernel_name(o->launch.function, name, sizeof name);
            if (o->launch.call) emu_source_lines(&o->launch.call, 1, &at);
            if (at.line) snprintf(where, sizeof where, " of the launch in %s:%d", emu_as_given(at.file), at.line);
            snprintf(message, EMU_MESSAGE, "kernel %s: a thread%s %s", name, where, damage);
        }
        emu_device_end();
        if (code) o->code = code; // so that no launches of its own follow
        run_children(s, o);
        if (code == EMU_CANCELLED) o->code = 0; // its launcher canceled it, so there is nothing to report
        if (!code || code == EMU_CANCELLED) return;
        if (error.address) {
            const size_t length = strlen(message);
            emu_memory_explain(error.address, message + length, EMU_MESSAGE - length);
        }
        emu_tell_failure(&(emu_failure_event){.kind = EMU_FAILURE_KERNEL,
                                              .code = code,
                                              .message = message,
                                              .grid = o->launch.grid,
                                              .block = o->launch.block});
        o->code = code;
        o->message = strdup(message);
    }
}

static void *worker(void *argument) {
    emu_stream *s = argument;
    pthread_mutex_lock(&emu_queues.lock);
    for (;;) {
        while (!s->head || s->head->here) {
            if (!s->head && s->closing) {
                s->has_worker = 0;
                recycle(s);
                pthread_mutex_unlock(&emu_queues.lock);
                return NULL;
            }
            pthread_cond_wait(&s->work, &emu_queues.lock);
        }
        emu_op *o = s->head;
        for (emu_stream *b; (b = emu_blocker(s, o));) pthread_cond_wait(&b->done, &emu_queues.lock);
        const int dropped = o->given_up && !o->always, skipped = !dropped && inherits_failure(s, o);
        atomic_store(&s->cancel, 0);
        pthread_mutex_unlock(&emu_queues.lock);
        emu_tool_runs(o->order);
        if (skipped)
            say_skipped(o);
        else if (!dropped)
            run(s, o);
        pthread_mutex_lock(&emu_queues.lock);
        o->last = o->order;
        emu_finish(s);
        if (o->code) {
            emu_queues.report_count++;
            keep(&s->reports, o);
        } else {
            free(o);
        }
    }
}

static int ensure_worker(emu_stream *s) { // lock held
    if (s->has_worker) return cudaSuccess;
    int error = emu_start_thread(worker, s);
    if (error) // (EAGAIN if there are too many threads, but also if there is no memory for the stack)
        return emu_error(
            cudaErrorMemoryAllocation,
            "cannot start a stream's thread: %s; the computer's memory or the process's limit of memory (ulimit -v) "
            "or threads (ulimit -u) is used up",
            strerror(error));
    s->has_worker = 1;
    return cudaSuccess;
}

int emu_queue_later(emu_stream *s, emu_op *o) {
    int code = ensure_worker(s);
    if (code) return code;
    emu_enqueue(s, o);
    if (s->head == o) pthread_cond_signal(&s->work);
    return cudaSuccess;
}

int emu_can_run_now(const emu_stream *s, emu_op *o) {
    o->order = emu_queues.last_order + 1;
    return !s->head && !emu_blocker(s, o);
}

int emu_submit(void *handle, emu_work work, const void *data, size_t bytes, emu_manner manner, int always) {
    int device, code = emu_enter(&device);
    const emu_capture_calls *capture = emu_capturing();
    if (code || (capture && capture->refuse(handle, "the call", &code))) return code;
    emu_op *later = NULL;
    if (manner != EMU_HERE) { // before the lock is taken
        later = calloc(1, sizeof *later + bytes);
        if (!later) return emu_error(cudaErrorMemoryAllocation, "out of host memory for a stream's queue");
        *later = (emu_op){.kind = OP_WORK, .work = work, .data = later + 1, .always = always};
        memcpy(later->data, data, bytes);
    }
    emu_stream *s;
    emu_op here = {.kind = OP_WORK, .here = 1};
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code && (manner == EMU_LATER || (manner == EMU_EITHER && !emu_can_run_now(s, &here)))) {
        code = emu_queue_later(s, later);
        if (!code) later = NULL;
    } else if (!code) {
        emu_enqueue(s, &here);
        for (emu_stream *b;;) {
            if (s->head != &here)
                pthread_cond_wait(&s->done, &emu_queues.lock);
            else if ((b = emu_blocker(s, &here)))
                pthread_cond_wait(&b->done, &emu_queues.lock);
            else
                break;
        }
        pthread_mutex_unlock(&emu_queues.lock);
        emu_tool_runs(here.order);
        do_work(work, (void *)(uintptr_t)data, always);
        pthread_mutex_lock(&emu_queues.lock);
        emu_finish(s);
    }
    pthread_mutex_unlock(&emu_queues.lock);
    free(later);
    return code;
}

void emu_tell_waited(void *handle) {
    int device;
    emu_stream *s;
    if (!emu_tool_is_there() || emu_enter(&device)) return;
    pthread_mutex_lock(&emu_queues.lock);
    if (!emu_find_stream(handle, device, &s)) emu_tell_order(EMU_ORDER_STREAM, s, 0, NULL);
    pthread_mutex_unlock(&emu_queues.lock);
}

int emu_stream_device(void *handle, int *device) {
    int code = emu_enter(device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, *device, &s);
    if (!code) *device = s->device;
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}

// --- streams -----------------------------------------------------------------------------------------------------
int emu_stream_create(void **handle, unsigned flags, int priority) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!handle || flags > cudaStreamNonBlocking)
        return emu_error(cudaErrorInvalidValue, "cudaStreamCreateWithFlags: flags %u; only 0 and 1 are allowed",
                         flags);
    pthread_mutex_lock(&emu_queues.lock);
    priority = priority < EMU_PRIORITY_GREATEST ? EMU_PRIORITY_GREATEST : priority > 0 ? 0 : priority;
    *handle = new_stream(device, flags, priority);
    pthread_mutex_unlock(&emu_queues.lock);
    return *handle ? cudaSuccess : emu_error(cudaErrorMemoryAllocation, "out of host memory for a stream");
}

int emu_stream_destroy(void *handle) {
    if (!handle || handle == (void *)cudaStreamLegacy || handle == (void *)cudaStreamPerThread)
        return emu_error(cudaErrorInvalidResourceHandle, "cudaStreamDestroy: a default stream cannot be destroyed");
    emu_stream *s;
    int device, code = emu_enter(&device);
    if (code) return code;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code) close_stream(s);
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}

void emu_drop_streams(int device) {
    pthread_mutex_lock(&emu_queues.lock);
    for (emu_stream *s = emu_queues.streams, *next; s; s = next) {
        next = s->next;
        if (s->device == device && s->live && !s->is_null && !s->owner) close_stream(s);
    }
    pthread_mutex_unlock(&emu_queues.lock);
}

int emu_stream_info(void *handle, unsigned *flags, int *priority, int *device_out) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code) {
        if (flags) *flags = s->flags;
        if (priority) *priority = s->priority;
        if (device_out) *device_out = s->device;
    }
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}

int emu_stream_id(void *handle, unsigned long long *id) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!id) return emu_error(cudaErrorInvalidValue, "cudaStreamGetId: the pointer for the result is NULL");
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code) *id = s->id;
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}

typedef struct host_call {
    void (*function)(void *);
    void *argument;
} host_call;

static void run_host_call(void *data) {
    host_call *call = data;
    emu_tool_order(&(emu_order_event){.kind = EMU_ORDER_CALLS, .order = emu_tool_running()});
    call->function(call->argument);
}

int emu_stream_call(void *stream, void (*function)(void *), void *argument) {
    if (!function) return emu_error(cudaErrorInvalidValue, "cudaLaunchHostFunc: the function is NULL");
    const emu_capture_calls *capture = emu_capturing();
    struct cudaGraphNodeParams node = {.type = cudaGraphNodeTypeHost, .host = {function, argument}};
    int code;
    if (capture && capture->node(stream, &node, NULL, 0, &code)) return code;
    host_call call = {function, argument};
    return emu_submit(stream, run_host_call, &call, sizeof call, EMU_LATER, 0);
}

typedef struct stream_callback {
    cudaStreamCallback_t function;
    void *stream, *argument;
} stream_callback;

static void run_stream_callback(void *data) {
    const stream_callback *call = data;
    emu_tool_order(&(emu_order_event){.kind = EMU_ORDER_CALLS, .order = emu_tool_running()});
    call->function(call->stream, cudaSuccess, call->argument);
}

int emu_stream_callback(void *stream, void (*function)(void), void *argument, unsigned flags) {
    const char *call = "cudaStreamAddCallback";
    if (!function || flags)
        return emu_error(cudaErrorInvalidValue, "%s: %s", call, flags ? "flags must be 0" : "the function is NULL");
    const stream_callback data = {(cudaStreamCallback_t)function, stream, argument};
    return emu_submit(stream, run_stream_callback, &data, sizeof data, EMU_LATER, 0);
}

// --- fork --------------------------------------------------------------------------------------------------------
// In the child only the thread that forked exists. Its queues are emptied: queued operations are dropped, except
// frees, which are executed. Streams stay usable and get new threads when needed, except the per-thread streams of
// other threads.
static void forget_all(emu_op **reports) {
    for (emu_op *r; (r = *reports);) {
        *reports = r->next;
        emu_forget(r);
    }
}

static void after_fork(void) {
    for (int device = 0; device < EMU_MAX_DEVICES; device++) forget_all(&emu_queues.orphans[device]);
    for (emu_stream *s = emu_queues.streams, *next; s; s = next) {
        next = s->next;
        start_conditions(s);
        s->has_worker = 0;
        forget_all(&s->reports);
        atomic_store(&s->cancel, 0);
        while (s->head) {
            emu_op *o = s->head;
            s->head = o->next;
            if (o->here) continue; // on the stack of a thread that does not exist in the child
            if (o->kind == OP_WORK && o->always) o->work(o->data);
            free(o);
        }
        s->completed = s->enqueued;
        if (s->owner && s->owner != emu_thread_number()) s->live = 0, s->closing = 1;
        if (s->closing) recycle(s);
    }
    for (emu_stream *s = free_streams; s; s = s->next) start_conditions(s);
}

void emu_stream_fork(emu_fork stage) {
    if (stage == EMU_FORK_PREPARE) pthread_mutex_lock(&emu_queues.lock);
    if (stage == EMU_FORK_CHILD) after_fork();
    if (stage != EMU_FORK_PREPARE) pthread_mutex_unlock(&emu_queues.lock);
}
