// Waiting: for streams and devices; which thread receives a kernel's error; interrupting a wait.
//
//   kernel fails ------.--> report for its launcher --.--> wait by the launcher: returned and removed
//                      |     (one per stream and       |
//   later kernel of ---'      launcher is enough)      '--> wait by another thread: returned if it is new; kept
//   any thread skipped                                      for the launcher while that thread exists, else removed
//
// So every thread is told of its launches that failed or were skipped, whichever thread waits first. (A wait is one
// on the stream, the device, the NULL stream for a blocking stream, or an event for what was queued before it.)
// Kernels queued after the failed one are skipped until its report has been returned to any thread. Those of a thread
// that has a report itself are skipped until it has been returned to this thread, or to another one by a wait on the
// stream itself, if that is not the NULL stream. A skipped kernel counts as not reported before, so no thread takes
// its output for a result. A thread that waits for a stream that has itself waited for an event of another one is
// told of its own launches there, too: its copy may read their output.
#define _GNU_SOURCE
#include "stream.h"

#include <stdio.h>
#include <time.h>

// A stream with pending work that a wait on `s` covers; `s` NULL: any stream of `device` (-1: of any device). Lock
// held.
static emu_stream *unfinished(const emu_stream *s, int device, uint64_t order) {
    for (emu_stream *t = emu_queues.streams; t; t = t->next)
        if (emu_pending_before(t, order) && emu_covers(s, device, t)) return t;
    return NULL;
}

static int refused_in_kernel(void) {
    if (!emu_grid_running()) return cudaSuccess;
    return emu_error(cudaErrorNotSupported, "a kernel cannot wait for what it has launched: this runs after it");
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
int emu_failure_code(const emu_failure *failure) {
    const int stays = emu_error_told();
    return failure->code ? emu_error_again(failure->code, failure->message) : stays;
}

static void choose(emu_failure *failure, const emu_op *r, int is_own) {
    if (failure->code && (is_own == failure->is_own ? r->order > failure->order : failure->is_own)) return;
    failure->code = r->code;
    failure->is_own = is_own;
    failure->order = r->order;
    snprintf(failure->message, sizeof failure->message, "%s",
             r->message ? r->message : "a kernel failed or was skipped, and there was no host memory for a message");
}

void emu_tell(emu_op **reports, uint64_t end, emu_told how, emu_failure *failure) {
    const uint64_t self = emu_thread_number();
    for (emu_op **at = reports, *r; (r = *at);) {
        const int is_own = r->launcher == self, for_me = is_own || !r->launcher;
        if (r->order < end && (for_me || r->reported < how)) {
            choose(failure, r, is_own);
            if (r->last >= end) { // it remains for what was skipped later
                if (for_me) r->order = end;
            } else if (for_me) {
                *at = r->next;
                emu_forget(r);
                continue;
            } else {
                r->reported = how;
            }
        }
        at = &r->next;
    }
}

static void tell_awaited(emu_stream *s, unsigned long long visit, emu_failure *failure) {
    const unsigned known = s->awaited_count < EMU_AWAITED ? s->awaited_count : EMU_AWAITED;
    s->visit = visit;
    for (unsigned i = 0; i < known; ++i) {
        emu_stream *t = s->awaited[i].stream;
        const int exists = t->id == s->awaited[i].id;
        emu_tell(exists ? &t->reports : &emu_queues.orphans[s->device], s->awaited[i].order, NOT_TOLD, failure);
        if (exists && t->visit != visit) tell_awaited(t, visit, failure);
    }
}

void emu_tell_awaited(emu_stream *s, emu_failure *failure) {
    static unsigned long long visits;
    if (emu_queues.report_count) tell_awaited(s, ++visits, failure);
}

// The error that a wait on `s` (NULL: on the device) reports.
static int collect(emu_stream *s, int device) {
    emu_failure failure;
    failure.code = 0;
    if (s) emu_tell_awaited(s, &failure);
    if (s && !s->is_null) {
        emu_tell(&s->reports, UINT64_MAX, TOLD_BY_STREAM, &failure);
    } else {
        for (emu_stream *t = emu_queues.streams; t; t = t->next)
            if (emu_covers(s, device, t)) emu_tell(&t->reports, UINT64_MAX, TOLD_ELSEWHERE, &failure);
        emu_tell(&emu_queues.orphans[device], UINT64_MAX, TOLD_ELSEWHERE, &failure);
    }
    return emu_failure_code(&failure);
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
    if (emu_grid_running()) return; // a kernel that frees memory
    pthread_mutex_lock(&emu_queues.lock);
    wait_queued(NULL, device, NULL, NULL);
    emu_tell_order(EMU_ORDER_DEVICE, NULL, device, NULL);
    pthread_mutex_unlock(&emu_queues.lock);
}

int emu_device_wait(emu_interrupted interrupted, void *argument) {
    int device, code = emu_enter(&device);
    const emu_capture_calls *capture = emu_capturing();
    if (code || (code = refused_in_kernel())) return code;
    if (capture && capture->unsafe("cudaDeviceSynchronize", &code)) return code;
    pthread_mutex_lock(&emu_queues.lock);
    code = wait_queued(NULL, device, interrupted, argument);
    if (!code) emu_tell_order(EMU_ORDER_DEVICE, NULL, device, NULL);
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
    const emu_capture_calls *capture = emu_capturing();
    if (code || (code = refused_in_kernel())) return code;
    if (capture && capture->refuse(handle, "cudaStreamSynchronize", &code)) return code;
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code) code = wait_queued(s, s->device, interrupted, argument);
    if (!code) emu_tell_order(EMU_ORDER_STREAM, s, 0, NULL);
    if (!code) code = collect(s, s->device);
    pthread_mutex_unlock(&emu_queues.lock);
    emu_print_flush();
    return code ? code : emu_memory_problem(s->device);
}

// cudaErrorNotReady is a result, not an error, so nothing is recorded, as on a GPU.
int emu_stream_query(void *handle) {
    int device, code = emu_enter(&device);
    const emu_capture_calls *capture = emu_capturing();
    if (code || (capture && capture->refuse(handle, "cudaStreamQuery", &code))) return code;
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code && unfinished(s, s->device, emu_queues.last_order + 1)) code = cudaErrorNotReady;
    if (!code) emu_tell_order(EMU_ORDER_STREAM, s, 0, NULL);
    if (!code) code = collect(s, s->device);
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
// Running kernels end at once (emu_grid_interrupt), and queued ones are dropped; events still fire, and pending frees
// are executed. Returns when none of the canceled operations runs any more. Other threads' work continues, even if it
// comes later in a stream and reads outputs that the canceled operations did not write.
void emu_give_up(void) {
    const uint64_t self = emu_thread_number();
    for (int grown = 1; grown;) {
        grown = 0;
        for (emu_stream *t = emu_queues.streams; t; t = t->next)
            for (emu_op *o = t->head; o && o->order < t->reach; o = o->next) grown |= extend_from(t, o);
    }
    for (emu_stream *t = emu_queues.streams; t; t = t->next)
        for (emu_op *o = t->head; o && o->order < t->reach; o = o->next) {
            if (o->launcher != self) continue;
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
