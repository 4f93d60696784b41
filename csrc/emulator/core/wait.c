// Waiting: for streams and devices; which thread receives a kernel's error; interrupting a wait.
//
//   kernel fails --> stream's error --.--> wait on the stream itself: returned and cleared
//                                     '--> wait that covers more (NULL stream, device) or less (event):
//                                            by the thread that launched the kernel: returned and cleared
//                                            by another thread: returned if not reported before; kept for the launcher
//
// So a thread that waits for everything does not take away the error that explains another thread's results. Kernels
// queued after the failed one are skipped until the error has been reported to any thread; those of the thread that
// launched the failed kernel, until it has been reported to this thread.
#define _GNU_SOURCE
#include "stream.h"

#include <time.h>

// A stream with pending work that a wait on `s` covers; `s` NULL: any stream of `device` (-1: of any device). Lock held.
static emu_stream *unfinished(const emu_stream *s, int device, uint64_t order) {
    for (emu_stream *t = emu_queues.streams; t; t = t->next)
        if (emu_pending_before(t, order) && emu_covers(s, device, t)) return t;
    return NULL;
}

// Waits for what is queued now. Lock held, except while `interrupted` is called.
static int wait_queued(const emu_stream *s, int device, emu_interrupted interrupted, void *argument) {
    uint64_t order = emu_queues.last_order + 1, ask = emu_ask_at();
    for (emu_stream *t; (t = unfinished(s, device, order));)
        if (emu_wait_and_ask(t, &ask, interrupted, argument)) {
            for (emu_stream *u = emu_queues.streams; u; u = u->next) u->reach = emu_covers(s, device, u) ? order : 0;
            emu_give_up();
            return EMU_INTERRUPTED;
        }
    return cudaSuccess;
}

// --- errors ------------------------------------------------------------------------------------------------------
int emu_report_code(const emu_report *report) {
    if (report->code) emu_error(report->code, "%s", report->message);
    return report->code;
}

void emu_tell(emu_report *from, emu_report *earliest) {
    if (!from->code) return;
    int mine = pthread_equal(from->launcher, pthread_self());
    if ((mine || !from->reported) && (!earliest->code || from->order < earliest->order)) *earliest = *from;
    from->reported = 1;
    if (mine) from->code = 0;
}

// The error that a wait on `s` (NULL: on the device) reports.
static int collect(emu_stream *s, int device) {
    if (s && !s->is_null) {
        int code = emu_report_code(&s->error);
        s->error.code = 0;
        return code;
    }
    emu_report earliest = {0};
    for (emu_stream *t = emu_queues.streams; t; t = t->next)
        if (t->device == device && (!s || emu_is_blocking(t))) emu_tell(&t->error, &earliest);
    emu_tell(&emu_queues.orphans[device], &earliest);
    return emu_report_code(&earliest);
}

int emu_collect(void *handle) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code) code = collect(s, s->device);
    pthread_mutex_unlock(&emu_queues.lock);
    return code ? code : emu_memory_problem(s->device);
}

void emu_wait_idle(int device) {
    pthread_mutex_lock(&emu_queues.lock);
    wait_queued(NULL, device, NULL, NULL);
    pthread_mutex_unlock(&emu_queues.lock);
}

int emu_device_wait(emu_interrupted interrupted, void *argument) {
    int device, code = emu_enter(&device);
    if (code) return code;
    pthread_mutex_lock(&emu_queues.lock);
    code = wait_queued(NULL, device, interrupted, argument);
    if (!code) code = collect(NULL, device);
    pthread_mutex_unlock(&emu_queues.lock);
    emu_print_flush();
    return code ? code : emu_memory_problem(device);
}

int emu_device_settle(void) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_wait_idle(device);
    emu_print_flush();
    return cudaSuccess;
}

int emu_stream_wait(void *handle, emu_interrupted interrupted, void *argument) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code) code = wait_queued(s, s->device, interrupted, argument);
    if (!code) code = collect(s, s->device);
    pthread_mutex_unlock(&emu_queues.lock);
    emu_print_flush();
    return code ? code : emu_memory_problem(s->device);
}

// cudaErrorNotReady is a result, not an error, so nothing is recorded, as on a GPU.
int emu_stream_query(void *handle) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code && unfinished(s, s->device, emu_queues.last_order + 1))
        code = cudaErrorNotReady;
    else if (!code)
        code = collect(s, s->device);
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}

// --- interrupting a wait -----------------------------------------------------------------------------------------
int emu_wait_and_ask(emu_stream *t, uint64_t *ask, emu_interrupted interrupted, void *argument) {
    if (!interrupted) {
        pthread_cond_wait(&t->done, &emu_queues.lock);
        return 0;
    }
    struct timespec until = {.tv_sec = (time_t)(*ask / 1000000000u), .tv_nsec = (long)(*ask % 1000000000u)};
    pthread_cond_timedwait(&t->done, &emu_queues.lock, &until);
    if (emu_now_ns() < *ask) return 0;
    pthread_mutex_unlock(&emu_queues.lock);
    int stop = interrupted(argument);
    pthread_mutex_lock(&emu_queues.lock);
    *ask = emu_ask_at();
    return stop;
}

static int extend(emu_stream *t, uint64_t order) {
    if (order <= t->reach) return 0;
    t->reach = order;
    return 1;
}

// Extends the `reach` of the streams that `o`, an operation of the stream `t`, waits for. Returns whether any grew.
static int extend_from(const emu_stream *t, const emu_op *o) {
    int grown = 0;
    if (o->kind == OP_WAIT)
        for (const emu_op *w = o->awaited->head; w && w->ticket <= o->awaited_ticket; w = w->next)
            grown |= extend(o->awaited, w->order + 1);
    if (emu_is_blocking(t))
        for (emu_stream *u = emu_queues.streams; u; u = u->next)
            if (u != t && u->device == t->device && emu_is_blocking(u) && (t->is_null || u->is_null))
                grown |= extend(u, o->order);
    return grown;
}

// A stream that is about to advance because its next operation was canceled.
static emu_stream *settling(void) {
    for (emu_stream *t = emu_queues.streams; t; t = t->next)
        if (t->head && t->head->given_up && !emu_blocker(t, t->head)) return t;
    return NULL;
}

// Cancels what this thread launched among the operations before each stream's `reach` and all that these wait for.
// Running kernels end at once (emu_grid_interrupt), and queued ones are dropped; events still fire, and pending frees are
// executed. Returns when none of the canceled operations runs any more. Other threads' work continues, even if it comes later
// in a stream and reads outputs that the canceled operations did not write.
void emu_give_up(void) {
    for (int grown = 1; grown;) {
        grown = 0;
        for (emu_stream *t = emu_queues.streams; t; t = t->next)
            for (emu_op *o = t->head; o && o->order < t->reach; o = o->next) grown |= extend_from(t, o);
    }
    for (emu_stream *t = emu_queues.streams; t; t = t->next)
        for (emu_op *o = t->head; o && o->order < t->reach; o = o->next) {
            if (!pthread_equal(o->launcher, pthread_self())) continue;
            o->given_up = 1;
            if (o == t->head) atomic_store(&t->cancel, 1);
        }
    for (emu_stream *t; (t = settling());) { // a kernel without barriers needs a signal
        const uint64_t until = emu_now_ns() + 5000000;
        const struct timespec at = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
        pthread_cond_timedwait(&t->done, &emu_queues.lock, &at);
        pthread_mutex_unlock(&emu_queues.lock);
        emu_grid_interrupt(&t->cancel);
        pthread_mutex_lock(&emu_queues.lock);
    }
}
