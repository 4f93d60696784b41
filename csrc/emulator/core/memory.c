// Memory: CUDA's functions that allocate, free and describe it. table.c has the table of all allocations.
//
//   used[device] <= emu_device_memory()
//
// Invariant: used[d] is the sum of device d's allocations, each rounded up to EMU_GRAIN.
//
// Device memory is host memory to which CUDA's rules are applied. As on a GPU, new memory is not zero: all its bytes
// are 0xFF, which is NaN in every floating-point format and -1 in every signed integer type, so a read of unwritten
// memory shows in the result. Of more than FILL bytes, only the first and the last FILL / 2 are filled. Whole
// programs ask for zeros instead, which is what they see on a GPU at first (measured on an H200). Managed memory is
// always zero: the operating system gives it to programs, and a check cannot tell whether the host has written it.
#define _GNU_SOURCE
#include "../../size_in_words.h"
#include "host.h"
#include "table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PITCH = 512 };
static const size_t FILL = (size_t)32 << 20;
#define NO_ADVICE                                                                                                    \
    { 0, cudaInvalidDeviceId, cudaInvalidDeviceId, cudaInvalidDeviceId }

typedef struct pool {
    int live, device;
    int reuse[3]; // cudaMemPoolReuse*: stored without effect, since the pool does not retain memory
    uint64_t threshold;
    size_t used, high;
    struct pool *next;
} pool;

static size_t used[EMU_MAX_DEVICES];
static pool default_pools[EMU_MAX_DEVICES], *pools_in_use[EMU_MAX_DEVICES]; // in use: NULL is the default one
static pool *pools;

// --- changes of the table (lock held) -----------------------------------------------------------------------------
static size_t rounded(size_t bytes) {
    return (bytes + EMU_GRAIN - 1) / EMU_GRAIN * EMU_GRAIN;
}

// The block that begins at the address and whose kind is in `kinds` (one bit per kind).
static emu_entry *beginning(const void *pointer, unsigned kinds) {
    emu_entry *match = emu_table_find(pointer);
    return match && match->base == (uintptr_t)pointer && !match->dying && (kinds >> match->kind & 1) ? match : NULL;
}

static void account(const emu_entry *b, int sign) {
    size_t bytes = rounded(b->bytes);
    if (!emu_entry_is_device(b)) return;
    used[b->device] += sign > 0 ? bytes : (size_t)0 - bytes;
    pool *from = b->pool;
    if (!from) return;
    from->used += sign > 0 ? bytes : (size_t)0 - bytes;
    if (from->used > from->high) from->high = from->used;
}

static emu_memory_event event_of(const emu_entry *b) {
    return (emu_memory_event){.address = b->base,
                              .bytes = b->bytes,
                              .kind = (emu_memory_kind)b->kind,
                              .device = b->device,
                              .code = b->code};
}
static void tell_new(const emu_entry *b) { // without the lock, before anybody can use it
    const emu_memory_event event = event_of(b);
    emu_tool_allocate(&event);
}
static void tell_old(const emu_entry *b) { // without the lock, before its memory is free
    const emu_memory_event event = event_of(b);
    emu_tool_release_memory(&event);
}

int emu_memory_at(const void *address, emu_memory_event *memory) {
    pthread_mutex_lock(&emu_table.lock);
    const emu_entry *b = emu_table_find(address);
    if (b) *memory = event_of(b);
    pthread_mutex_unlock(&emu_table.lock);
    return b != NULL;
}

static void drop(emu_entry *b) { // removes it from the table; the caller frees the memory
    account(b, -1);
    emu_closed_remove(b);
    emu_table_remove(b);
}

// Lock held. The handle is looked up and not dereferenced, because an invalid one may point anywhere.
static int check_pool(const pool *p) {
    for (int device = 0; device < EMU_MAX_DEVICES; device++)
        if (p == &default_pools[device]) return p->live;
    const pool *known = pools;
    while (known && known != p) known = known->next;
    return known && known->live;
}

