// Capturing streams: what is queued on them becomes nodes of a graph.
//
//   stream A [begin] kernel 1 ---- record e --- kernel 3 --- wait f ---- [end]      tips of A: 1, 1, 3, {3, 2}
//                          `                              '
//   stream B                 `-- wait e --- kernel 2 --- record f                   tips of B: 1, 2
//
// A captured stream has "tips": the nodes for which its next node waits. A record stores the stream's tips under the
// event, and a wait adds them to those of the waiting stream, which thereby becomes a part of the capture.
//
// The functions of streams and events know nothing of this. While there is a capture, emu_capture_now points to the
// table at the end of this file, whose functions they call first.
#define _GNU_SOURCE
#include "graph.h"
#include "stream.h"

#include <stdlib.h>

typedef struct tips { // of a stream or an event
    void *of;
    emu_list nodes;
    struct tips *next;
} tips;

typedef struct capture {
    emu_graph *graph;
    int is_own; // the graph was created for the capture
    int mode, invalid;
    unsigned long long id;
    uint64_t thread;
    size_t first; // node of the capture
    void *origin; // stream
    tips *streams, *events;
    struct capture *next;
} capture;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static capture *captures;
static unsigned long long last_id;
static _Thread_local int thread_mode = cudaStreamCaptureModeGlobal;

void emu_capture_fork(emu_fork stage) {
    emu_fork_lock(stage, &lock);
}

// --- lookups ------------------------------------------------------------------------------------------------------
static tips *tips_of(tips *list, const void *of) {
    while (list && list->of != of) list = list->next;
    return list;
}

static void forget(tips **list, const void *of) { // NULL: all
    for (tips **at = list, *t; (t = *at);) {
        if (of && t->of != of) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        free(t->nodes.at);
        free(t);
    }
}

static tips *remember(tips **list, void *of) { // its tips, or new ones; NULL: no memory
    tips *t = tips_of(*list, of);
    if (t || !(t = calloc(1, sizeof *t))) return t;
    t->of = of;
    t->next = *list;
    return *list = t;
}

static int add_all(emu_list *to, const emu_list *from) {
    int code = 0;
    for (size_t i = 0; !code && i < from->count; i++) code = emu_list_add(to, from->at[i]);
    return code;
}

// The stream of a handle (as a pointer to compare), and the capture that it is a part of; NULL: none.
static int find(void *handle, void **stream, capture **result) {
    int device, code = emu_enter(&device);
    if (code) return code;
    emu_stream *s;
    pthread_mutex_lock(&emu_queues.lock);
    code = emu_find_stream(handle, device, &s);
    const int is_null = !code && s->is_null;
    pthread_mutex_unlock(&emu_queues.lock);
    if (code) return code;
    *stream = s;
    pthread_mutex_lock(&lock);
    capture *c = captures;
    while (c && !tips_of(c->streams, s)) c = c->next;
    *result = c;
    if (!c && is_null) // work on it would wait for the captured streams
        for (c = captures; c && !code; c = c->next)
            if (emu_is_blocking(c->origin)) c->invalid = 1, code = cudaErrorStreamCaptureImplicit;
    pthread_mutex_unlock(&lock);
    if (!code) return cudaSuccess;
    return emu_error(code,
                     "the default stream would wait for a stream that is captured; use other streams, or create "
                     "the captured one with cudaStreamNonBlocking");
}

static int invalidated(void) {
    return emu_error(cudaErrorStreamCaptureInvalidated,
                     "the capture of the stream has failed before; end it with cudaStreamEndCapture");
}

// --- what streams and events call ---------------------------------------------------------------------------------
static int on_node(void *handle, struct cudaGraphNodeParams *what, const void *attributes, unsigned count,
                   int *code) {
    void *stream;
    capture *c;
    emu_node *node;
    *code = find(handle, &stream, &c);
    if (*code) return 1;
    if (!c) return 0;
    if (c->invalid) return *code = invalidated(), 1;
    emu_list *before = &tips_of(c->streams, stream)->nodes;
    *code = emu_graph_append(c->graph, before->at, before->count, what, attributes, count, "a captured call", &node);
    if (*code)
        c->invalid = 1;
    else if (before->count)
        before->count = 1, before->at[0] = node;
    else
        *code = emu_list_push(before, node);
    return 1;
}

