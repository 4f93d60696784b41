// Copies of large host arrays of any strides in pageable memory, by several threads through rings of page-locked
// slots.
//
//   thread 0   array --copy--> slot 0 | slot 1 | slot 2 | slot 3 --link, in the thread's stream--> device
//   thread 1   array --copy--> slot 0 | slot 1 | slot 2 | slot 3 --link, in the thread's stream--> device
//   ...        (and in the other direction to the host)
//
// The link reads and writes only page-locked memory. CUDA copies pageable memory to such memory of its own first,
// with one thread, which is slower than the link. Here each thread takes the next chunk of the array that no thread
// has taken yet, and while the link works on one of its slots, it fills or empties another one. It writes memory with
// non-temporal stores: they do not read the lines that they overwrite, and leave the caches to other data. In new
// memory, each thread also takes the page faults of its chunks. Elements with gaps are gathered or scattered on the
// way.
//
// The calling thread is thread 0; the others wait for work. A ring does one copy at a time. Threads of a copy that
// fails are ended, and streams destroyed, before the failure is returned, so that nothing still uses the caller's
// memory.
#define _GNU_SOURCE // sched_getaffinity
#include "ring.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "backend.h"
#include "stream.h"

// More threads than this are no faster on an H200's host, where larger slots are not faster either, and take longer
// to lock. With fewer slots, a thread waits for the link. Smaller copies than a few slots end before all threads are
// awake.
enum { DEFAULT_THREADS = 12, MOST_THREADS = 64, DEFAULT_SLOT = 1 << 20, SLOTS = 4, LEAST_SLOTS = 4 };
enum { LONG_ROW = 256 };

// The part of an array that one slot holds: rows of the same width, of one matrix or of several small ones.
typedef struct chunk {
    char *host, *device;
    size_t width;
    int64_t height, first, matrices; // the number of the first matrix, and how many they are
} chunk;

typedef struct copy {
    const ck_blocks *blocks;
    char *host, *device;
    int to_device;
    ck_axis rows;             // the innermost axis
    size_t width;             // of a chunk; less than a run if several chunks make up one run
    int64_t height, pieces;   // rows of a chunk, chunks per row
    int64_t matrices, group;  // indices of the outer axes, in all and per chunk
    int64_t per_group, count; // chunks per group, and in all
    atomic_llong next;        // the next chunk
    atomic_int failed;
    ck_error *error; // protected by the ring's lock
} copy;

typedef struct lane {
    struct ck_ring *ring;
    pthread_t thread;
    int is_started;
    cudaStream_t stream;
    cudaEvent_t events[SLOTS]; // after the last copy from or to each slot
    char *slots;
    int next; // the slot to fill next
    int last; // the slot that the current copy filled last; -1: none
    unsigned long long seen;
} lane;

struct ck_ring {
    int device, threads; // 0 threads: the ring is off
    size_t slot;         // bytes
    lane *lanes;         // NULL: not created yet
    char *memory;
    cudaEvent_t start;
    pthread_mutex_t lock; // protects what follows
    pthread_cond_t work, change;
    int is_taken;              // 1: a caller has the ring
    copy *copy;                // NULL: all chunks are taken
    unsigned long long copies; // the number of the copy
    int working, stop;
};

// --- host memory -------------------------------------------------------------------------------------------------
// The processor fetches lines ahead by itself, but only up to the end of a page.
enum { AHEAD = 4096 };

static void copy_bytes(char *to, const char *from, size_t bytes) {
#ifdef __SSE2__
    if (bytes >= LONG_ROW) { // shorter rows stay in the caches until they are complete lines
        const size_t head = -(uintptr_t)to & 15;
        memcpy(to, from, head);
        to += head, from += head, bytes -= head;
        for (; bytes >= 64; to += 64, from += 64, bytes -= 64) {
            __m128i line[4];
            _mm_prefetch(from + AHEAD, _MM_HINT_T0);
            for (int i = 0; i < 4; i++) line[i] = _mm_loadu_si128((const __m128i *)from + i);
            for (int i = 0; i < 4; i++) _mm_stream_si128((__m128i *)to + i, line[i]);
        }
    }
#endif
    memcpy(to, from, bytes);
}

// Rows of one element: a constant width becomes an instruction.
#define COPY_EACH(WIDTH)                                                                                             \
    case WIDTH:                                                                                                      \
        for (int64_t i = 0; i < count; i++) memcpy(to + i * to_step, from + i * from_step, WIDTH);                   \
        return