static int bad_pool(const void *handle) {
    return emu_error(cudaErrorInvalidValue, "%p is not a memory pool, or the pool has been destroyed", handle);
}

// --- device memory -----------------------------------------------------------------------------------------------
#define CALLER (uintptr_t) __builtin_return_address(0) - 1
static atomic_int new_byte = 0xFF;

void emu_new_memory(int byte) {
    atomic_store(&new_byte, byte);
}

static void fill_new(char *memory, size_t bytes, emu_entry_kind kind) {
    const int byte = kind == MANAGED ? 0 : atomic_load(&new_byte);
    if (bytes <= FILL) {
        memset(memory, byte, bytes);
    } else {
        memset(memory, byte, FILL / 2);
        memset(memory + bytes - FILL / 2, byte, FILL / 2);
    }
}

static int allocate(void **pointer, size_t bytes, int device, pool *from, emu_entry_kind kind, const char *call,
                    uintptr_t code) {
    if (!pointer) return emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    *pointer = NULL;
    if (!bytes) return cudaSuccess;
    if (emu_allocation_should_fail())
        return emu_error(cudaErrorMemoryAllocation, "%s: %s; the setting fail_allocation made this call fail", call,
                         ck_size_in_words(bytes).text);
    emu_entry fresh = {
        .bytes = bytes, .kind = kind, .device = device, .pool = from, .advice = NO_ADVICE, .code = code};
    size_t limit = emu_device_memory(), in_use = 0;
    int fits = 0;
    // If it does not fit, try again after the streams have executed pending frees.
    for (int attempt = 0; attempt < 2 && !fits; attempt++) {
        if (attempt) emu_wait_idle(device);
        pthread_mutex_lock(&emu_table.lock);
        in_use = used[device];
        fits = bytes <= limit && in_use <= limit && rounded(bytes) <= limit - in_use;
        if (fits) account(&fresh, 1); // reserve it now, so that two threads cannot both get the last bytes
        pthread_mutex_unlock(&emu_table.lock);
    }
    if (!fits)
        return emu_error(cudaErrorMemoryAllocation, "%s: %s on device %d; %s of its %s are free", call,
                         ck_size_in_words(bytes).text, device,
                         ck_size_in_words(in_use < limit ? limit - in_use : 0).text, ck_size_in_words(limit).text);
    int failed = emu_region_create(&fresh.region, bytes);
    if (failed) { // the host is out of memory: give up the spares and try again
        emu_region_drop_spares();
        failed = emu_region_create(&fresh.region, bytes);
    }
    char *memory = fresh.region.data;
    if (!failed) {
        fill_new(memory, bytes, kind);
        fresh.base = (uintptr_t)memory;
    }
    pthread_mutex_lock(&emu_table.lock);
    if (!failed) emu_closed_add(&fresh);
    if (!failed && !emu_table_insert(fresh)) {
        emu_closed_remove(&fresh);
        failed = 1;
    }
    if (failed) account(&fresh, -1);
    pthread_mutex_unlock(&emu_table.lock);
    if (failed) {
        if (fresh.base) emu_region_destroy(&fresh.region);
        return emu_error(cudaErrorMemoryAllocation,
                         "%s: %s; device %d has enough free, but the host is out of memory", call,
                         ck_size_in_words(bytes).text, device);
    }
    tell_new(&fresh);
    *pointer = memory;
    return cudaSuccess;
}

static int malloc_allowed(const char *call) {
    int code = 0;
    const emu_capture_calls *capture = emu_capturing();
    if (capture) capture->unsafe(call, &code);
    return code;
}

int emu_malloc_for(void **pointer, size_t bytes, uintptr_t caller) {
    int device, code = emu_enter(&device);
    if (!code) code = malloc_allowed("cudaMalloc");
    return code ? code : allocate(pointer, bytes, device, NULL, DEVICE, "cudaMalloc", caller);
}

