// Launches and copies in several streams: which ones are ordered.
//
//   the host   queues A in s    queues B in t    waits for t    queues C in s
//   clocks     s: A             t: B             host: B        s: A, B, C     A and B do not know each other
//
// A clock says for each stream which work, up to the last one, comes before. The host has one, each stream (what its
// next work comes after), each event, and each piece of work, from when it is queued until it runs. All threads of
// the host share one clock, as if they told each other of everything. So work that several threads queue can look
// ordered, but ordered work never looks unordered.
//
// The host itself accesses memory that it shares with the device. Then the host's clock must have the work that has
// accessed the same bytes: kernels' accesses are in the shadow, and `copies` has the bytes of copies.
//
// Cells of the shadow have stamps, and here each stamp belongs to a piece of work. Work that the host has waited for
// comes before all that follows, and is forgotten.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "checker.h"

enum { MOST_STREAMS = 64, MOST_UNORDERED = 64 };

typedef struct vector { // order of the last work that is known, by the stream's place
    uint64_t of[MOST_STREAMS];
} vector;

static struct {
    unsigned long long id; // 0: the place is free
    int device, is_legacy, is_blocking;
    uint64_t last; // of its work
    vector known;
} streams[MOST_STREAMS];
static vector host;

typedef struct entry {
    uint64_t order;
    int stream;
    const void *event;
    vector known;
    uintptr_t calls[WORK_CALLS];
} entry;
typedef struct entries {
    entry *of;
    size_t count, room;
} entries;
static entries events, queued; // clocks of recorded events; of work that has not begun

static struct copies { // that have begun, of memory which the host can access
    struct copy {
        stream_work work;
        unsigned kind;
        uintptr_t begin;
        size_t pitch, width, height;
    } * of;
    size_t count, room;
} copies;

static stream_work *works; // that have begun, in the order of their stamps
static size_t work_count, work_room;
static stream_work current;
static stream_work unordered[MOST_UNORDERED]; // those that the current one does not come after
static size_t unordered_count;
static atomic_int owes; // whether there is work that the host may not have waited for

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // for all but `unordered`; no other one is taken under it
static __thread int waits_for_check;

// --- Clocks (lock held) --------------------------------------------------------------------------------------------

static void join(vector *to, const vector *from) {
    for (int i = 0; i < MOST_STREAMS; ++i)
        if (from->of[i] > to->of[i]) to->of[i] = from->of[i];
}

// An array of so many items, with room for one more.
static void *with_room(void *of, size_t count, size_t *room, size_t item) {
    if (count < *room) return of;
    *room = *room ? 2 * *room : 64;
    void *const grown = realloc(of, *room * item);
    if (!grown) abort();
    return grown;
}

static entry *add(entries *to) {
    to->of = with_room(to->of, to->count, &to->room, sizeof *to->of);
    return &to->of[to->count++];
}

// The place of a stream. Orders grow, so what clocks say of a former stream there does no harm. If there are more
// streams than places, the one that has been idle longest counts as waited for.
static int place_of(const emu_order_event *event) {
    int idle = 0;
    for (int i = 0; i < MOST_STREAMS; ++i) {
        if (streams[i].id == event->stream) return i;
        if (streams[i].last < streams[idle].last) idle = i;
    }
    if (streams[idle].last > host.of[idle]) host.of[idle] = streams[idle].last;
    streams[idle].id = event->stream;
    streams[idle].device = event->device;
    streams[idle].is_legacy = event->is_legacy;
    streams[idle].is_blocking = event->is_blocking;
    streams[idle].known = host;
    return idle;
}

// What work in the stream comes after.
static void learn(int stream) {
    join(&streams[stream].known, &host);
    for (int i = 0; i < MOST_STREAMS && streams[stream].is_blocking; ++i)
        if (streams[i].id && streams[i].device == streams[stream].device && streams[i].is_blocking &&
            (streams[i].is_legacy || streams[stream].is_legacy))
            join(&streams[stream].known, &streams[i].known);
}

static vector *recorded(const void *event) {
    for (size_t i = events.count; i-- > 0;)
        if (events.of[i].event == event) return &events.of[i].known;
    return NULL;
}

static int is_before_all(const vector *known) {
    for (int i = 0; i < MOST_STREAMS; ++i)
        if (known->of[i] > host.of[i]) return 0;
    return 1;
}