void ck_copy_each(char *to, int64_t to_step, const char *from, int64_t from_step, size_t width, int64_t count) {
    switch (width) {
        COPY_EACH(1);
        COPY_EACH(2);
        COPY_EACH(4);
        COPY_EACH(8);
        COPY_EACH(16);
    default:
        for (int64_t i = 0; i < count; i++) copy_bytes(to + i * to_step, from + i * from_step, width);
    }
}

// Copies between a matrix of the caller's array and a slot, in which rows have no gaps.
static void copy_rows(const copy *copy, const chunk *chunk, char *host, char *slot) {
    const int whole = copy->rows.host == (int64_t)chunk->width;
    const size_t width = whole ? chunk->width * (size_t)chunk->height : chunk->width;
    const int64_t height = whole ? 1 : chunk->height, step = (int64_t)width;
    if (copy->to_device)
        ck_copy_each(slot, step, host, copy->rows.host, width, height);
    else
        ck_copy_each(host, copy->rows.host, slot, step, width, height);
}

// The distances of a matrix from the first one.
static ck_axis place_of(const copy *copy, int64_t matrix) {
    const ck_blocks *blocks = copy->blocks;
    ck_axis place = {0};
    for (int i = blocks->axis_count - 2; i >= 0; i--) {
        place.host += matrix % blocks->axes[i].length * blocks->axes[i].host;
        place.device += matrix % blocks->axes[i].length * blocks->axes[i].device;
        matrix /= blocks->axes[i].length;
    }
    return place;
}

static void copy_chunk(const copy *copy, const chunk *chunk, char *slot) {
    copy_rows(copy, chunk, chunk->host, slot);
    for (int64_t i = 1; i < chunk->matrices; i++)
        copy_rows(copy, chunk, copy->host + place_of(copy, chunk->first + i).host,
                  slot + (size_t)i * chunk->width * (size_t)chunk->height);
#ifdef __SSE2__
    _mm_sfence(); // before the link, or another thread, reads it
#endif
}

// --- chunks ------------------------------------------------------------------------------------------------------
static int64_t divide_up(int64_t value, int64_t by) {
    return (value + by - 1) / by;
}

// Divides a copy into chunks. Returns 0 if the ring is not for it.
static int divide(const struct ck_ring *ring, copy *copy) {
    const ck_blocks *blocks = copy->blocks;
    const int64_t run = (int64_t)blocks->run, slot = ring ? (int64_t)ring->slot : 0;
    int64_t outer = 1, whole = run; // bytes on the device, if it has no gaps
    copy->rows = (ck_axis){1, run, run};
    if (blocks->axis_count > 0) copy->rows = blocks->axes[blocks->axis_count - 1];
    for (int i = 0; i < blocks->axis_count - 1; i++) outer *= blocks->axes[i].length;
    int is_dense = 1;
    for (int i = blocks->axis_count - 1; i >= 0; whole *= blocks->axes[i--].length)
        is_dense &= blocks->axes[i].device == whole;
    const int64_t matrix = run * copy->rows.length, bytes = outer * matrix;
    // For a smaller matrix, calls of CUDA take longer than copies, except if one call copies several of them.
    if (ring == NULL || ring->threads == 0 || bytes < LEAST_SLOTS * slot || (matrix < slot / 8 && !is_dense))
        return 0;
    // Several chunks for each thread, so that all have work until the end.
    int64_t chunk = bytes / (2 * ring->threads) / 4096 * 4096;
    chunk = chunk < slot / 8 ? slot / 8 : chunk > slot ? slot : chunk;
    copy->width = (size_t)(run < chunk ? run : chunk);
    copy->height = run < chunk ? chunk / run : 1;
    if (copy->height > 1 && copy->rows.device > INT32_MAX && !is_dense)
        return 0; // the longest pitch in CUDA's older versions
    copy->pieces = divide_up(run, (int64_t)copy->width);
    if (copy->height > copy->rows.length) copy->height = copy->rows.length;
    copy->matrices = outer;
    copy->group = is_dense && matrix <= chunk ? chunk / matrix : 1;
    copy->per_group = copy->pieces * divide_up(copy->rows.length, copy->height);
    copy->count = copy->per_group * divide_up(outer, copy->group);
    return 1;
}