int emu_malloc(void **pointer, size_t bytes) {
    return emu_malloc_for(pointer, bytes, CALLER);
}

int emu_malloc_for_graph(void **pointer, size_t bytes) {
    int device, code = emu_enter(&device);
    return code ? code : allocate(pointer, bytes, device, &default_pools[device], DEVICE, "cudaMallocAsync", 0);
}

// The host may use managed memory at any time, because it is host memory like all device memory here.
int emu_malloc_managed(void **pointer, size_t bytes, unsigned flags) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return emu_error(cudaErrorInvalidValue,
                         "cudaMallocManaged: flags %u; they must be cudaMemAttachGlobal (1) or cudaMemAttachHost (2)",
                         flags);
    return allocate(pointer, bytes, device, NULL, MANAGED, "cudaMallocManaged", CALLER);
}

int emu_malloc_pitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!pitch) return emu_error(cudaErrorInvalidValue, "cudaMallocPitch: the pointer for the pitch is NULL");
    size_t bytes;
    if (width > SIZE_MAX - PITCH || __builtin_mul_overflow((width + PITCH - 1) / PITCH * PITCH, height, &bytes))
        return emu_error(cudaErrorMemoryAllocation, "cudaMallocPitch: %zu rows of %zu bytes exceed the address space",
                         height, width);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return allocate(pointer, bytes, device, NULL, DEVICE, "cudaMallocPitch", CALLER);
}

static void release(void *data) { // frees a block marked as dying
    void *memory = *(void **)data;
    emu_entry old = {0};
    pthread_mutex_lock(&emu_table.lock);
    emu_entry *match = emu_table_find(memory);
    if (match) {
        old = *match;
        drop(match);
        emu_table_check(&old);
    }
    pthread_mutex_unlock(&emu_table.lock);
    if (old.base) tell_old(&old);
    if (old.base && emu_entry_is_device(&old))
        emu_region_destroy(&old.region);
    else if (old.kind == PINNED)
        free(memory);
}

// Marks the block that begins at the address as dying; returns an error if the call may not free it.
static int condemn(void *pointer, unsigned kinds, int of_a_pool, const char *call, int *device) {
    pthread_mutex_lock(&emu_table.lock);
    emu_entry *match = beginning(pointer, kinds), *around = match ? NULL : emu_table_find(pointer);
    if (match && of_a_pool && !match->pool) {
        pthread_mutex_unlock(&emu_table.lock);
        return emu_error(
            cudaErrorInvalidValue,
            "%s(%p): this memory comes from cudaMalloc, which is not stream-ordered; free it with cudaFree", call,
            pointer);
    }
    uintptr_t base = around ? around->base : 0;
    size_t bytes = around ? around->bytes : 0;
    int dying = around && around->dying;
    if (match) {
        match->dying = 1;
        *device = match->device;
    }
    pthread_mutex_unlock(&emu_table.lock);
    if (match) return cudaSuccess;
    if (around && base != (uintptr_t)pointer)
        return emu_error(cudaErrorInvalidValue,
                         "%s(%p): the address is inside the allocation of %zu bytes at %p; pass its beginning", call,
                         pointer, bytes, (void *)base);
    if (!around)
        return emu_error(cudaErrorInvalidValue, "%s(%p): the address %s", call, pointer, emu_region_explain(pointer));
    return emu_error(cudaErrorInvalidValue, "%s(%p): %s", call, pointer,
                     dying ? "the memory has already been freed"
                           : "the memory is of another kind: device and host memory have their own functions");
}

int emu_free(void *pointer) {
    int device, code = emu_enter(&device);
    if (code || !pointer) return code;
    if ((code = malloc_allowed("cudaFree"))) return code;
    code = condemn(pointer, 1u << DEVICE | 1u << MANAGED, 0, "cudaFree", &device);
    if (code) return code;
    emu_wait_idle(device); // as in CUDA: kernels may still use it; their errors stay for a synchronizing call
    release(&pointer);
    emu_region_settle_spares();
    code = emu_table_report_problem(device);
    return code ? code : emu_error_told();
}

