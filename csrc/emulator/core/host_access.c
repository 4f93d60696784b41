// The host touches device memory: on a GPU, this is a segmentation fault. So the program ends by one, and is told
// where.
//
//   closed.c --> on_touched: who? --> the tool, or standard error; SIGSEGV
//
// Thrust's algorithms are loops on the host (include/emulator/cccl), which stands in for the device while one runs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "block.h"
#include "host.h"
#include "tools.h"

enum { DEEPEST = 32 };

static __thread unsigned depth STATIC_TLS; // of calls of emu_host_stands_in()

void emu_host_stands_in(int begins) {
    if (begins && !depth++) {
        emu_device_settle();
        emu_device_begin();
    } else if (!begins && !--depth) {
        emu_device_end();
    }
}

typedef enum owner { OF_PROGRAM, OF_SYSTEM, OF_EMULATOR } owner;

static owner owner_of(uintptr_t code) {
    Dl_info info;
    if (!dladdr((const void *)code, &info) || !info.dli_fname) return OF_PROGRAM;
    if (strstr(info.dli_fname, "/libcudakern_")) // emu_print: the program calls printf
        return info.dli_sname && !strcmp(info.dli_sname, "emu_print") ? OF_SYSTEM : OF_EMULATOR;
    const int is_system = !strncmp(info.dli_fname, "/lib", 4) || !strncmp(info.dli_fname, "/usr/lib", 8);
    return is_system ? OF_SYSTEM : OF_PROGRAM;
}

// The first instruction of the program's own on the way to a fault; 0: the emulator's own is before it.
static uintptr_t culprit(uintptr_t fault) {
    void *frames[DEEPEST];
    const int count = backtrace(frames, DEEPEST);
    int i = 0;
    while (i < count && (uintptr_t)frames[i] != fault) ++i;
    for (uintptr_t code = fault;; code = (uintptr_t)frames[i] - 1) {
        const owner of = owner_of(code);
        if (of == OF_EMULATOR) return 0;
        if (of == OF_PROGRAM || ++i >= count) return code;
    }
}

static const char *short_name(const emu_line *of) {
    const char *const slash = strrchr(of->file, '/');
    return slash ? slash + 1 : of->file;
}

static void print(const emu_host_event *event, const emu_line *at) {
    char where[300] = "", allocated[300] = "", text[EMU_MESSAGE];
    emu_line from = {0};
    if (event->memory.code) emu_source_lines(&event->memory.code, 1, &from);
    if (at->line) snprintf(where, sizeof where, "%s:%d: ", short_name(at), at->line);
    if (from.line) snprintf(allocated, sizeof allocated, " (allocated in %s:%d)", short_name(&from), from.line);
    const int writes = (event->kind & EMU_WRITES) != 0;
    snprintf(text, sizeof text, "%sthe host %s device memory: byte %zu of %zu bytes%s. %s", where,
             writes        ? "writes"
             : event->kind ? "reads"
                           : "touches",
             (size_t)(event->address - event->memory.address), event->memory.bytes, allocated,
             writes ? "Write to an array of the host, and copy that: cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice)"
                    : "Copy it to the host first: cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost)");
    if (!emu_current_config()->silent) fprintf(stderr, "cudakern: %s\n", text);
}

static _Noreturn void end_program(void) {
    raise(SIGSEGV); // the program may have a handler
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    for (;;) pause();
}

static int on_touched(emu_host_event *event, int is_fault) {
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    emu_line at = {0};
    const void *const address = (const void *)event->address;
    const int is_symbol = event->memory.kind == EMU_MEMORY_SYMBOL;
    if (!(is_symbol && emu_variable_at(address, &event->memory)) && !emu_memory_at(address, &event->memory)) return 0;
    if (event->memory.kind != EMU_MEMORY_DEVICE) {
        emu_allocation of; // managed variables are one symbol
        if (is_symbol && emu_find_allocation(address, &of) && of.is_symbol == 2)
            event->memory.kind = EMU_MEMORY_MANAGED;
        if (!is_fault && !depth) emu_tool_host(event);
        return !is_fault;
    }
    if (is_fault) event->code = culprit(event->code);
    event->stands_in = depth || !event->code;
    if (!event->stands_in) emu_source_lines(&event->code, 1, &at);
    event->stands_in |= emu_is_library(at.file); // an algorithm that does not begin by standing in, perhaps
    if (event->stands_in) {
        emu_tool_host(event);
        if (is_fault) emu_device_begin(); // without an end: it remains open
        return 1;
    }
    while (atomic_flag_test_and_set(&is_told)) pause(); // another thread ends the program
    if (!emu_tool_host(event)) print(event, &at);
    end_program();
}

// (`cudakern run` would have heeded it.)
static void say_unchecked(void) {
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    const char *const check = getenv("CUDAKERN_CHECK");
    if (check && !strcmp(check, "1") && !atomic_flag_test_and_set(&is_said) && !emu_current_config()->silent)
        fprintf(stderr, "cudakern: CUDAKERN_CHECK=1 checks nothing in this program, because `cudakern cc` compiles "
                        "without checks: `cudakern run --check` with its sources finds its mistakes\n");
}

void emu_keep_host_out(const void *image) {
    const ElfW(Ehdr) *const head = image;
    if (head && getauxval(AT_PHDR) != (uintptr_t)head + head->e_phoff) return;
    if (head) say_unchecked();
    emu_fault_catch();
    emu_close(on_touched);
}
