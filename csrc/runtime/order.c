// The order of uses of a memory across streams, without waits on the host.
//
//   stream A  [writes x]--mark 1--------------------------------[writes x]      after marks 2 and 3
//   stream B               '--wait--[reads x]--mark 2-----------'   |
//   default                                  [reads x] (no mark)----'   an event is recorded when A needs one
//
// A memory records its last write and the reads since then, each with its stream and, except on the default stream, a
// mark: an event that is recorded once for all memories of a call. Events come from a free list and return to it when
// no memory refers to the mark any more. Invariants:
//   - a use comes after the uses that must precede it: it has waited for them, or it follows them in its stream
//   - a use is forgotten only when another use comes after it, so to wait for the remaining uses is to wait for all
//   - the lock protects lists and counts; no CUDA function is called while it is held
#include "memory.h"

#include <stdlib.h>

#include "backend.h"
#include "stream.h"

enum { MARKS = CK_MAX_ACCESSES * (1 + CK_READS) + 1 };

struct ck_uses {
    pthread_mutex_t lock;
    ck_mark *idle;
    uint64_t number;       // of the last use
    ck_mark *on_default;   // the last mark of the default stream; NULL: none yet
    uint64_t default_upto; // that mark comes after the uses up to this number
    cudaStream_t service;  // NULL: not needed yet
};

int ck_uses_create(ck_device *device, ck_error *error) {
    device->uses = calloc(1, sizeof *device->uses);
    if (device->uses != NULL && pthread_mutex_init(&device->uses->lock, NULL) == 0) return CK_OK;
    free(device->uses);
    device->uses = NULL;
    return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the record of a device's uses");
}

static void destroy_mark(ck_mark *mark) {
    ck_error ignored = {0};
    if (mark->event != NULL) CK_RELEASE(&ignored, cudaEventDestroy(mark->event));
    free(mark);
}

void ck_uses_destroy(ck_device *device) {
    ck_uses *uses = device->uses;
    ck_error ignored = {0};
    if (uses == NULL) return;
    if (uses->on_default != NULL) destroy_mark(uses->on_default);
    for (ck_mark *mark = uses->idle, *next; mark != NULL; mark = next) {
        next = mark->next;
        destroy_mark(mark);
    }
    if (uses->service != NULL) CK_RELEASE(&ignored, cudaStreamDestroy(uses->service));
    pthread_mutex_destroy(&uses->lock);
    free(uses);
    device->uses = NULL;
}

// --- streams -----------------------------------------------------------------------------------------------------
// Threads are numbered here, because the per-thread default streams of all threads have the same handle, and because
// the system reuses the addresses and numbers of threads that have ended. (If no memory is left for a thread-local
// variable, the C library ends the process.)
static int number_of_thread(ck_runtime *runtime, unsigned long long *number, ck_error *error) {
    *number = (uintptr_t)pthread_getspecific(runtime->number_of_thread);
    if (*number != 0) return CK_OK;
    *number = atomic_fetch_add(&runtime->threads, 1);
    if (pthread_setspecific(runtime->number_of_thread, (void *)(uintptr_t)*number) == 0) return CK_OK;
    return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the number of a thread");
}

static int place_of(ck_runtime *runtime, cudaStream_t stream, ck_place *place, ck_error *error) {
    *place = (ck_place){.kind = CK_DEFAULT_STREAM};
    if (stream == NULL || stream == cudaStreamLegacy) return CK_OK;
    if (stream == cudaStreamPerThread) {
        place->kind = CK_OWN_STREAM;
        return number_of_thread(runtime, &place->id, error);
    }
    CK_TRY(ck_stream_check(stream, error));
    place->kind = CK_A_STREAM;
    CK_CUDA(error, cudaStreamGetId(stream, &place->id));
    return CK_OK;
}

static int same(const ck_place *a, const ck_place *b) {
    return a->kind != CK_NOWHERE && a->kind == b->kind && a->id == b->id;
}

int ck_service_stream(ck_device *device, cudaStream_t *stream, ck_error *error) {
    ck_uses *uses = device->uses;
    pthread_mutex_lock(&uses->lock);
    *stream = uses->service;
    pthread_mutex_unlock(&uses->lock);
    if (*stream != NULL) return CK_OK;
    cudaStream_t fresh = NULL;
    CK_CUDA(error, cudaStreamCreateWithFlags(&fresh, cudaStreamNonBlocking));
    pthread_mutex_lock(&uses->lock);
    if (uses->service == NULL) {
        uses->service = fresh;
        fresh = NULL;
    }
    *stream = uses->service;
    pthread_mutex_unlock(&uses->lock);
    ck_error ignored = {0};
    if (fresh != NULL) CK_RELEASE(&ignored, cudaStreamDestroy(fresh)); // another thread created it meanwhile
    return CK_OK;
}