int emu_malloc_async(void **pointer, size_t bytes, void *handle, void *stream) {
    int device, code = emu_stream_device(stream, &device);
    const emu_capture_calls *capture = emu_capturing();
    struct cudaGraphNodeParams node = {.type = cudaGraphNodeTypeMemAlloc, .alloc = {.bytesize = bytes}};
    if (code) return code;
    if (capture && pointer && capture->node(stream, &node, NULL, 0, &code)) return *pointer = node.alloc.dptr, code;
    pthread_mutex_lock(&emu_table.lock);
    pool *from = handle ? handle : pools_in_use[device] ? pools_in_use[device] : &default_pools[device];
    int ok = from == &default_pools[device] || check_pool(from);
    pthread_mutex_unlock(&emu_table.lock);
    if (!ok) return bad_pool(handle);
    return allocate(pointer, bytes, handle ? from->device : device, from, DEVICE, "cudaMallocAsync", CALLER);
}

int emu_free_async(void *pointer, void *stream) {
    int device, code = emu_stream_device(stream, &device);
    const emu_capture_calls *capture = emu_capturing();
    struct cudaGraphNodeParams node = {.type = cudaGraphNodeTypeMemFree, .free = {pointer}};
    if (code || !pointer || (capture && capture->node(stream, &node, NULL, 0, &code))) return code;
    code = condemn(pointer, 1u << DEVICE, 1, "cudaFreeAsync", &device);
    if (code) return code;
    code = emu_submit(stream, release, &pointer, sizeof pointer, EMU_EITHER, 1);
    if (code) { // not queued: the block stays valid
        pthread_mutex_lock(&emu_table.lock);
        emu_entry *match = emu_table_find(pointer);
        if (match) match->dying = 0;
        pthread_mutex_unlock(&emu_table.lock);
    }
    return code;
}

void emu_release_device(int device) {
    for (;;) {
        pthread_mutex_lock(&emu_table.lock);
        size_t i = emu_table.count;
        while (i && (!emu_entry_is_device(&emu_table.entries[i - 1]) || emu_table.entries[i - 1].device != device))
            --i;
        const emu_entry old = i ? emu_table.entries[i - 1] : (emu_entry){.base = 0};
        if (i) drop(&emu_table.entries[i - 1]);
        pthread_mutex_unlock(&emu_table.lock);
        if (!i) break;
        tell_old(&old);
        emu_region_destroy(&old.region);
    }
    emu_region_drop_spares();
}

int emu_memory_info(size_t *free_bytes, size_t *total) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!free_bytes || !total)
        return emu_error(cudaErrorInvalidValue, "cudaMemGetInfo: the pointer for the result is NULL");
    pthread_mutex_lock(&emu_table.lock);
    size_t in_use = used[device];
    pthread_mutex_unlock(&emu_table.lock);
    *total = emu_device_memory();
    *free_bytes = in_use < *total ? *total - in_use : 0;
    return cudaSuccess;
}

// --- pools: they count bytes but retain no memory -----------------------------------------------------------------
int emu_default_pool(void **handle, int device) {
    int code = emu_check_device(device, "cudaDeviceGetDefaultMemPool");
    if (code) return code;
    if (!handle)
        return emu_error(cudaErrorInvalidValue, "cudaDeviceGetDefaultMemPool: the pointer for the result is NULL");
    pthread_mutex_lock(&emu_table.lock);
    default_pools[device].live = 1;
    default_pools[device].device = device;
    pthread_mutex_unlock(&emu_table.lock);
    *handle = &default_pools[device];
    return cudaSuccess;
}

