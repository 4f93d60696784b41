// printf in kernels: as on a GPU, the text stays in a buffer until the host synchronizes.
//
//   kernel's printf --> piece -> piece -> piece  --a wait, a copy that waits, cudaDeviceReset--> standard output
//                       (at most LIMIT bytes in all: the oldest pieces are dropped)
//
// All devices share one buffer. Invariant: a piece is the text of one call and is written as a whole. Pieces are
// written in the order in which they were printed, whichever thread synchronizes.
#include "block.h"
#include "host.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 20, SHORT = 512 }; // LIMIT: CUDA's own default

typedef struct piece {
    struct piece *next;
    size_t bytes;
    char text[];
} piece;

// Also held while text is written to standard output, so that two threads cannot reorder it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static piece *first, *last;
static size_t held;
static atomic_int any; // lets a wait without pending text skip the lock

static void drop_first(void) { // lock held
    piece *old = first;
    first = old->next;
    held -= old->bytes;
    free(old);
}

void emu_print_fork(emu_fork stage) {
    if (stage == EMU_FORK_PREPARE) {
        pthread_mutex_lock(&lock);
        return;
    }
    while (stage == EMU_FORK_CHILD && first) drop_first(); // the parent writes this text
    pthread_mutex_unlock(&lock);
}

static int append(const char *format, va_list arguments) {
    char text[SHORT];
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    piece *fresh = length < 0 ? NULL : malloc(sizeof *fresh + (size_t)length + 1);
    if (fresh) {
        *fresh = (piece){.bytes = (size_t)length};
        if (length < SHORT)
            memcpy(fresh->text, text, (size_t)length);
        else
            vsnprintf(fresh->text, (size_t)length + 1, format, again);
    }
    va_end(again);
    if (!fresh || fresh->bytes > LIMIT) {
        free(fresh);
        return -1;
    }
    pthread_mutex_lock(&lock);
    while (held + fresh->bytes > LIMIT) drop_first();
    if (first)
        last->next = fresh;
    else
        first = fresh;
    last = fresh;
    held += fresh->bytes;
    atomic_store_explicit(&any, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return 0;
}

// In a kernel: returns the number of arguments as CUDA does, -1 if the format is NULL, -2 on other errors. Elsewhere:
// printf.
int emu_print(int count, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result;
    if (emu_current && emu_current->inside && emu_block_stopped(emu_current)) emu_block_abandon(emu_current);
    if (emu_current && emu_current->tool && emu_current->current && format) {
        const emu_where at = emu_tool_where(emu_current, NULL, 0, __builtin_return_address(0));
        emu_tool_access(&at, format, strlen(format) + 1, EMU_READS, EMU_BY_PRINT, 0);
    }
    if (!emu_current || !emu_current->current)
        result = vprintf(format, arguments);
    else if (!format)
        result = -1;
    else
        result = append(format, arguments) ? -2 : count;
    va_end(arguments);
    return result;
}

void emu_print_flush(void) {
    if (!atomic_load_explicit(&any, memory_order_relaxed)) return;
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&any, 0, memory_order_relaxed);
    for (; first; drop_first()) fwrite(first->text, 1, first->bytes, stdout);
    fflush(stdout);
    pthread_mutex_unlock(&lock);
}
