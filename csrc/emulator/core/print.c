// printf in kernels: text that waits on the device until somebody synchronises, as on a GPU.
//
//   kernel's printf --> piece -> piece -> piece  --a wait, a copy that waits, cudaDeviceReset--> standard output
//                       (LIMIT bytes in all: beyond that the oldest give way)
//
// There is one buffer for all devices. Invariant: a piece is what one call printed, and appears whole; pieces appear in
// the order in which they were printed, whoever synchronises.
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

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; // held while text is written, too: else it could be reordered
static piece *first, *last;
static size_t held;
static atomic_int any; // so that a wait that finds nothing takes no lock

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
    while (stage == EMU_FORK_CHILD && first) drop_first(); // it is the parent's to show
    pthread_mutex_unlock(&lock);
}

static int append(const char *format, va_list arguments) {
    char text[SHORT];
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    piece *made = length < 0 ? NULL : malloc(sizeof *made + (size_t)length + 1);
    if (made) {
        *made = (piece){.bytes = (size_t)length};
        if (length < SHORT)
            memcpy(made->text, text, (size_t)length);
        else
            vsnprintf(made->text, (size_t)length + 1, format, again);
    }
    va_end(again);
    if (!made || made->bytes > LIMIT) {
        free(made);
        return -1;
    }
    pthread_mutex_lock(&lock);
    while (held + made->bytes > LIMIT) drop_first();
    if (first)
        last->next = made;
    else
        first = made;
    last = made;
    held += made->bytes;
    atomic_store_explicit(&any, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return 0;
}

// In a kernel: CUDA's result, the number of arguments; -1 for no format, -2 where it went wrong. Outside: printf.
int emu_print(int count, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result;
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