int emu_pool_create(void **handle, int device) {
    int code = emu_check_device(device, "cudaMemPoolCreate");
    if (code) return code;
    if (!handle) return emu_error(cudaErrorInvalidValue, "cudaMemPoolCreate: the pointer for the result is NULL");
    pthread_mutex_lock(&emu_table.lock);
    pool *fresh = pools;
    while (fresh && (fresh->live || fresh->used)) fresh = fresh->next;
    pool *next = fresh ? fresh->next : pools;
    if (!fresh && (fresh = malloc(sizeof *fresh))) pools = fresh;
    if (fresh) *fresh = (pool){.live = 1, .device = device, .reuse = {1, 1, 1}, .next = next};
    pthread_mutex_unlock(&emu_table.lock);
    *handle = fresh;
    return fresh ? cudaSuccess : emu_error(cudaErrorMemoryAllocation, "out of host memory for a memory pool");
}

int emu_pool_destroy(void *handle) {
    pool *p = handle;
    pthread_mutex_lock(&emu_table.lock);
    int ok = check_pool(p) && !(p >= default_pools && p < default_pools + EMU_MAX_DEVICES);
    if (ok) p->live = 0; // allocations from it stay valid until they are freed
    for (int i = 0; ok && i < EMU_MAX_DEVICES; i++)
        if (pools_in_use[i] == p) pools_in_use[i] = NULL;
    pthread_mutex_unlock(&emu_table.lock);
    return ok ? cudaSuccess : bad_pool(handle);
}

// The pool of cudaMallocAsync: sets it if `pool` points to one, else stores it there.
int emu_device_pool(void **handle, int device) {
    int code = emu_check_device(device, "cudaDeviceSetMemPool");
    if (code) return code;
    if (!handle) return emu_error(cudaErrorInvalidValue, "cudaDeviceGetMemPool: the pointer for the result is NULL");
    pthread_mutex_lock(&emu_table.lock);
    pool *wanted = *handle;
    int ok = !wanted || (check_pool(wanted) && wanted->device == device);
    if (ok && wanted) pools_in_use[device] = wanted;
    void *in_use = pools_in_use[device];
    pthread_mutex_unlock(&emu_table.lock);
    if (!ok) return bad_pool(wanted);
    if (wanted) return cudaSuccess;
    *handle = in_use;
    return in_use ? cudaSuccess : emu_default_pool(handle, device);
}

int emu_pool_trim(void *handle, size_t keep) {
    (void)keep;
    pthread_mutex_lock(&emu_table.lock);
    int ok = check_pool(handle);
    pthread_mutex_unlock(&emu_table.lock);
    if (ok) emu_region_drop_spares();
    return ok ? cudaSuccess : bad_pool(handle);
}

int emu_pool_attribute(void *handle, int attribute, void *value, int set) {
    pool *p = handle;
    int ok = 1;
    pthread_mutex_lock(&emu_table.lock);
    if (!check_pool(p)) {
        pthread_mutex_unlock(&emu_table.lock);
        return bad_pool(handle);
    }
    uint64_t *wide = value;
    switch (value ? attribute : 0) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        if (set)
            p->reuse[attribute - 1] = *(int *)value;
        else
            *(int *)value = p->reuse[attribute - 1];
        break;
    case cudaMemPoolAttrReleaseThreshold:
        if (set)
            p->threshold = *wide;
        else
            *wide = p->threshold;
        break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
        if (set)
            ok = 0;
        else
            *wide = p->used;
        break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        if (!set)
            *wide = p->high;
        else if (*wide)
            ok = 0;
        else
            p->high = p->used;
        break;
    default: ok = 0;
    }
    pthread_mutex_unlock(&emu_table.lock);
    if (ok) return cudaSuccess;
    return emu_error(cudaErrorInvalidValue, "attribute %d of a memory pool cannot be %s", attribute,
                     set ? "set to this value" : "read");
}

