// Kernels: each one's handle, parameters and attributes.
//
//   cudaGetKernel(&handle, tile<16>) --> table:  address of tile<16>   --.
//                                                address of the handle --+--> emu_kernel: function, signature,
//   cudaLaunchKernelExC(config, handle or tile<16>, ...) ----------------'    shared memory allowed, name
//
// A lookup takes no lock, because every launch does one: a slot of the table is written once, its key last, and a
// table that has become too small is kept unchanged next to the larger one. Only adding a kernel repeats the lookup
// under the lock.
//
// Invariant: a kernel stays in the table until the process ends, and its library stays loaded, so no address in the
// table can be reused for something else. A kernel that is known only by its address has no signature yet: its
// attributes can be set, but it can be launched only after a call that knows its type, or if it was announced.
#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct slot {
    _Atomic(const void *) key; // a kernel's function or handle; NULL: free
    emu_kernel *kernel;
} slot;

typedef struct table {
    struct table *older; // smaller tables, which other threads may still be reading
    size_t slots, used;  // slots: a power of two, at most half of them used
    slot slot[];
} table;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(table *) newest;  // changed under the lock
static emu_announced *announced; // used under the lock

void emu_kernel_fork(emu_fork stage) {
    emu_fork_lock(stage, &lock);
}

// --- The table ----------------------------------------------------------------------------------------------------

// Functions and handles begin at multiples of 16, so the lowest 4 bits are dropped. Of the product with the constant,
// bits from the 32nd on are used, which depend on more bits of the key than lower ones.
static size_t first_slot(const table *in, const void *key) {
    return (size_t)(((uint64_t)(uintptr_t)key >> 4) * 0x9e3779b97f4a7c15 >> 32) & (in->slots - 1);
}

static emu_kernel *find(const void *key) {
    const table *in = atomic_load_explicit(&newest, memory_order_acquire);
    if (!in || !key) return NULL;
    for (size_t i = first_slot(in, key);; i = (i + 1) & (in->slots - 1)) {
        const void *there = atomic_load_explicit(&in->slot[i].key, memory_order_acquire);
        if (there == key) return in->slot[i].kernel;
        if (!there) return NULL;
    }
}

static void put(table *in, const void *key, emu_kernel *kernel) { // lock held
    size_t i = first_slot(in, key);
    while (atomic_load_explicit(&in->slot[i].key, memory_order_relaxed)) i = (i + 1) & (in->slots - 1);
    in->slot[i].kernel = kernel;
    atomic_store_explicit(&in->slot[i].key, key, memory_order_release);
    ++in->used;
}

static table *with_room(size_t more) { // lock held; NULL: no memory
    table *old = atomic_load_explicit(&newest, memory_order_relaxed);
    if (old && 2 * (old->used + more) <= old->slots) return old;
    const size_t slots = old ? 2 * old->slots : 256;
    table *grown = calloc(1, sizeof *grown + slots * sizeof *grown->slot);
    if (!grown) return NULL;
    grown->older = old;
    grown->slots = slots;
    for (size_t i = 0; old && i < old->slots; i++) {
        const void *key = atomic_load_explicit(&old->slot[i].key, memory_order_relaxed);
        if (key) put(grown, key, old->slot[i].kernel);
    }
    atomic_store_explicit(&newest, grown, memory_order_release);
    return grown;
}

static const emu_announced *announcement(const void *function) { // lock held
    const emu_announced *a = announced;
    while (a && a->function != function) a = a->next;
    return a;
}

static const emu_signature *announced_signature(const void *function) {
    pthread_mutex_lock(&lock);
    const emu_announced *a = announcement(function);
    pthread_mutex_unlock(&lock);
    return a ? a->signature : NULL;
}