static int take_chunk(copy *copy, chunk *chunk) {
    const int64_t number = atomic_load(&copy->failed) ? copy->count : atomic_fetch_add(&copy->next, 1);
    if (number >= copy->count) return 0;
    const int64_t in_group = number % copy->per_group, row = in_group / copy->pieces * copy->height;
    const int64_t offset = in_group % copy->pieces * (int64_t)copy->width, left = copy->rows.length - row;
    const size_t rest = copy->blocks->run - (size_t)offset;
    chunk->first = number / copy->per_group * copy->group;
    const ck_axis place = place_of(copy, chunk->first);
    chunk->host = copy->host + place.host + row * copy->rows.host + offset;
    chunk->device = copy->device + place.device + row * copy->rows.device + offset;
    chunk->width = rest < copy->width ? rest : copy->width;
    chunk->height = left < copy->height ? left : copy->height;
    chunk->matrices = copy->matrices - chunk->first < copy->group ? copy->matrices - chunk->first : copy->group;
    return 1;
}

// --- one thread's part of a copy ---------------------------------------------------------------------------------
// Enqueues the copy of a chunk between a slot and the device. CUDA knows which of the addresses is on the device.
static int enqueue(const lane *lane, const copy *copy, const chunk *chunk, int slot, ck_error *error) {
    char *packed = lane->slots + (size_t)slot * lane->ring->slot;
    const size_t width = chunk->width, height = (size_t)(chunk->height * chunk->matrices);
    const size_t pitch = (size_t)copy->rows.device;
    char *to = copy->to_device ? chunk->device : packed, *from = copy->to_device ? packed : chunk->device;
    if (height == 1 || pitch == width)
        CK_CUDA(error, cudaMemcpyAsync(to, from, width * height, cudaMemcpyDefault, lane->stream));
    else
        CK_CUDA(error, cudaMemcpy2DAsync(to, copy->to_device ? pitch : width, from, copy->to_device ? width : pitch,
                                         width, height, cudaMemcpyDefault, lane->stream));
    CK_CUDA(error, cudaEventRecord(lane->events[slot], lane->stream));
    return CK_OK;
}

static int send(lane *lane, copy *copy, ck_error *error) {
    chunk chunk;
    while (take_chunk(copy, &chunk)) {
        const int slot = lane->next;
        CK_CUDA(error, cudaEventSynchronize(lane->events[slot]));
        copy_chunk(copy, &chunk, lane->slots + (size_t)slot * lane->ring->slot);
        CK_TRY(enqueue(lane, copy, &chunk, slot, error));
        lane->last = slot;
        lane->next = (slot + 1) % SLOTS;
    }
    return CK_OK;
}

static int receive(lane *lane, copy *copy, ck_error *error) {
    chunk chunks[SLOTS];
    for (int64_t enqueued = 0, done = 0;; done++) {
        for (; enqueued - done < SLOTS && take_chunk(copy, &chunks[enqueued % SLOTS]); enqueued++)
            CK_TRY(enqueue(lane, copy, &chunks[enqueued % SLOTS], (int)(enqueued % SLOTS), error));
        if (enqueued == done) return CK_OK;
        const int slot = (int)(done % SLOTS);
        CK_CUDA(error, cudaEventSynchronize(lane->events[slot]));
        copy_chunk(copy, &chunks[slot], lane->slots + (size_t)slot * lane->ring->slot);
    }
}

static int do_part(lane *lane, copy *copy, ck_error *error) {
    int previous;
    CK_TRY(ck_device_enter(lane->ring->device, &previous, error)); // it is current already, except in a new thread
    CK_CUDA(error, cudaStreamWaitEvent(lane->stream, lane->ring->start, 0));
    return copy->to_device ? send(lane, copy, error) : receive(lane, copy, error);
}

static void work(lane *lane, copy *copy) {
    ck_error error;
    ck_error_clear(&error);
    if (do_part(lane, copy, &error) == CK_OK) return;
    atomic_store(&copy->failed, 1);
    pthread_mutex_lock(&lane->ring->lock);
    if (copy->error->code == CK_OK) *copy->error = error;
    pthread_mutex_unlock(&lane->ring->lock);
}

