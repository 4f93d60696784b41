// The launches on each stream, for late errors: a kernel's failure is reported by a later wait, and this record is
// then the only information about its origin.
//
//   device's log --> [stream A: last 16 launches, 20 outstanding] --> [default stream: ...] --> ... at most STREAMS
//
// The stream that was used last is first in the list. If the list is full, a new stream replaces the one that was
// unused for longest. A record is freed only together with its device, so a caller that still holds one may continue
// to use it; at worst it then records launches for the wrong stream.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

enum { LAST = 16, STREAMS = 64 };

typedef struct launch {
    const char *name;
    unsigned grid[3], block[3];
    size_t shared_bytes;
    uint64_t number; // counts the launches on the device
} launch;

struct ck_launches {
    struct ck_launch_log *log;
    _Atomic(cudaStream_t) stream; // read without the lock in the first record
    uint64_t noted, outstanding;
    launch ring[LAST]; // launch n is at index n % LAST
    struct ck_launches *next;
};

struct ck_launch_log {
    pthread_mutex_t lock;
    uint64_t number; // of the last launch
    int count;
    _Atomic(ck_launches *) streams; // the first record can be read without the lock
};

int ck_launches_create(ck_device *device, ck_error *error) {
    device->log = calloc(1, sizeof *device->log);
    if (device->log != NULL && pthread_mutex_init(&device->log->lock, NULL) == 0) return CK_OK;
    free(device->log);
    device->log = NULL;
    return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the record of a device's launches");
}

void ck_launches_destroy(ck_device *device) {
    if (device->log == NULL) return;
    for (ck_launches *stream = atomic_load(&device->log->streams), *next; stream != NULL; stream = next) {
        next = stream->next;
        free(stream);
    }
    pthread_mutex_destroy(&device->log->lock);
    free(device->log);
    device->log = NULL;
}

ck_launches *ck_launches_of(ck_device *device, cudaStream_t stream) {
    struct ck_launch_log *log = device->log;
    ck_launches *first = atomic_load(&log->streams);
    if (first != NULL && first->stream == stream) return first;
    pthread_mutex_lock(&log->lock);
    first = atomic_load(&log->streams);
    ck_launches *before = NULL, *record = first; // the record of this stream, or the one unused for longest, or NULL
    for (; record != NULL && record->stream != stream && record->next != NULL; record = record->next) before = record;
    if (record == NULL || (record->stream != stream && log->count < STREAMS)) {
        record = calloc(1, sizeof *record);
        if (record != NULL) log->count++;
    } else if (before != NULL) {
        before->next = record->next;
        if (record->stream != stream) record->noted = record->outstanding = 0;
    }
    if (record != NULL && record != first) {
        record->log = log; // unchanged in a reused record, which other threads may read without the lock
        record->stream = stream;
        record->next = first;
        atomic_store(&log->streams, record);
    }
    pthread_mutex_unlock(&log->lock);
    return record;
}

void ck_launches_note(ck_launches *launches, const ck_launch_plan *noted) {
    if (launches == NULL) return;
    struct ck_launch_log *log = launches->log;
    pthread_mutex_lock(&log->lock);
    launch *at = &launches->ring[launches->noted++ % LAST];
    launches->outstanding++;
    at->name = noted->name;
    memcpy(at->grid, noted->grid, sizeof at->grid);
    memcpy(at->block, noted->block, sizeof at->block);
    at->shared_bytes = noted->shared_bytes;
    at->number = ++log->number;
    pthread_mutex_unlock(&log->lock);
}

// --- done --------------------------------------------------------------------------------------------------------
uint64_t ck_device_launches_now(ck_device *device) {
    pthread_mutex_lock(&device->log->lock);
    const uint64_t number = device->log->number;
    pthread_mutex_unlock(&device->log->lock);
    return number;
}

static uint64_t in_ring(const ck_launches *launches) {
    return launches->outstanding < LAST ? launches->outstanding : LAST;
}