static int on_refuse(void *handle, const char *call, int *code) {
    void *stream;
    capture *c;
    *code = find(handle, &stream, &c);
    if (*code) return 1;
    if (!c) return 0;
    c->invalid = 1;
    *code = emu_error(cudaErrorStreamCaptureUnsupported, "%s: the stream is being captured", call);
    return 1;
}

// A call that a capture forbids anywhere: by its mode, and that of the calling thread.
static int on_unsafe(const char *call, int *code) {
    const uint64_t self = emu_thread_number();
    int refused = 0;
    pthread_mutex_lock(&lock);
    for (capture *c = captures; c; c = c->next) {
        const int mode = c->mode > thread_mode ? c->mode : thread_mode;
        if (mode == cudaStreamCaptureModeRelaxed || (mode == cudaStreamCaptureModeThreadLocal && c->thread != self))
            continue;
        c->invalid = refused = 1;
    }
    pthread_mutex_unlock(&lock);
    if (refused)
        *code = emu_error(
            cudaErrorStreamCaptureUnsupported,
            "%s must not be called while a stream is captured, except with cudaStreamCaptureModeRelaxed", call);
    return refused;
}

static int on_record(void *event, void *handle, int *code) {
    void *stream;
    capture *c;
    *code = find(handle, &stream, &c);
    if (*code) return 1;
    for (capture *other = captures; other; other = other->next) forget(&other->events, event);
    if (!c) return 0;
    if (c->invalid) return *code = invalidated(), 1;
    tips *t = remember(&c->events, event);
    *code = t ? add_all(&t->nodes, &tips_of(c->streams, stream)->nodes)
              : emu_error(cudaErrorMemoryAllocation, "cudaEventRecord: out of host memory");
    return 1;
}

static int on_wait(void *handle, void *event, int *code) {
    void *stream;
    capture *own, *c = captures;
    *code = find(handle, &stream, &own);
    if (*code) return 1;
    while (c && !tips_of(c->events, event)) c = c->next;
    if (!c && own && emu_event_has_record(event)) {
        own->invalid = 1;
        *code = emu_error(cudaErrorStreamCaptureIsolation,
                          "cudaStreamWaitEvent: a captured stream cannot wait for what is not captured");
        return 1;
    }
    if (!c) return own != NULL;
    if (own && own != c) {
        own->invalid = c->invalid = 1;
        *code = emu_error(cudaErrorStreamCaptureMerge, "cudaStreamWaitEvent: the event is of another capture");
        return 1;
    }
    if (c->invalid) return *code = invalidated(), 1;
    tips *t = remember(&c->streams, stream);
    *code = t ? add_all(&t->nodes, &tips_of(c->events, event)->nodes)
              : emu_error(cudaErrorMemoryAllocation, "cudaStreamWaitEvent: out of host memory");
    return 1;
}

static int on_event(void *event, const char *call, int *code) {
    capture *c = captures;
    while (c && !tips_of(c->events, event)) c = c->next;
    if (!c) return 0;
    c->invalid = 1;
    *code = emu_error(cudaErrorCapturedEvent, "%s: the event was last recorded in a stream that is captured", call);
    return 1;
}

static const emu_capture_calls CALLS = {on_node, on_refuse, on_unsafe, on_record, on_wait, on_event};