// --- host memory -------------------------------------------------------------------------------------------------
int emu_malloc_host(void **pointer, size_t bytes, unsigned flags) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!pointer || flags > 7)
        return emu_error(cudaErrorInvalidValue,
                         "cudaHostAlloc: flags %u; they must be from 0 to 7, and the pointer for the result not NULL",
                         flags);
    *pointer = NULL;
    if (!bytes) return cudaSuccess;
    void *memory;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&memory, 4096, bytes))
        return emu_error(cudaErrorMemoryAllocation, "cudaMallocHost: %s; the host is out of memory",
                         ck_size_in_words(bytes).text);
    const emu_entry fresh = {
        .base = (uintptr_t)memory, .bytes = bytes, .kind = PINNED, .device = device, .flags = flags, .code = CALLER};
    pthread_mutex_lock(&emu_table.lock);
    int ok = emu_table_insert(fresh);
    if (ok) emu_host_watch(fresh.base, bytes, EMU_WATCHED_HOST);
    pthread_mutex_unlock(&emu_table.lock);
    if (!ok) {
        free(memory);
        return emu_error(cudaErrorMemoryAllocation, "cudaMallocHost: the host is out of memory");
    }
    tell_new(&fresh);
    *pointer = memory;
    return cudaSuccess;
}

int emu_free_host(void *pointer) {
    int device, code = emu_enter(&device);
    if (code || !pointer) return code;
    code = condemn(pointer, 1u << PINNED, 0, "cudaFreeHost", &device);
    if (code) return code;
    emu_wait_idle(-1); // copies of any device may still use it
    release(&pointer);
    return cudaSuccess;
}

// Addresses are unified: pinned memory has the same address on the device as on the host.
int emu_host_device_pointer(void **device, void *host, unsigned flags) {
    pthread_mutex_lock(&emu_table.lock);
    const emu_entry *match = emu_table_find(host);
    int ok = match && !match->dying && (match->kind == PINNED || match->kind == REGISTERED);
    pthread_mutex_unlock(&emu_table.lock);
    if (!ok || !device || flags)
        return emu_error(cudaErrorInvalidValue, "cudaHostGetDevicePointer(%p), flags %u: %s", host, flags,
                         ok ? "flags must be 0, and the pointer for the result not NULL"
                            : "this is not page-locked memory");
    *device = host;
    return cudaSuccess;
}

int emu_host_flags(unsigned *flags, void *host) {
    pthread_mutex_lock(&emu_table.lock);
    const emu_entry *match = emu_table_find(host);
    int ok = flags && match && !match->dying && (match->kind == PINNED || match->kind == REGISTERED);
    if (ok) *flags = match->flags | cudaHostAllocMapped; // addresses are unified, so all such memory is mapped
    pthread_mutex_unlock(&emu_table.lock);
    if (ok) return cudaSuccess;
    return emu_error(cudaErrorInvalidValue, "cudaHostGetFlags(%p): %s", host,
                     flags ? "this is not page-locked memory" : "the pointer for the result is NULL");
}

// Registers host memory as pinned, or a __device__ variable as device memory.
int emu_register(void *pointer, size_t bytes, int is_symbol) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!pointer || !bytes || (uintptr_t)pointer > UINTPTR_MAX - bytes)
        return emu_error(cudaErrorInvalidValue, "cudaHostRegister: %zu bytes at %p are not a range of memory", bytes,
                         pointer);
    if (is_symbol > 1) {
        emu_keep_loaded(pointer);
        emu_host_watch((uintptr_t)pointer, bytes, EMU_WATCHED_VARIABLE);
    }
    const emu_entry fresh = {.base = (uintptr_t)pointer,
                             .bytes = bytes,
                             .kind = is_symbol ? SYMBOL : REGISTERED,
                             .device = device,
                             .flags = is_symbol > 1,
                             .code = CALLER,
                             .advice = NO_ADVICE};
    pthread_mutex_lock(&emu_table.lock);
    size_t i = emu_table_after((uintptr_t)pointer + bytes - 1);
    emu_entry *before = i ? &emu_table.entries[i - 1] : NULL;
    int overlaps = before && before->base + before->bytes > (uintptr_t)pointer;
    int known = is_symbol && overlaps && before->base == (uintptr_t)pointer && before->bytes == bytes;
    int ok = known || (!overlaps && emu_table_insert(fresh));
    if (ok && !is_symbol) emu_host_watch((uintptr_t)pointer, bytes, EMU_WATCHED_HOST);
    pthread_mutex_unlock(&emu_table.lock);
    if (ok && !known) tell_new(&fresh);
    if (ok) return cudaSuccess;
    if (overlaps)
        return emu_error(cudaErrorHostMemoryAlreadyRegistered,
                         "some of the %zu bytes at %p are already registered or allocated", bytes, pointer);
    return emu_error(cudaErrorMemoryAllocation, "out of host memory to register memory");
}

