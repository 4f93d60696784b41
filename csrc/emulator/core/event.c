// Events: marks in a stream's queue.
//
//   record in A:  e->stream = A, e->ticket = the record's ticket;  fired: A->completed >= e->ticket
//   B waits:      an operation in B that stores (A, ticket): a later record of e does not change it
#define _GNU_SOURCE
#include "stream.h"

#include <stdlib.h>

// Events are stored in rows, each twice as long as the previous one. A handle is looked up in these few rows and not
// dereferenced, because an invalid handle may point anywhere. Rows are never freed. The streams' lock protects all of
// this.
enum { FIRST_ROW = 64, MOST_ROWS = 40 };
static struct {
    emu_event *events;
    size_t count;
} rows[MOST_ROWS]; // the longest one last
static int row_count;
static emu_event *free_events;
static uint64_t last_record;

static emu_event *new_event(void) { // NULL: no memory
    if (!free_events && row_count < MOST_ROWS) {
        const size_t count = (size_t)FIRST_ROW << row_count;
        emu_event *events = calloc(count, sizeof *events);
        if (!events) return NULL;
        rows[row_count].events = events;
        rows[row_count++].count = count;
        for (size_t i = count; i-- > 0;) {
            events[i].next = free_events;
            free_events = &events[i];
        }
    }
    emu_event *e = free_events;
    if (e) free_events = e->next;
    return e;
}

static int find_event(void *handle, emu_event **result) {
    const int code = emu_error_of_all_calls();
    *result = NULL;
    if (code) return code;
    for (int i = row_count; i-- > 0 && !*result;) {
        const uintptr_t at = (uintptr_t)handle - (uintptr_t)rows[i].events; // wraps if the handle is before the row
        if (at / sizeof(emu_event) >= rows[i].count || at % sizeof(emu_event)) continue;
        emu_event *e = rows[i].events + at / sizeof(emu_event);
        if (e->live) *result = e;
    }
    if (*result) return cudaSuccess;
    return emu_error(cudaErrorInvalidResourceHandle, "%p is not an event, or the event has been destroyed", handle);
}

int emu_event_create(void **handle, unsigned flags) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!handle || flags > 7 || (flags & cudaEventInterprocess))
        return emu_error(
            cudaErrorInvalidValue,
            "cudaEventCreateWithFlags: flags %u; only 1 (blocking) and 2 (no timing) are allowed, and their sum",
            flags);
    pthread_mutex_lock(&emu_queues.lock);
    emu_event *e = new_event();
    if (e) *e = (emu_event){.live = 1, .device = device, .flags = flags};
    pthread_mutex_unlock(&emu_queues.lock);
    if (!e) return emu_error(cudaErrorMemoryAllocation, "out of host memory for an event");
    *handle = e;
    return cudaSuccess;
}

static void drop(emu_event *e) {
    e->live = 0;
    e->record = 0; // a queued record then no longer matches this event
    e->next = free_events;
    free_events = e;
}

int emu_event_destroy(void *handle) {
    emu_event *e;
    pthread_mutex_lock(&emu_queues.lock);
    int code = find_event(handle, &e);
    if (!code) drop(e);
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}

void emu_drop_events(int device) {
    pthread_mutex_lock(&emu_queues.lock);
    for (int i = 0; i < row_count; i++)
        for (size_t k = 0; k < rows[i].count; k++)
            if (rows[i].events[k].live && rows[i].events[k].device == device) drop(&rows[i].events[k]);
    pthread_mutex_unlock(&emu_queues.lock);
}

int emu_event_has_record(void *handle) {
    emu_event *e;
    pthread_mutex_lock(&emu_queues.lock);
    const int has = !find_event(handle, &e) && e->stream;
    pthread_mutex_unlock(&emu_queues.lock);
    return has;
}

int emu_event_record(void *event, void *stream) {
    int device, code = emu_enter(&device);
    const emu_capture_calls *capture = emu_capturing();
    if (code || (capture && capture->record(event, stream, &code))) return code;
    emu_op *later = calloc(1, sizeof *later);
    if (!later) return emu_error(cudaErrorMemoryAllocation, "out of host memory for a stream's queue");
    later->kind = OP_RECORD;
    emu_stream *s;
    emu_event *e;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(stream, device, &s);
    if (!code) code = find_event(event, &e);
    if (!code && e->device != s->device)
        code = emu_error(cudaErrorInvalidResourceHandle,
                         "cudaEventRecord: the event belongs to device %d, but the stream to device %d", e->device,
                         s->device);
    if (!code) {
        int now = emu_can_run_now(s, later);
        later->event = e;
        later->record = last_record + 1;
        if (now)
            emu_enqueue(s, later);
        else
            code = emu_queue_later(s, later);
        if (!code) {
            e->record = ++last_record;
            e->stream = s;
            e->stream_id = s->id;
            e->ticket = s->enqueued;
            e->order = emu_queues.last_order;
            if (now)
                emu_finish(s);
            else
                later = NULL;
        }
    }
    pthread_mutex_unlock(&emu_queues.lock);
    free(later);
    return code;
}