// The host has waited: forgets what no longer matters.
static void forget(void) {
    size_t kept = 0;
    for (size_t i = 0; i < events.count; ++i)
        if (!is_before_all(&events.of[i].known)) events.of[kept++] = events.of[i];
    events.count = kept;
    kept = 0;
    for (size_t i = 0; i < queued.count; ++i)
        if (queued.of[i].order > host.of[queued.of[i].stream]) queued.of[kept++] = queued.of[i];
    queued.count = kept;
    kept = 0;
    for (size_t i = 0; i < work_count; ++i)
        if (works[i].order > host.of[works[i].stream]) works[kept++] = works[i];
    work_count = kept;
    kept = 0;
    for (size_t i = 0; i < copies.count; ++i)
        if (copies.of[i].work.order > host.of[copies.of[i].work.stream]) copies.of[kept++] = copies.of[i];
    copies.count = kept;
    atomic_store(&owes, queued.count || work_count);
}

static void host_waits(const emu_order_event *event) {
    if (waits_for_check) return;
    if (event->kind == EMU_ORDER_EVENT) {
        const vector *const known = recorded(event->event);
        if (known) join(&host, known);
    } else if (event->kind == EMU_ORDER_CALLS) { // the host's function may tell others that it has been called
        for (size_t i = 0; i < queued.count; ++i)
            if (queued.of[i].order == event->order) join(&host, &queued.of[i].known);
    } else if (event->kind == EMU_ORDER_DEVICE) {
        for (int i = 0; i < MOST_STREAMS; ++i)
            if (streams[i].id && (event->device < 0 || streams[i].device == event->device))
                join(&host, &streams[i].known);
    } else {
        const int stream = place_of(event);
        learn(stream);
        join(&host, &streams[stream].known);
    }
    forget();
}

void streams_order(const emu_order_event *event) {
    uintptr_t calls[WORK_CALLS] = {event->call};
    if (event->kind == EMU_ORDER_WORK && !event->call) emu_calls_of_program(calls, WORK_CALLS);
    pthread_mutex_lock(&lock);
    if (event->kind == EMU_ORDER_WORK) {
        const int stream = place_of(event);
        learn(stream);
        streams[stream].last = streams[stream].known.of[stream] = event->order;
        atomic_store(&owes, 1);
        entry *const of = add(&queued);
        *of = (entry){.order = event->order, .stream = stream, .known = streams[stream].known};
        memcpy(of->calls, calls, sizeof calls);
    } else if (event->kind == EMU_ORDER_RECORD) {
        const int stream = place_of(event);
        learn(stream);
        vector *known = recorded(event->event);
        if (!known) {
            entry *const of = add(&events);
            of->event = event->event;
            known = &of->known;
        }
        *known = streams[stream].known;
    } else if (event->kind == EMU_ORDER_WAIT) {
        const int stream = place_of(event);
        const vector *const known = recorded(event->event);
        if (known) join(&streams[stream].known, known);
    } else {
        host_waits(event);
    }
    pthread_mutex_unlock(&lock);
}

// --- Work that runs ------------------------------------------------------------------------------------------------

void streams_begin(uint64_t order, uint64_t launch, const char *kernel) {
    unordered_count = 0;
    current = (stream_work){checker_stamp, UINT32_MAX, order, launch, .stream = 0};
    strncpy(current.kernel, kernel, sizeof current.kernel - 1);
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < queued.count && queued.of[i].order != order) ++i;
    if (i < queued.count) {
        const entry now = queued.of[i];
        size_t kept = 0;
        for (i = 0; i < queued.count; ++i) // earlier work of the stream has run, or never will
            if (queued.of[i].stream != now.stream || queued.of[i].order > order) queued.of[kept++] = queued.of[i];
        queued.count = kept;
        for (i = 0; i < work_count && unordered_count < MOST_UNORDERED; ++i)
            if (works[i].order > now.known.of[works[i].stream]) unordered[unordered_count++] = works[i];
        works = with_room(works, work_count, &work_room, sizeof *works);
        current.stream = now.stream;
        memcpy(current.calls, now.calls, sizeof now.calls);
        works[work_count++] = current;
    }
    pthread_mutex_unlock(&lock);
}

