// Launches by `kernel<<<...>>>(arguments)` in translated sources: device_program.h.
//
//   emu_launch_next(g, b, ...) -->  configurations of this thread:  [outer call] <- [inner call]
//   k(x, n), which sees emu_launching, takes the last one
//
// They form a stack, because the arguments of a launch may call functions that launch kernels, too.
#include <stdatomic.h>
#include <stdlib.h>

#include "host.h"

typedef struct pending {
    struct pending *before;
    emu_configuration launch;
} pending;

static __thread pending *last;
EMU_API __thread int emu_launching __attribute__((tls_model("initial-exec"))); // whether there is one

void emu_launch_next(const emu_configuration *launch) {
    pending *next = malloc(sizeof *next);
    if (!next) return; // the kernel then runs as a function: there is no memory for anything
    *next = (pending){last, *launch};
    last = next;
    emu_launching = 1;
}

void emu_launch_refused(void) {
    static atomic_int printed;
    char text[EMU_MESSAGE];
    if (!atomic_exchange(&printed, 1) && emu_error_detail(text, sizeof text)) emu_print_error(text);
}

emu_configuration emu_launch_taken(void) {
    pending *now = last;
    const emu_configuration launch = now->launch;
    last = now->before;
    emu_launching = last != NULL;
    free(now);
    return launch;
}