static int fired(const emu_event *e) {
    return !e->stream || e->stream->completed >= e->ticket;
}

// The error that waiting for the event reports: its stream's, if it occurred before the event.
static int event_error(emu_event *e) {
    emu_failure failure;
    failure.code = 0;
    if (e->stream)
        emu_tell(e->stream->id == e->stream_id ? &e->stream->reports : &emu_queues.orphans[e->device], e->order,
                 TOLD_ELSEWHERE, &failure);
    if (e->stream && e->stream->id == e->stream_id) emu_tell_awaited(e->stream, &failure);
    return emu_failure_code(&failure);
}

int emu_event_query(void *handle) {
    emu_event *e;
    int code;
    const emu_capture_calls *capture = emu_capturing();
    if (capture && capture->event(handle, "cudaEventQuery", &code)) return code;
    pthread_mutex_lock(&emu_queues.lock);
    code = find_event(handle, &e);
    if (!code && !fired(e)) code = cudaErrorNotReady;
    if (!code) emu_tell_order(EMU_ORDER_EVENT, NULL, 0, e);
    if (!code) code = event_error(e);
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}

int emu_event_wait(void *handle, emu_interrupted interrupted, void *argument) {
    emu_event *e;
    int device = 0, code;
    const emu_capture_calls *capture = emu_capturing();
    if (capture && capture->event(handle, "cudaEventSynchronize", &code)) return code;
    pthread_mutex_lock(&emu_queues.lock);
    code = find_event(handle, &e);
    if (!code) device = e->device;
    if (!code && e->stream) {
        emu_stream *s = e->stream; // read now, so that a later record is not waited for
        uint64_t ticket = e->ticket, order = e->order, ask = emu_ask_at();
        while (!code && s->completed < ticket)
            if (emu_wait_and_ask(s, &ask, interrupted, argument)) {
                for (emu_stream *u = emu_queues.streams; u; u = u->next) u->reach = u == s ? order + 1 : 0;
                emu_give_up();
                code = EMU_INTERRUPTED;
            }
        if (!code) emu_tell_order(EMU_ORDER_EVENT, NULL, 0, e);
        if (!code && e->stream == s) code = event_error(e);
    }
    pthread_mutex_unlock(&emu_queues.lock);
    emu_print_flush();
    return code ? code : emu_memory_problem(device);
}

int emu_event_elapsed(float *milliseconds, void *start, void *end) {
    emu_event *a, *b;
    if (!milliseconds)
        return emu_error(cudaErrorInvalidValue, "cudaEventElapsedTime: the pointer for the result is NULL");
    pthread_mutex_lock(&emu_queues.lock);
    int code = find_event(start, &a);
    if (!code) code = find_event(end, &b);
    if (!code &&
        (!a->stream || !b->stream || a->device != b->device || (a->flags | b->flags) & cudaEventDisableTiming))
        code =
            emu_error(cudaErrorInvalidResourceHandle,
                      "cudaEventElapsedTime: both events must have been created with timing and recorded on the same "
                      "device");
    if (!code && !(fired(a) && fired(b))) code = cudaErrorNotReady;
    if (!code) *milliseconds = (float)((double)(int64_t)(b->time_ns - a->time_ns) / 1e6);
    pthread_mutex_unlock(&emu_queues.lock);
    return code;
}

int emu_stream_wait_event(void *stream, void *event) {
    int device, code = emu_enter(&device);
    const emu_capture_calls *capture = emu_capturing();
    if (code || (capture && capture->wait(stream, event, &code))) return code;
    emu_op *later = calloc(1, sizeof *later);
    if (!later) return emu_error(cudaErrorMemoryAllocation, "out of host memory for a stream's queue");
    later->kind = OP_WAIT;
    emu_stream *s;
    emu_event *e;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(stream, device, &s);
    if (!code) code = find_event(event, &e);
    if (!code && e->stream && e->stream != s && (!fired(e) || emu_queues.report_count))
        s->awaited[s->awaited_count++ % EMU_AWAITED] = (emu_awaited){e->stream, e->stream_id, e->order};
    if (!code) emu_tell_order(EMU_ORDER_WAIT, s, 0, e);
    if (!code && !fired(e) && e->stream != s) {
        later->awaited = e->stream;
        later->awaited_ticket = e->ticket;
        code = emu_queue_later(s, later);
        if (!code) later = NULL;
    }
    pthread_mutex_unlock(&emu_queues.lock);
    free(later);
    return code;
}