void streams_end(uint64_t order) {
    unordered_count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = work_count; i-- > 0;)
        if (works[i].order == order) works[i].end = checker_stamp;
    pthread_mutex_unlock(&lock);
}

const stream_work *streams_current(void) {
    return &current;
}

int streams_matter(void) {
    return unordered_count != 0;
}

const stream_work *streams_unordered(uint32_t stamp) {
    for (size_t i = 0; i < unordered_count; ++i)
        if (stamp >= unordered[i].begin && stamp <= unordered[i].end) return &unordered[i];
    return NULL;
}

// --- Accesses by the host ------------------------------------------------------------------------------------------

stream_state streams_of_host(void) {
    if (!atomic_load_explicit(&owes, memory_order_relaxed)) return STREAMS_AWAITED;
    pthread_mutex_lock(&lock);
    stream_state state = work_count ? STREAMS_ENDED : STREAMS_AWAITED;
    for (size_t i = 0; i < queued.count; ++i)
        if (queued.of[i].order > host.of[queued.of[i].stream]) state = STREAMS_RUN;
    for (size_t i = 0; i < work_count; ++i)
        if (works[i].end == UINT32_MAX && works[i].order > host.of[works[i].stream]) state = STREAMS_RUN;
    pthread_mutex_unlock(&lock);
    return state;
}

int streams_not_awaited(uint32_t stamp, int learns, stream_work *work) {
    int is_there = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < work_count && !is_there; ++i) {
        uint64_t *const known = &host.of[works[i].stream];
        if (stamp < works[i].begin || stamp > works[i].end || works[i].order <= *known) continue;
        is_there = 1;
        *work = works[i];
        if (learns) *known = works[i].order;
    }
    pthread_mutex_unlock(&lock);
    return is_there;
}

int streams_last_launch(stream_work *work) {
    int is_there = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = work_count; i-- > 0 && !is_there;) {
        is_there = works[i].kernel[0] && works[i].order > host.of[works[i].stream];
        if (is_there) *work = works[i];
    }
    pthread_mutex_unlock(&lock);
    return is_there;
}

void streams_copies(unsigned kind, uintptr_t begin, size_t pitch, size_t width, size_t height) {
    pthread_mutex_lock(&lock);
    for (size_t i = work_count; i-- > 0;) {
        if (works[i].order != current.order) continue;
        copies.of = with_room(copies.of, copies.count, &copies.room, sizeof *copies.of);
        copies.of[copies.count++] = (struct copy){works[i], kind, begin, pitch, width, height};
    }
    pthread_mutex_unlock(&lock);
}

// Whether the rows of a copy have some of these bytes.
static int contains(const struct copy *of, uintptr_t begin, uintptr_t end) {
    if (end <= of->begin) return 0;
    const size_t row = begin < of->begin ? 0 : (begin - of->begin) / of->pitch; // the first one that may
    const uintptr_t at = of->begin + row * of->pitch;
    if (row >= of->height) return 0;
    return begin < at + of->width || (row + 1 < of->height && end > at + of->pitch);
}

unsigned streams_copied(const emu_host_event *event, int learns, stream_work *work) {
    unsigned kind = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < copies.count && !kind; ++i) {
        const struct copy *const of = &copies.of[i];
        uint64_t *const known = &host.of[of->work.stream];
        if (of->work.order <= *known || !((of->kind | event->kind) & EMU_WRITES)) continue;
        if (!contains(of, event->address, event->address + event->bytes)) continue;
        kind = of->kind;
        *work = of->work;
        if (learns) *known = of->work.order;
    }
    pthread_mutex_unlock(&lock);
    return kind;
}

int streams_are_several(void) {
    int count = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_STREAMS; ++i) count += streams[i].id != 0;
    pthread_mutex_unlock(&lock);
    return count > 1;
}

void streams_clear(void) {
    pthread_mutex_lock(&lock);
    memset(streams, 0, sizeof streams);
    memset(&host, 0, sizeof host);
    events.count = queued.count = copies.count = work_count = unordered_count = 0;
    atomic_store(&owes, 0);
    pthread_mutex_unlock(&lock);
}

// While a check itself waits for the work of the calling thread: this orders nothing.
CHECKER_API void checker_waits(int begins) {
    waits_for_check = begins;
}
