// Waiting: for streams and devices; who hears of a kernel's error; giving up what was queued.
//
//   kernel fails --> stream's error --.--> wait on the stream itself: returned, gone
//                                     '--> wait that covers more (NULL stream, device) or less (event):
//                                            by the thread that launched the kernel: returned, gone
//                                            by another one: returned if nobody was told yet; kept for the launcher
//
// So a thread that waits for everything does not take from another the error that explains its results. Kernels
// behind the broken one are skipped until somebody was told, those of its launcher until the launcher was.
#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <time.h>

// A stream with work that a wait on `s` covers; s NULL: every stream of `device` (-1: of all). Lock held.
static emu_stream *unfinished(const emu_stream *s, int device, uint64_t order) {
    for (emu_stream *t = emu_queues.streams; t; t = t->next) {
        int covered = !s ? device < 0 || t->device == device
                         : t == s || (s->is_null && t->device == s->device && emu_is_blocking(t));
        if (covered && emu_pending_before(t, order)) return t;
    }
    return NULL;
}

// Waits for what is queued now; returns 0 when the time is up first. Lock held. A NULL deadline is for ever.
static int wait_queued(const emu_stream *s, int device, const struct timespec *deadline) {
    uint64_t order = emu_queues.last_order + 1;
    for (emu_stream *t; (t = unfinished(s, device, order));) {
        if (!deadline)
            pthread_cond_wait(&t->done, &emu_queues.lock);
        else if (pthread_cond_timedwait(&t->done, &emu_queues.lock, deadline) == ETIMEDOUT)
            return !unfinished(s, device, order);
    }
    return 1;
}

// --- errors ------------------------------------------------------------------------------------------------------
int emu_report_code(const emu_report *report) {
    if (report->code) emu_error(report->code, "%s", report->message);
    return report->code;
}

void emu_tell(emu_report *from, emu_report *earliest) {
    if (!from->code) return;
    int mine = pthread_equal(from->launcher, pthread_self());
    if ((mine || !from->told) && (!earliest->code || from->order < earliest->order)) *earliest = *from;
    from->told = 1;
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
    return code;
}

void emu_wait_idle(int device) {
    pthread_mutex_lock(&emu_queues.lock);
    wait_queued(NULL, device, NULL);
    pthread_mutex_unlock(&emu_queues.lock);
}

int emu_wait_device(int device) {
    pthread_mutex_lock(&emu_queues.lock);
    wait_queued(NULL, device, NULL);
    int code = collect(NULL, device);
    pthread_mutex_unlock(&emu_queues.lock);
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
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code) {
        device = s->device;
        if (!wait_queued(s, device, milliseconds < 0 ? NULL : &deadline))
            code = cudaErrorNotReady;
        else
            code = collect(s, device);
    }
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}

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

// What the stream has been given so far is abandoned: kernels end at their next barrier, thread or block, what is
// queued is dropped, memory on its way back is still given back, events still fire. What a dropped operation waited
// for on another stream is waited for. For the NULL stream that means the device's blocking streams as well, because
// waiting for it means waiting for them.
int emu_stream_cancel(void *handle) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    if (!code) {
        for (emu_stream *t = emu_queues.streams; t; t = t->next) {
            if (t != s && !(s->is_null && t->device == s->device && emu_is_blocking(t))) continue;
            t->cancel_upto = t->enqueued;
            if (t->head) atomic_store(&t->cancel, 1);
        }
        wait_queued(s, s->device, NULL);
        for (emu_stream *t = emu_queues.streams; t; t = t->next)
            if (t->error.cancelled && t->device == s->device && (t == s || s->is_null)) t->error.code = 0;
    }
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}
