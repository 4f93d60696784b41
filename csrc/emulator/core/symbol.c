// Symbols: __constant__ and __device__ variables, accessed by the host.
//
//   float table[64] of a library of kernels  --emu_symbol-->  a SYMBOL in memory.c's table of allocations
//
// Here a symbol is an ordinary variable with the same address for kernels and host. The first call that names it
// registers it as device memory. From then on copies check its bounds, whether they use its name or its address.
// Invariant: a library whose symbols are registered stays loaded, so no address in the table can be reused.
#include "host.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static emu_initial *variables; // of programs

void emu_symbol_fork(emu_fork stage) {
    emu_fork_lock(stage, &lock);
}

// Of memory that begins as zeros, which may be much, there is no copy.
void emu_announce_initial(emu_initial *variable, int add) {
    if (add && !emu_begins_as_zeros(variable->at) && (variable->first = malloc(variable->bytes)))
        memcpy(variable->first, variable->at, variable->bytes);
    pthread_mutex_lock(&lock);
    emu_initial **at = &variables;
    while (!add && *at && *at != variable) at = &(*at)->next;
    if (add)
        variable->next = variables, variables = variable;
    else if (*at)
        *at = variable->next;
    pthread_mutex_unlock(&lock);
    if (add)
        emu_host_watch((uintptr_t)variable->at, variable->bytes, EMU_WATCHED_VARIABLE);
    else
        free(variable->first);
}

int emu_variable_at(const void *address, emu_memory_event *memory) {
    pthread_mutex_lock(&lock);
    const emu_initial *v = variables;
    while (v && (uintptr_t)address - (uintptr_t)v->at >= v->bytes) v = v->next;
    if (v) *memory = (emu_memory_event){.address = (uintptr_t)v->at, .bytes = v->bytes, .kind = EMU_MEMORY_SYMBOL};
    pthread_mutex_unlock(&lock);
    return v != NULL;
}

void emu_reset_variables(void) {
    pthread_mutex_lock(&lock);
    for (const emu_initial *v = variables; v; v = v->next) {
        if (!v->first)
            memset(v->at, 0, v->bytes);
        else if (memcmp(v->at, v->first, v->bytes)) // (it is not constant)
            memcpy(v->at, v->first, v->bytes);
    }
    pthread_mutex_unlock(&lock);
}

// Of a variable of which only the address is known; 0: it is not a program's.
static size_t size_of_variable(const void *symbol) {
    size_t size = 0;
    pthread_mutex_lock(&lock);
    for (const emu_initial *v = variables; v && !size; v = v->next)
        if (v->at == symbol) size = v->bytes;
    pthread_mutex_unlock(&lock);
    return size;
}

// `size` 0: only the address is known, as for symbols in C.
static int find(const void *symbol, size_t size, const char *call, emu_allocation *match) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (emu_find_allocation(symbol, match)) {
        if (match->is_symbol == 2 && size && size <= match->base + match->bytes - (uintptr_t)symbol) {
            match->base = (uintptr_t)symbol;
            match->bytes = size;
            return cudaSuccess;
        }
        if (match->is_symbol && match->base == (uintptr_t)symbol && (!size || size == match->bytes))
            return cudaSuccess;
    } else if (symbol && emu_keep_loaded(symbol) && (size || (size = size_of_variable(symbol)))) {
        // A static variable, in a library or the program.
        code = emu_register((void *)(uintptr_t)symbol, size, 1);
        if (code) return code;
        *match = (emu_allocation){.base = (uintptr_t)symbol, .bytes = size, .device = device, .is_symbol = 1};
        return cudaSuccess;
    }
    return emu_error(cudaErrorInvalidSymbol, "%s: %p is not a __constant__ or __device__ variable", call, symbol);
}

int emu_symbol(void **address, size_t *bytes, const void *symbol, size_t size) {
    const char *call = address ? "cudaGetSymbolAddress" : "cudaGetSymbolSize";
    if (!address && !bytes) return emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    emu_allocation match;
    int code = find(symbol, size, call, &match);
    if (code) return code;
    if (address) *address = (void *)match.base;
    if (bytes) *bytes = match.bytes;
    return cudaSuccess;
}

int emu_copy_symbol(const void *symbol, size_t size, size_t offset, void *other, size_t bytes, int kind,
                    int to_symbol, void *stream, int async) {
    const char *call = to_symbol ? (async ? "cudaMemcpyToSymbolAsync" : "cudaMemcpyToSymbol")
                                 : (async ? "cudaMemcpyFromSymbolAsync" : "cudaMemcpyFromSymbol");
    emu_allocation match;
    int code = find(symbol, size, call, &match);
    if (code) return code;
    if (kind != (to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost) && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return emu_error(cudaErrorInvalidMemcpyDirection,
                         "%s: kind %d; a symbol is device memory, so the kind must be %s, DeviceToDevice or Default",
                         call, kind, to_symbol ? "HostToDevice" : "DeviceToHost");
    if (offset > match.bytes || bytes > match.bytes - offset)
        return emu_error(cudaErrorInvalidValue, "%s: %zu bytes from byte %zu on; the symbol has only %zu bytes", call,
                         bytes, offset, match.bytes);
    char *at = (char *)match.base + offset;
    return emu_copy(to_symbol ? (void *)at : other, bytes, to_symbol ? other : (void *)at, bytes, bytes, 1, kind,
                    stream, async);
}