// Creates the function's kernel if it does not exist, and records its signature if that is new. What was announced
// knows more of the kernel than its type. NULL: no memory.
static emu_kernel *learn(const void *function, const emu_signature *signature) {
    const emu_signature *own = announced_signature(function);
    if (own) signature = own;
    emu_module module;
    const emu_code code = emu_code_around(function, &module); // without our lock, as in emu_get_kernel
    module.can_be_placed = signature && emu_statics_can_be_placed(&module, signature->variable);
    pthread_mutex_lock(&lock);
    emu_kernel *kernel = find(function);
    table *to = kernel ? NULL : with_room(2);
    if (to && (kernel = calloc(1, sizeof *kernel))) {
        kernel->function = function;
        kernel->code = code;
        kernel->module = module;
        const emu_announced *own = announcement(function);
        if (own) kernel->bounds = own->bounds;
        atomic_init(&kernel->signature, signature);
        atomic_init(&kernel->shared, EMU_LIMITS.shared_per_block);
        put(to, function, kernel);
        put(to, kernel, kernel);
    } else if (kernel && signature && !emu_kernel_signature(kernel)) {
        kernel->module = module;
        atomic_store_explicit(&kernel->signature, signature, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return kernel;
}

void emu_announce(emu_announced *kernel, int add) {
    pthread_mutex_lock(&lock);
    emu_announced **at = &announced;
    while (!add && *at && *at != kernel) at = &(*at)->next;
    if (add)
        kernel->next = announced, announced = kernel;
    else if (*at)
        *at = kernel->next;
    pthread_mutex_unlock(&lock);
}

// --- Finding a kernel by its handle or its host function ----------------------------------------------------------

int emu_check_version(uint32_t version) {
    if (version == EMU_INTERFACE_VERSION) return cudaSuccess;
    return emu_error(cudaErrorInvalidKernelImage,
                     "the kernel was built against version %u of the emulator's interface, but this emulator has "
                     "version %d; rebuild the kernel",
                     version, EMU_INTERFACE_VERSION);
}

static int no_kernel(const void *function, const char *call) {
    if (!function) return emu_error(cudaErrorInvalidDeviceFunction, "%s: the kernel is NULL", call);
    return emu_error(cudaErrorInvalidDeviceFunction, "%s: %p is neither a kernel handle nor a function in a library",
                     call, function);
}

static int no_memory(const char *call) {
    return emu_error(cudaErrorMemoryAllocation, "%s: out of host memory for a kernel's handle", call);
}

int emu_find_kernel(const void *function, const char *call, emu_kernel **result) {
    *result = find(function);
    if (*result) return cudaSuccess;
    if (!function || !emu_keep_loaded(function)) return no_kernel(function, call);
    *result = learn(function, NULL);
    return *result ? cudaSuccess : no_memory(call);
}

int emu_find_typed_kernel(const void *function, const char *call, emu_kernel **result) {
    *result = find(function);
    if (*result && emu_kernel_signature(*result)) return cudaSuccess;
    Dl_info where;
    if (*result) function = (*result)->function;
    const emu_signature *signature = announced_signature(function);
    if (signature) return emu_get_kernel((void **)result, function, signature);
    if (!function || !dladdr(function, &where)) return no_kernel(function, call);
    char name[256];
    emu_kernel_name(function, name, sizeof name);
    return emu_error(cudaErrorInvalidDeviceFunction,
                     "%s: the parameters of %s are unknown, because an address does not carry them. Call "
                     "cudaGetKernel(&handle, kernel) first, where the compiler sees the kernel's type",
                     call, name);
}

int emu_get_kernel(void **handle, const void *function, const emu_signature *signature) {
    const char *call = "cudaGetKernel";
    if (!handle) return emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    emu_kernel *kernel = find(function);
    if (!kernel || !emu_kernel_signature(kernel)) { // else there is nothing to check; every launch calls this first
        int device, code = emu_enter(&device);
        if (!code && (!function || !signature)) code = emu_find_typed_kernel(function, call, &kernel);
        if (!code && signature) code = emu_check_version(signature->interface_version);
        if (!code && signature) {
            // Without our lock: the loader holds its own lock while a library's constructors run, and these may call
            // this function.
            emu_keep_loaded(function);
            emu_keep_loaded(signature);
            kernel = learn(function, signature);
            if (!kernel) code = no_memory(call);
        }
        if (code) return code;
    }
    *handle = kernel;
    return cudaSuccess;
}

// --- A kernel's attributes, name and parameters -------------------------------------------------------------------

int emu_function_set(const void *function, int attribute, int value) {
    const char *call = "cudaFuncSetAttribute";
    emu_kernel *kernel;
    int device, code = emu_enter(&device);
    if (!code) code = emu_find_kernel(function, call, &kernel);
    if (code) return code;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess; // a hint
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) return cudaSuccess; // launches check the size
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return emu_error(cudaErrorInvalidValue, "%s: the emulator does not support attribute %d", call, attribute);
    size_t limit = emu_chip_now()->each->shared_per_block;
    if (value < 0 || (size_t)value > limit) {
        char name[256];
        emu_kernel_name(kernel->function, name, sizeof name);
        return emu_error(
            cudaErrorInvalidValue,
            "%s: %d bytes of dynamic shared memory for %s; a block on this device (%s) may have at most %zu", call,
            value, name, emu_chip_now()->name, limit);
    }
    atomic_store_explicit(&kernel->shared, (size_t)value, memory_order_relaxed);
    return cudaSuccess;
}

int emu_kernel_threads(const emu_kernel *kernel) {
    const int most = EMU_LIMITS.block_threads;
    return kernel->bounds.threads && kernel->bounds.threads < (unsigned)most ? (int)kernel->bounds.threads : most;
}

int emu_function_attributes(void *attributes, size_t size, const void *function) {
    const char *call = "cudaFuncGetAttributes";
    emu_kernel *kernel;
    int device, code = emu_enter(&device);
    if (!code) code = emu_find_kernel(function, call, &kernel);
    if (code) return code;
    if (!attributes) return emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    const int capability = emu_chip_now()->each->capability;
    // Registers, static shared memory and local memory are up to the host compiler and unknown here: 0.
    struct cudaFuncAttributes a = {.maxThreadsPerBlock = emu_kernel_threads(kernel),
                                   .ptxVersion = capability,
                                   .binaryVersion = capability,
                                   .maxDynamicSharedSizeBytes = (int)emu_kernel_shared(kernel),
                                   .preferredShmemCarveout = -1};
    memcpy(attributes, &a, size < sizeof a ? size : sizeof a);
    return cudaSuccess;
}

int emu_function_name(const char **name, const void *function) {
    const char *call = "cudaFuncGetName";
    emu_kernel *kernel;
    int code = emu_find_kernel(function, call, &kernel);
    if (code) return code;
    if (!name) return emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    char *known = atomic_load_explicit(&kernel->name, memory_order_acquire);
    if (!known) {
        // CUDA returns the mangled name; our own messages use the demangled one.
        char text[1024];
        Dl_info info;
        if (dladdr(kernel->function, &info) && info.dli_sname)
            snprintf(text, sizeof text, "%s", info.dli_sname);
        else
            emu_kernel_name(kernel->function, text, sizeof text);
        char *copy = strdup(text); // callers keep the pointer, so it is valid as long as the kernel
        if (!copy) return no_memory(call);
        if (atomic_compare_exchange_strong(&kernel->name, &known, copy))
            known = copy;
        else
            free(copy);
    }
    *name = known;
    return cudaSuccess;
}

int emu_function_parameter(size_t *offset, size_t *size, const void *function, size_t index) {
    const char *call = "cudaFuncGetParamInfo";
    emu_kernel *kernel;
    int device, code = emu_enter(&device);
    if (!code) code = emu_find_typed_kernel(function, call, &kernel);
    if (code) return code;
    if (!offset || !size) return emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    const emu_signature *signature = emu_kernel_signature(kernel);
    if (index >= signature->count) {
        char name[256];
        emu_kernel_name(kernel->function, name, sizeof name);
        return emu_error(cudaErrorInvalidValue, "%s: parameter %zu of %s does not exist; it has %u, counted from 0",
                         call, index, name, signature->count);
    }
    *offset = signature->parameters[index].offset;
    *size = signature->parameters[index].size;
    return cudaSuccess;
}