int emu_unregister(void *pointer) {
    pthread_mutex_lock(&emu_table.lock);
    emu_entry *match = beginning(pointer, 1u << REGISTERED);
    if (match) match->dying = 1;
    pthread_mutex_unlock(&emu_table.lock);
    if (!match)
        return emu_error(cudaErrorHostMemoryNotRegistered,
                         "cudaHostUnregister(%p): no memory is registered at this address", pointer);
    emu_wait_idle(-1);
    release(&pointer);
    return cudaSuccess;
}

int emu_find_allocation(const void *pointer, emu_allocation *match) {
    pthread_mutex_lock(&emu_table.lock);
    const emu_entry *b = emu_table_find(pointer);
    if (b)
        *match = (emu_allocation){.base = b->base,
                                  .bytes = b->bytes,
                                  .dying = b->dying,
                                  .is_symbol = b->kind == SYMBOL ? 1 + (int)b->flags : 0,
                                  .device = emu_entry_is_device(b) || b->kind == SYMBOL ? b->device : -1};
    pthread_mutex_unlock(&emu_table.lock);
    return b != NULL;
}

int emu_address_range(void **begin, size_t *bytes, const void *pointer) {
    emu_allocation match;
    if (!emu_find_allocation(pointer, &match) || match.dying)
        return emu_error(cudaErrorInvalidValue, "cuMemGetAddressRange: nothing is allocated at %p", pointer);
    if (begin) *begin = (void *)match.base;
    if (bytes) *bytes = match.bytes;
    return cudaSuccess;
}

int emu_check_shareable(const void *pointer) {
    emu_allocation match;
    if (emu_find_allocation(pointer, &match) && match.base == (uintptr_t)pointer && !match.dying && match.device >= 0)
        return cudaSuccess;
    return emu_error(cudaErrorInvalidValue, "cudaIpcGetMemHandle(%p): this is not the beginning of device memory",
                     pointer);
}

int emu_pointer_attributes(void *attributes, size_t size, const void *pointer) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!attributes)
        return emu_error(cudaErrorInvalidValue, "cudaPointerGetAttributes: the pointer for the result is NULL");
    void *address = (void *)(uintptr_t)pointer;
    struct cudaPointerAttributes a = {.type = cudaMemoryTypeUnregistered, .device = -2, .hostPointer = address};
    pthread_mutex_lock(&emu_table.lock);
    const emu_entry *match = emu_table_find(pointer);
    if (match && !match->dying) {
        const int is_managed = match->kind == MANAGED || (match->kind == SYMBOL && match->flags);
        const int on_device = !is_managed && (match->kind == DEVICE || match->kind == SYMBOL);
        a.type = on_device ? cudaMemoryTypeDevice : is_managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
        a.device = match->device;
        a.devicePointer = address;
        a.hostPointer = on_device ? NULL : address;
    }
    pthread_mutex_unlock(&emu_table.lock);
    memcpy(attributes, &a, size < sizeof a ? size : sizeof a);
    return cudaSuccess;
}