// --- threads -----------------------------------------------------------------------------------------------------
static void *serve(void *argument) {
    lane *lane = argument;
    struct ck_ring *ring = lane->ring;
    pthread_mutex_lock(&ring->lock);
    for (;;) {
        while (!ring->stop && (ring->copy == NULL || ring->copies == lane->seen))
            pthread_cond_wait(&ring->work, &ring->lock);
        if (ring->stop) break;
        copy *copy = ring->copy;
        lane->seen = ring->copies;
        ring->working++;
        pthread_mutex_unlock(&ring->lock);
        work(lane, copy);
        pthread_mutex_lock(&ring->lock);
        if (--ring->working == 0) pthread_cond_broadcast(&ring->change);
    }
    pthread_mutex_unlock(&ring->lock);
    return NULL;
}

// Signals are left to the program's own threads, except those of faults.
static int start_thread(lane *lane) {
    static const int OPEN[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof OPEN / sizeof *OPEN; i++) sigdelset(&blocked, OPEN[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    lane->is_started = pthread_create(&lane->thread, NULL, serve, lane) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return lane->is_started;
}

static int open_lane(struct ck_ring *ring, int number, ck_error *error) {
    lane *lane = &ring->lanes[number];
    lane->ring = ring;
    lane->seen = ring->copies;
    lane->slots = ring->memory + (size_t)number * SLOTS * ring->slot;
    CK_CUDA(error, cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
    for (int i = 0; i < SLOTS; i++)
        CK_CUDA(error, cudaEventCreateWithFlags(&lane->events[i], cudaEventDisableTiming));
    if (number == 0 || start_thread(lane)) return CK_OK; // the caller serves the first lane
    return ck_fail(error, CK_NO_HOST_MEMORY, "no thread can be started");
}

static int open_lanes(struct ck_ring *ring, ck_error *error) {
    const size_t bytes = (size_t)ring->threads * SLOTS * ring->slot;
    if (ring->lanes != NULL) return CK_OK;
    ring->lanes = calloc((size_t)ring->threads, sizeof *ring->lanes);
    if (ring->lanes == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for a ring");
    CK_CUDA(error, cudaEventCreateWithFlags(&ring->start, cudaEventDisableTiming));
    CK_CUDA(error, cudaHostAlloc((void **)&ring->memory, bytes, cudaHostAllocPortable));
    for (int i = 0; i < ring->threads; i++) CK_TRY(open_lane(ring, i, error));
    return CK_OK;
}

// From any state. Waits for the copies between slots and device that have not finished.
static void close_lanes(struct ck_ring *ring) {
    ck_error ignored = {0};
    if (ring->lanes == NULL) return;
    pthread_mutex_lock(&ring->lock);
    ring->stop = 1;
    pthread_cond_broadcast(&ring->work);
    pthread_mutex_unlock(&ring->lock);
    for (lane *lane = ring->lanes; lane < ring->lanes + ring->threads; lane++) {
        if (lane->is_started) pthread_join(lane->thread, NULL);
        if (lane->stream != NULL) CK_RELEASE(&ignored, cudaStreamSynchronize(lane->stream));
        for (int i = 0; i < SLOTS; i++)
            if (lane->events[i] != NULL) CK_RELEASE(&ignored, cudaEventDestroy(lane->events[i]));
        if (lane->stream != NULL) CK_RELEASE(&ignored, cudaStreamDestroy(lane->stream));
    }
    if (ring->memory != NULL) CK_RELEASE(&ignored, cudaFreeHost(ring->memory));
    if (ring->start != NULL) CK_RELEASE(&ignored, cudaEventDestroy(ring->start));
    free(ring->lanes);
    ring->lanes = NULL;
    ring->memory = NULL;
    ring->start = NULL;
    ring->stop = 0;
}

// --- one copy at a time ------------------------------------------------------------------------------------------
static void take_ring(struct ck_ring *ring) {
    pthread_mutex_lock(&ring->lock);
    while (ring->is_taken) pthread_cond_wait(&ring->change, &ring->lock);
    ring->is_taken = 1;
    pthread_mutex_unlock(&ring->lock);
}

static void give_ring(struct ck_ring *ring) {
    pthread_mutex_lock(&ring->lock);
    ring->is_taken = 0;
    pthread_cond_broadcast(&ring->change);
    pthread_mutex_unlock(&ring->lock);
}

// The calling thread does its part. Then all chunks are taken, and only threads that still have one are waited for.
static void share(struct ck_ring *ring, copy *copy) {
    pthread_mutex_lock(&ring->lock);
    ring->copy = copy;
    ring->copies++;
    pthread_cond_broadcast(&ring->work);
    pthread_mutex_unlock(&ring->lock);
    work(&ring->lanes[0], copy);
    pthread_mutex_lock(&ring->lock);
    ring->copy = NULL;
    while (ring->working > 0) pthread_cond_wait(&ring->change, &ring->lock);
    pthread_mutex_unlock(&ring->lock);
}

static int run(struct ck_ring *ring, copy *copy, cudaStream_t stream, ck_error *error) {
    for (int i = 0; i < ring->threads; i++) ring->lanes[i].last = -1; // a thread that comes late has no part
    CK_CUDA(error, cudaEventRecord(ring->start, stream));
    share(ring, copy);
    CK_TRY(error->code);
    for (const lane *lane = ring->lanes; copy->to_device && lane < ring->lanes + ring->threads; lane++)
        if (lane->last >= 0) CK_CUDA(error, cudaStreamWaitEvent(stream, lane->events[lane->last], 0));
    return CK_OK;
}

int ck_ring_copy(ck_device *device, const ck_blocks *blocks, char *host, char *on_device, int to_device,
                 cudaStream_t stream, int *copied, ck_error *error) {
    struct ck_ring *ring = device->ring;
    copy copy = {.blocks = blocks, .host = host, .device = on_device, .to_device = to_device, .error = error};
    struct cudaPointerAttributes attributes;
    ck_error ignored;
    *copied = 0;
    if (!divide(ring, &copy)) return CK_OK;
    CK_CUDA(error, cudaPointerGetAttributes(&attributes, host));
    // The link reads and writes page-locked memory directly, but short rows slowly.
    if (attributes.type != cudaMemoryTypeUnregistered && blocks->run >= LONG_ROW) return CK_OK;
    if (!to_device) CK_TRY(ck_wait(stream, NULL, NULL, error));
    take_ring(ring);
    ck_error_clear(&ignored); // without threads or page-locked memory, CUDA copies the array
    *copied = open_lanes(ring, &ignored) == CK_OK;
    const int status = *copied ? run(ring, &copy, stream, error) : CK_OK;
    if (!*copied || status != CK_OK) close_lanes(ring);
    give_ring(ring);
    return status;
}

int ck_ring_takes(const ck_device *device, int64_t bytes) {
    return device->ring != NULL && device->ring->threads > 0 && bytes >= LEAST_SLOTS * (int64_t)device->ring->slot;
}

// --- life --------------------------------------------------------------------------------------------------------
// As many threads as processors, and none if one thread would do all the work, which is no faster than CUDA's own
// copy. Where device memory is host memory, no link exists.
static int64_t default_threads(void) {
    cpu_set_t set;
    const int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    if (backend_memory_is_host() || processors == 1) return 0;
    return processors < DEFAULT_THREADS ? processors : DEFAULT_THREADS;
}

int ck_ring_create(ck_device *device, ck_error *error) {
    int64_t threads = default_threads(), slot = DEFAULT_SLOT;
    CK_TRY(ck_setting("CUDAKERN_COPY_THREADS", 0, MOST_THREADS, &threads, error));
    CK_TRY(ck_setting("CUDAKERN_COPY_SLOT", 4096, 64 << 20, &slot, error));
    struct ck_ring *ring = calloc(1, sizeof *ring);
    if (ring == NULL || pthread_mutex_init(&ring->lock, NULL) != 0) {
        free(ring);
        return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the record of a device's ring");
    }
    pthread_cond_init(&ring->work, NULL); // cannot fail on Linux
    pthread_cond_init(&ring->change, NULL);
    ring->device = device->index;
    ring->threads = (int)threads;
    ring->slot = (size_t)divide_up(slot, 4096) * 4096;
    device->ring = ring;
    return CK_OK;
}

void ck_ring_destroy(ck_device *device) {
    struct ck_ring *ring = device->ring;
    if (ring == NULL) return;
    close_lanes(ring);
    pthread_cond_destroy(&ring->change);
    pthread_cond_destroy(&ring->work);
    pthread_mutex_destroy(&ring->lock);
    free(ring);
    device->ring = NULL;
}

void ck_ring_trim(ck_device *device) {
    take_ring(device->ring);
    close_lanes(device->ring);
    give_ring(device->ring);
}