// --- beginning and end --------------------------------------------------------------------------------------------
int emu_capture_begin(void *handle, int mode, void *graph, void *const *before, size_t count) {
    const char *call = "cudaStreamBeginCapture";
    void *stream;
    capture *other, *c = NULL;
    int code = find(handle, &stream, &other);
    if (!code && (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed))
        code = emu_error(cudaErrorInvalidValue, "%s: %d is not a cudaStreamCaptureMode", call, mode);
    if (!code && other) code = emu_error(cudaErrorIllegalState, "%s: the stream is being captured already", call);
    if (!code && ((emu_stream *)stream)->is_null)
        code = emu_error(cudaErrorStreamCaptureUnsupported, "%s: the default stream cannot be captured", call);
    if (!code && !(c = calloc(1, sizeof *c)))
        code = emu_error(cudaErrorMemoryAllocation, "%s: out of host memory", call);
    if (code) return code;
    *c = (capture){.mode = mode, .thread = emu_thread_number(), .origin = stream, .is_own = !graph};
    tips *t = remember(&c->streams, stream);
    code = graph ? emu_find_graph(graph, call, &c->graph) : emu_new_graph(&c->graph, 0);
    if (!code) c->first = c->graph->nodes.count;
    for (size_t i = 0; t && !code && i < count; i++) code = emu_list_add(&t->nodes, before[i]);
    if (code || !t) {
        forget(&c->streams, NULL);
        free(c);
        return code ? code : emu_error(cudaErrorMemoryAllocation, "%s: out of host memory", call);
    }
    pthread_mutex_lock(&lock);
    c->id = ++last_id;
    c->next = captures;
    captures = c;
    atomic_store(&emu_capture_now, &CALLS);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

// Whether a node of the capture is neither a tip of the stream nor waited for.
static int has_unjoined(const capture *c, const emu_list *end) {
    emu_list *nodes = &c->graph->nodes;
    for (size_t i = 0; i < nodes->count; i++) nodes->at[i]->index = 0;
    for (size_t i = 0; i < end->count; i++) end->at[i]->index = 1;
    for (size_t i = 0; i < nodes->count; i++)
        for (size_t k = 0; k < nodes->at[i]->before.count; k++) nodes->at[i]->before.at[k]->index = 1;
    for (size_t i = c->first; i < nodes->count; i++)
        if (!nodes->at[i]->index) return 1;
    return 0;
}

int emu_capture_end(void *handle, void **graph) {
    const char *call = "cudaStreamEndCapture";
    void *stream;
    capture *c;
    int code = find(handle, &stream, &c);
    if (code) return code;
    if (graph) *graph = NULL;
    if (!c) return emu_error(cudaErrorIllegalState, "%s: the stream is not being captured", call);
    if (c->origin != stream) {
        c->invalid = 1;
        return emu_error(cudaErrorStreamCaptureUnmatched, "%s: the capture began in another stream", call);
    }
    if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != emu_thread_number())
        return emu_error(cudaErrorStreamCaptureWrongThread, "%s: another thread began the capture", call);
    if (c->invalid)
        code = invalidated();
    else if (has_unjoined(c, &tips_of(c->streams, stream)->nodes))
        code = emu_error(cudaErrorStreamCaptureUnjoined,
                         "%s: another captured stream has work for which this stream does not wait", call);
    pthread_mutex_lock(&lock);
    capture **at = &captures;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    if (!captures) atomic_store(&emu_capture_now, NULL);
    pthread_mutex_unlock(&lock);
    if (!code && graph) *graph = c->graph;
    if ((code || !graph) && c->is_own) emu_drop_graph(c->graph);
    forget(&c->streams, NULL);
    forget(&c->events, NULL);
    free(c);
    return code;
}

int emu_capture_info(void *handle, int *status, unsigned long long *id, void **graph, void *const **before,
                     size_t *count) {
    void *stream;
    capture *c;
    int code = find(handle, &stream, &c);
    if (code) return code;
    if (!status)
        return emu_error(cudaErrorInvalidValue, "cudaStreamGetCaptureInfo: the pointer for the status is NULL");
    *status = !c           ? cudaStreamCaptureStatusNone
              : c->invalid ? cudaStreamCaptureStatusInvalidated
                           : cudaStreamCaptureStatusActive;
    if (!c || c->invalid) return cudaSuccess;
    const emu_list *nodes = &tips_of(c->streams, stream)->nodes;
    if (id) *id = c->id;
    if (graph) *graph = c->graph;
    if (before) *before = (void *const *)nodes->at;
    if (count) *count = nodes->count;
    return cudaSuccess;
}

int emu_capture_depend(void *handle, void *const *before, size_t count, unsigned flags) {
    const char *call = "cudaStreamUpdateCaptureDependencies";
    void *stream;
    capture *c;
    int code = find(handle, &stream, &c);
    if (code) return code;
    if (!c || c->invalid) return emu_error(cudaErrorIllegalState, "%s: the stream is not being captured", call);
    if (flags > cudaStreamSetCaptureDependencies || (count && !before))
        return emu_error(cudaErrorInvalidValue, "%s: flags %u, %zu nodes", call, flags, count);
    emu_list *nodes = &tips_of(c->streams, stream)->nodes;
    if (flags == cudaStreamSetCaptureDependencies) nodes->count = 0;
    for (size_t i = 0; !code && i < count; i++) code = emu_list_add(nodes, before[i]);
    return code;
}

int emu_capture_mode(int *mode) { // of the calling thread: exchanges it
    if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
        return emu_error(cudaErrorInvalidValue, "cudaThreadExchangeStreamCaptureMode: not a cudaStreamCaptureMode");
    const int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return cudaSuccess;
}