// --- managed memory: advice and prefetches are stored, for cudaMemRangeGetAttribute --------------------------------
// Checks a range.
static int check_managed(const char *call, const void *pointer, size_t bytes, int location) {
    int code = location == cudaCpuDeviceId ? cudaSuccess : emu_check_device(location, call);
    if (code) return code;
    if (!pointer || !bytes)
        return emu_error(cudaErrorInvalidValue, "%s: %zu bytes at %p are not a range of managed memory", call, bytes,
                         pointer);
    pthread_mutex_lock(&emu_table.lock);
    const emu_entry *match = emu_table_find(pointer);
    const int is_managed =
        match && !match->dying && (match->kind == MANAGED || (match->kind == SYMBOL && match->flags));
    const size_t left = match ? match->bytes - ((uintptr_t)pointer - match->base) : 0;
    pthread_mutex_unlock(&emu_table.lock);
    if (!is_managed)
        return emu_error(cudaErrorInvalidValue, "%s: %p is not managed memory; cudaMallocManaged allocates it", call,
                         pointer);
    if (bytes > left)
        return emu_error(cudaErrorInvalidValue, "%s: %zu bytes at %p; only %zu bytes of the allocation remain", call,
                         bytes, pointer, left);
    return cudaSuccess;
}

static void advise(const void *pointer, int attribute, int value) {
    pthread_mutex_lock(&emu_table.lock);
    emu_entry *match = emu_table_find(pointer);
    if (match) match->advice[attribute - 1] = value;
    pthread_mutex_unlock(&emu_table.lock);
}

int emu_advise(const void *pointer, size_t bytes, int advice, int location) {
    const char *call = "cudaMemAdvise";
    const int sets = advice % 2; // the odd ones set what the next one takes back
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return emu_error(cudaErrorInvalidValue, "%s: %d is not a cudaMemoryAdvise", call, advice);
    if (advice <= cudaMemAdviseUnsetReadMostly || !sets) location = cudaCpuDeviceId; // it is not used
    int code = check_managed(call, pointer, bytes, location);
    if (code) return code;
    if (advice <= cudaMemAdviseUnsetReadMostly)
        advise(pointer, cudaMemRangeAttributeReadMostly, sets);
    else
        advise(pointer,
               advice <= cudaMemAdviseUnsetPreferredLocation ? cudaMemRangeAttributePreferredLocation
                                                             : cudaMemRangeAttributeAccessedBy,
               sets ? location : cudaInvalidDeviceId);
    return cudaSuccess;
}

int emu_prefetch(const void *pointer, size_t bytes, int location, void *stream) {
    int device, code = emu_stream_device(stream, &device);
    if (!code) code = check_managed("cudaMemPrefetchAsync", pointer, bytes, location);
    if (!code) advise(pointer, cudaMemRangeAttributeLastPrefetchLocation, location);
    return code;
}

int emu_attach(const void *pointer, unsigned flags, void *stream) {
    const char *call = "cudaStreamAttachMemAsync";
    int device, code = emu_stream_device(stream, &device);
    if (code) return code;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
        return emu_error(cudaErrorInvalidValue, "%s: flags %u; they must be 1, 2 or 4", call, flags);
    return check_managed(call, pointer, 1, cudaCpuDeviceId);
}

int emu_range_attribute(void *data, size_t size, int attribute, const void *pointer, size_t bytes) {
    const char *call = "cudaMemRangeGetAttribute";
    int code = check_managed(call, pointer, bytes, cudaCpuDeviceId);
    if (code) return code;
    if (!data || size < sizeof(int) || size % sizeof(int) || attribute < cudaMemRangeAttributeReadMostly ||
        attribute > cudaMemRangeAttributeLastPrefetchLocation)
        return emu_error(cudaErrorInvalidValue, "%s: attribute %d, %zu bytes for the result", call, attribute, size);
    static const int none[4] = NO_ADVICE;
    pthread_mutex_lock(&emu_table.lock);
    const emu_entry *match = emu_table_find(pointer);
    int *to = data, value = (match ? match->advice : none)[attribute - 1];
    pthread_mutex_unlock(&emu_table.lock);
    for (size_t i = 0; i < size / sizeof(int); i++) to[i] = i ? cudaInvalidDeviceId : value;
    return cudaSuccess;
}