// --- marks -------------------------------------------------------------------------------------------------------
static void drop(ck_uses *uses, ck_mark *mark) { // lock held
    if (mark == NULL || --mark->references > 0) return;
    mark->next = uses->idle;
    uses->idle = mark;
}

void ck_mark_drop(ck_device *device, ck_mark *mark) {
    pthread_mutex_lock(&device->uses->lock);
    drop(device->uses, mark);
    pthread_mutex_unlock(&device->uses->lock);
}

static int new_mark(ck_mark **mark, ck_error *error) {
    cudaEvent_t event = NULL;
    CK_CUDA(error, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    *mark = calloc(1, sizeof **mark);
    if (*mark != NULL) {
        (*mark)->event = event;
        return CK_OK;
    }
    ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the record of an event");
    CK_RELEASE(error, cudaEventDestroy(event));
    return error->code;
}

int ck_mark_record(ck_device *device, cudaStream_t stream, ck_mark **recorded, ck_error *error) {
    ck_uses *uses = device->uses;
    pthread_mutex_lock(&uses->lock);
    ck_mark *mark = uses->idle;
    if (mark != NULL) uses->idle = mark->next;
    pthread_mutex_unlock(&uses->lock);
    if (mark == NULL) CK_TRY(new_mark(&mark, error));
    mark->references = 1;
    cudaError_t code;
    if (CK_CUDA_CODE(code, cudaEventRecord(mark->event, stream)) != cudaSuccess) {
        ck_mark_drop(device, mark);
        return ck_fail_cuda(error, code, "cudaEventRecord(mark->event, stream)");
    }
    *recorded = mark;
    return CK_OK;
}

// --- the uses that a use must wait for ---------------------------------------------------------------------------
typedef struct waits {
    ck_mark *marks[MARKS]; // one reference for each
    int count;
    int on_default; // 1: there are uses on the default stream that no mark covers
    uint64_t upto;  // the uses up to this number were considered
} waits;

// True if the stream already comes after the use.
static int covered(const ck_use *use, const ck_place *here) {
    return use->place.kind == CK_NOWHERE || same(&use->place, here) || same(&use->awaited, here);
}

static void want(waits *waits, ck_uses *uses, const ck_use *use, const ck_place *here) { // lock held
    if (covered(use, here)) return;
    ck_mark *mark = use->mark;
    if (use->place.kind == CK_DEFAULT_STREAM) {
        mark = use->number <= uses->default_upto ? uses->on_default : NULL;
        if (mark == NULL) waits->on_default = 1;
    }
    if (mark == NULL) return;
    for (int i = 0; i < waits->count; i++)
        if (waits->marks[i] == mark) return;
    mark->references++;
    waits->marks[waits->count++] = mark;
}

static int mark_default(ck_device *device, waits *waits, ck_error *error) {
    ck_uses *uses = device->uses;
    ck_mark *mark;
    CK_TRY(ck_mark_record(device, NULL, &mark, error));
    waits->marks[waits->count++] = mark;
    pthread_mutex_lock(&uses->lock);
    if (waits->upto > uses->default_upto) { // otherwise another thread has recorded a later mark
        drop(uses, uses->on_default);
        mark->references++;
        uses->on_default = mark;
        uses->default_upto = waits->upto;
    }
    pthread_mutex_unlock(&uses->lock);
    return CK_OK;
}

static int wait_for(ck_device *device, waits *waits, cudaStream_t stream, ck_error *error) {
    if (waits->on_default) CK_TRY(mark_default(device, waits, error));
    for (int i = 0; i < waits->count; i++) CK_CUDA(error, cudaStreamWaitEvent(stream, waits->marks[i]->event, 0));
    return CK_OK;
}

// --- recording uses (lock held) ----------------------------------------------------------------------------------
static void keep(ck_use *at, const ck_use *use) {
    *at = *use;
    if (use->mark != NULL) use->mark->references++;
}

// note_read and note_write return 0 if the list of reads is full.
static int note_read(ck_uses *uses, ck_memory *memory, const ck_use *use) {
    int i = 0;
    while (i < memory->read_count && !same(&memory->reads[i].place, &use->place)) i++;
    if (i == CK_READS) return 0;
    if (i < memory->read_count)
        drop(uses, memory->reads[i].mark);
    else
        memory->read_count++;
    keep(&memory->reads[i], use);
    return 1;
}

static void forget_read(ck_uses *uses, ck_memory *memory, int i) {
    drop(uses, memory->reads[i].mark);
    memory->reads[i] = memory->reads[--memory->read_count];
}

// A write comes after the uses that its stream has waited for. Only these uses are forgotten, because another thread
// may have recorded a use meanwhile.
static int note_write(ck_uses *uses, ck_memory *memory, const ck_use *use) {
    for (int i = memory->read_count; i-- > 0;)
        if (covered(&memory->reads[i], &use->place)) forget_read(uses, memory, i);
    if (!covered(&memory->write, &use->place) && !note_read(uses, memory, &memory->write)) return 0;
    drop(uses, memory->write.mark);
    keep(&memory->write, use);
    return 1;
}

// --- more reads than the list can hold ---------------------------------------------------------------------------
// Replaces the reads with a single mark, in the service stream, that comes after all of them.
static int merge_reads(ck_memory *memory, ck_error *error) {
    ck_device *device = memory->device;
    ck_uses *uses = device->uses;
    cudaStream_t service;
    ck_use merged = {.number = 0};
    waits waits;
    waits.count = waits.on_default = 0;
    CK_TRY(ck_service_stream(device, &service, error));
    CK_TRY(place_of(memory->runtime, service, &merged.place, error));
    pthread_mutex_lock(&uses->lock);
    waits.upto = merged.number = uses->number;
    for (int i = 0; i < memory->read_count; i++) want(&waits, uses, &memory->reads[i], &merged.place);
    pthread_mutex_unlock(&uses->lock);
    int status = wait_for(device, &waits, service, error);
    if (status == CK_OK) status = ck_mark_record(device, service, &merged.mark, error);
    pthread_mutex_lock(&uses->lock);
    if (status == CK_OK) {
        for (int i = memory->read_count; i-- > 0;)
            if (memory->reads[i].number <= merged.number) forget_read(uses, memory, i);
        note_read(uses, memory, &merged);
    }
    for (int i = 0; i < waits.count; i++) drop(uses, waits.marks[i]);
    drop(uses, merged.mark);
    pthread_mutex_unlock(&uses->lock);
    return status;
}

// --- before and after enqueuing ----------------------------------------------------------------------------------
int ck_memory_check(const ck_memory *memory, ck_error *error) {
    if (memory->generation == memory->runtime->generation) return CK_OK;
    return ck_fail(error, (int)cudaErrorInitializationError,
                   "%s (%d): the array was created before this process was forked, and a child cannot use the device "
                   "memory of its parent. Create arrays in the process that uses them, or start the process with "
                   "multiprocessing's 'spawn'",
                   cudaGetErrorName(cudaErrorInitializationError), (int)cudaErrorInitializationError);
}

static int check(const ck_access *accesses, int count, ck_error *error) {
    if (count > CK_MAX_ACCESSES)
        return ck_fail(error, CK_BAD_VALUE, "the call has %d arrays, but at most %d are allowed", count,
                       CK_MAX_ACCESSES);
    for (int i = 0; i < count; i++) {
        CK_TRY(ck_memory_check(accesses[i].memory, error));
        if (accesses[i].memory->device != accesses[0].memory->device)
            return ck_fail(
                error, CK_BAD_VALUE,
                "one array is on device %d and another on device %d. Copy one of them to the other device first",
                accesses[0].memory->device->index, accesses[i].memory->device->index);
    }
    return CK_OK;
}

static int is_full(const ck_access *access, const ck_place *here) { // lock held
    const ck_memory *memory = access->memory;
    if (access->writes || memory->read_count < CK_READS) return 0;
    for (int i = 0; i < CK_READS; i++)
        if (same(&memory->reads[i].place, here)) return 0;
    return 1;
}

int ck_order_before_at(const ck_access *accesses, int count, cudaStream_t stream, ck_place *here, ck_error *error) {
    waits waits;
    waits.count = waits.on_default = 0;
    if (count == 0) return CK_OK;
    CK_TRY(check(accesses, count, error));
    CK_TRY(place_of(accesses[0].memory->runtime, stream, here, error));
    ck_device *device = accesses[0].memory->device;
    ck_uses *uses = device->uses;
    pthread_mutex_lock(&uses->lock);
    for (int i = 0; i < count; i++) {
        if (!is_full(&accesses[i], here)) continue;
        pthread_mutex_unlock(&uses->lock);
        CK_TRY(merge_reads(accesses[i].memory, error));
        pthread_mutex_lock(&uses->lock);
    }
    waits.upto = uses->number;
    for (int i = 0; i < count; i++) {
        want(&waits, uses, &accesses[i].memory->write, here);
        for (int k = 0; accesses[i].writes && k < accesses[i].memory->read_count; k++)
            want(&waits, uses, &accesses[i].memory->reads[k], here);
    }
    pthread_mutex_unlock(&uses->lock);
    if (waits.count == 0 && !waits.on_default) return CK_OK;

    const int status = wait_for(device, &waits, stream, error);
    pthread_mutex_lock(&uses->lock);
    for (int i = 0; i < waits.count; i++) drop(uses, waits.marks[i]);
    for (int i = 0; i < count && status == CK_OK; i++) { // later uses, of other threads, were not waited for
        ck_memory *memory = accesses[i].memory;
        if (memory->write.number <= waits.upto) memory->write.awaited = *here;
        for (int k = 0; accesses[i].writes && k < memory->read_count; k++)
            if (memory->reads[k].number <= waits.upto) memory->reads[k].awaited = *here;
    }
    pthread_mutex_unlock(&uses->lock);
    return status;
}

static int note_all(const ck_access *accesses, int count, cudaStream_t stream, const ck_place *here,
                    ck_error *error) {
    ck_device *device = accesses[0].memory->device;
    ck_uses *uses = device->uses;
    ck_use use = {.place = *here};
    int noted = 1;
    if (use.place.kind != CK_DEFAULT_STREAM) CK_TRY(ck_mark_record(device, stream, &use.mark, error));
    pthread_mutex_lock(&uses->lock);
    use.number = ++uses->number;
    for (int i = 0; i < count; i++)
        noted &= (accesses[i].writes ? note_write : note_read)(uses, accesses[i].memory, &use);
    drop(uses, use.mark);
    pthread_mutex_unlock(&uses->lock);
    // Other threads have filled the list meanwhile. Wait for the device: finished uses need no record.
    if (!noted) CK_CUDA(error, (cudaError_t)backend_settle());
    return CK_OK;
}

int ck_order_after_at(const ck_access *accesses, int count, cudaStream_t stream, const ck_place *here,
                      ck_error *error) {
    if (count == 0) return CK_OK;
    const int status = note_all(accesses, count, stream, here, error);
    if (status != CK_OK) (void)backend_settle();
    return status;
}

int ck_order_before(const ck_access *accesses, int count, cudaStream_t stream, ck_error *error) {
    ck_place here;
    return ck_order_before_at(accesses, count, stream, &here, error);
}

int ck_order_after(const ck_access *accesses, int count, cudaStream_t stream, ck_error *error) {
    ck_place here;
    if (count == 0) return CK_OK;
    CK_TRY(check(accesses, count, error));
    const int status = place_of(accesses[0].memory->runtime, stream, &here, error);
    if (status == CK_OK) return ck_order_after_at(accesses, count, stream, &here, error);
    (void)backend_settle();
    return status;
}

// --- the end of a memory, which has no references any more --------------------------------------------------------
int ck_uses_any(ck_memory *memory) {
    return memory->write.place.kind != CK_NOWHERE || memory->read_count > 0;
}

int ck_uses_on_default_only(ck_memory *memory) {
    int only = memory->write.place.kind == CK_NOWHERE || memory->write.place.kind == CK_DEFAULT_STREAM;
    for (int i = 0; i < memory->read_count; i++) only &= memory->reads[i].place.kind == CK_DEFAULT_STREAM;
    return only;
}

void ck_uses_forget(ck_memory *memory) {
    ck_uses *uses = memory->device->uses;
    pthread_mutex_lock(&uses->lock);
    while (memory->read_count > 0) forget_read(uses, memory, 0);
    drop(uses, memory->write.mark);
    memory->write = (ck_use){.number = 0};
    pthread_mutex_unlock(&uses->lock);
}
