// Launches, as whole programs make them, and what is said of those that fail.
//
// Launches by `kernel<<<...>>>(arguments)` in translated sources: device_program.h.
//
//   emu_launch_next(g, b, ...) -->  configurations of this thread:  [outer call] <- [inner call]
//   k(x, n), which sees emu_launching, takes the last one
//
// They form a stack, because the arguments of a launch may call functions that launch kernels, too.
#include <stdatomic.h>
#include <stdlib.h>

#include "block.h"
#include "host.h"

typedef struct pending {
    struct pending *before;
    emu_configuration launch;
    uintptr_t code; // that makes it
} pending;

static __thread pending *last STATIC_TLS;
static __thread uintptr_t taken STATIC_TLS; // the code of the launch that is made; 0: a function of the API makes it
EMU_API __thread int emu_launching STATIC_TLS; // whether there is one

void emu_launch_next(const emu_configuration *launch) {
    pending *next = malloc(sizeof *next);
    if (!next) return; // the kernel then runs as a function: there is no memory for anything
    *next = (pending){last, *launch, (uintptr_t)__builtin_return_address(0) - 1};
    last = next;
    emu_launching = 1;
}

emu_configuration emu_launch_taken(void) {
    pending *now = last;
    const emu_configuration launch = now->launch;
    last = now->before;
    taken = now->code;
    emu_launching = last != NULL;
    free(now);
    return launch;
}

int emu_launch_kernel(const emu_launch *request) {
    const uintptr_t at = taken;
    taken = 0;
    if (!emu_error_would_stay()) return emu_launch_request(request, at);
    emu_error_of_launches(1);
    const int code = emu_launch_request(request, at);
    emu_error_of_launches(0);
    if (!code) return code;
    if (emu_error_of_all_calls()) {
        emu_kernel *known;
        emu_launch_not_run(emu_find_kernel(request->kernel, "the launch", &known) ? request->kernel
                                                                                  : known->function);
        return code;
    }
    char text[EMU_MESSAGE];
    emu_error_detail(text, sizeof text);
    emu_error_refused(code, text, at);
    return code;
}