static const launch *back(const ck_launches *launches, uint64_t i) { // 0: the last launch
    return &launches->ring[(launches->noted - 1 - i) % LAST];
}

static void done(ck_launches *launches, uint64_t upto) { // lock held
    const uint64_t known = in_ring(launches);
    uint64_t later = 0;
    while (later < known && back(launches, later)->number > upto) later++;
    if (later < LAST) launches->outstanding = later;
}

void ck_launches_done(ck_launches *launches, uint64_t upto) {
    if (launches == NULL) return;
    pthread_mutex_lock(&launches->log->lock);
    done(launches, upto);
    pthread_mutex_unlock(&launches->log->lock);
}

uint64_t ck_launches_now(ck_launches *launches) {
    if (launches == NULL) return 0;
    pthread_mutex_lock(&launches->log->lock);
    const uint64_t number = launches->log->number;
    pthread_mutex_unlock(&launches->log->lock);
    return number;
}

void ck_launches_forget(ck_device *device, cudaStream_t stream) {
    pthread_mutex_lock(&device->log->lock);
    for (ck_launches *at = device->log->streams; at != NULL; at = at->next)
        if (at->stream == stream) at->outstanding = 0;
    pthread_mutex_unlock(&device->log->lock);
}

void ck_device_launches_done(ck_device *device, uint64_t upto) {
    pthread_mutex_lock(&device->log->lock);
    for (ck_launches *stream = device->log->streams; stream != NULL; stream = stream->next) done(stream, upto);
    pthread_mutex_unlock(&device->log->lock);
}

// --- messages ----------------------------------------------------------------------------------------------------
// Appends words to a text. If they do not fit, appends nothing and returns 0.
static int add(char *text, size_t size, const char *words) {
    const size_t used = strlen(text), more = strlen(words);
    if (used + more >= size) return 0;
    memcpy(text + used, words, more + 1);
    return 1;
}

static void list(char *text, size_t size, const char *where, const ck_launches *launches) { // lock held
    char words[160];
    uint64_t named = 0;
    snprintf(words, sizeof words, ". Outstanding on %s, the last one first: ", where);
    if (launches->outstanding == 0 || !add(text, size, words)) return;
    for (const uint64_t known = in_ring(launches); named < known; named++) {
        const launch *at = back(launches, named);
        snprintf(words, sizeof words, "%s%.60s<<<(%u,%u,%u),(%u,%u,%u),%zu>>>", named ? ", " : "", at->name,
                 at->grid[0], at->grid[1], at->grid[2], at->block[0], at->block[1], at->block[2], at->shared_bytes);
        if (!add(text, size - 32, words)) break; // leave room for the count
    }
    if (named == launches->outstanding) return;
    snprintf(words, sizeof words, " and %llu before", (unsigned long long)(launches->outstanding - named));
    add(text, size, words);
}

static int needs_words(const ck_error *error) {
    return ck_is_late(error->code) && strstr(error->message, "Outstanding on ") == NULL;
}

void ck_launches_explain(ck_launches *launches, ck_error *error) {
    if (launches == NULL || !needs_words(error)) return;
    pthread_mutex_lock(&launches->log->lock);
    list(error->message, sizeof error->message, "the stream", launches);
    pthread_mutex_unlock(&launches->log->lock);
}

void ck_device_launches_explain(ck_device *device, ck_error *error) {
    if (!needs_words(error)) return;
    pthread_mutex_lock(&device->log->lock);
    for (ck_launches *stream = device->log->streams; stream != NULL; stream = stream->next) {
        char where[64];
        if (stream->stream == NULL)
            snprintf(where, sizeof where, "the default stream");
        else
            snprintf(where, sizeof where, "stream %llu", (unsigned long long)(uintptr_t)stream->stream);
        list(error->message, sizeof error->message, where, stream);
    }
    pthread_mutex_unlock(&device->log->lock);
}
