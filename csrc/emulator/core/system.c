// Services of the operating system for both sides: threads, keeping libraries loaded, names in them, and the time.
#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Signals are left to the program's own threads (Python handles Ctrl-C in its main thread), except those that fault.c
// uses (SIGURG ends a loop) and those of faults: a fault whose signal is blocked ends the process without running a
// handler (faulthandler's, a sanitizer's).
int emu_start_thread(void *(*entry)(void *), void *argument) {
    static const int OPEN[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGURG};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof OPEN / sizeof *OPEN; i++) sigdelset(&blocked, OPEN[i]);
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int error = pthread_create(&thread, &detached, entry, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return error;
}

uint64_t emu_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int guard_pages;
static pthread_once_t guards_once = PTHREAD_ONCE_INIT;

static void count_guards(void) {
    int maps = 65530;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file) {
        if (fscanf(file, "%d", &maps) != 1) maps = 65530;
        fclose(file);
    }
    guard_pages = maps / 4 / 2;
}

int emu_guard_pages(void) {
    pthread_once(&guards_once, count_guards);
    return guard_pages;
}

int emu_keep_loaded(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info)) return 0;
    // For the program itself this fails, and is not needed.
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    return 1;
}

// The demangler is in the C++ library, which is loaded with a library of kernels; the core itself is in C.
static char *demangled(const char *symbol) {
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    typedef char *demangle(const char *, char *, size_t *, int *);
    union {
        void *pointer;
        demangle *function;
    } demangler = {dlsym(RTLD_DEFAULT, "__cxa_demangle")};
    for (int i = 0; !demangler.pointer && i < 2; ++i) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (!library) continue;
        demangler.pointer = dlsym(library, "__cxa_demangle");
        dlclose(library); // it was loaded before and stays loaded
    }
    int status = -1;
    char *name = demangler.pointer ? demangler.function(symbol, NULL, NULL, &status) : NULL;
    return status == 0 ? name : NULL;
}

typedef struct library {
    uintptr_t function;
    emu_code code;
    emu_module module;
} library;

static int find_library(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    library *of = argument;
    emu_module module = {.number = info->dlpi_tls_modid};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && of->function - begin < part->p_memsz)
            of->code = (emu_code){begin, part->p_memsz};
        if (part->p_type != PT_TLS) continue;
        module.bytes = part->p_memsz;
        module.align = part->p_align ? part->p_align : 1;
        module.first = part->p_vaddr & (module.align - 1);
        module.image = (const void *)begin;
        module.image_bytes = part->p_filesz;
    }
    if (!of->code.bytes) return 0;
    of->module = module;
    return 1;
}

emu_code emu_code_around(const void *function, emu_module *module) {
    library of = {.function = (uintptr_t)function};
    dl_iterate_phdr(find_library, &of);
    if (module) *module = of.module;
    return of.code;
}

typedef struct place {
    uintptr_t address;
    int is_in_file;
} place;

static int find_place(struct dl_phdr_info *of, size_t size, void *to) {
    (void)size;
    place *at = to;
    for (int i = 0; i < of->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = &of->dlpi_phdr[i];
        const uintptr_t offset = at->address - of->dlpi_addr - part->p_vaddr;
        if (part->p_type != PT_LOAD || offset >= part->p_memsz) continue;
        at->is_in_file = offset < part->p_filesz;
        return 1;
    }
    return 0;
}

int emu_begins_as_zeros(const void *address) {
    place at = {.address = (uintptr_t)address, .is_in_file = 1};
    dl_iterate_phdr(find_place, &at);
    return !at.is_in_file;
}

// --- Names of kernels ----------------------------------------------------------------------------------------------

// Of a function that its library does not export, because it is static, in a namespace without a name, or takes a
// lambda: the table for the linker has it, which is in the file only.
static char *symbol_in(const char *file, uintptr_t offset) {
    struct stat status;
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return NULL;
    const size_t bytes = fstat(descriptor, &status) ? 0 : (size_t)status.st_size;
    const char *const begin = bytes ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
    close(descriptor);
    if (begin == MAP_FAILED) return NULL;
    char *name = NULL;
    const ElfW(Ehdr) *const head = (const void *)begin;
    const ElfW(Shdr) *const parts = (const void *)(begin + head->e_shoff);
    const int count = head->e_shoff + head->e_shnum * sizeof *parts <= bytes ? head->e_shnum : 0;
    for (int i = 0; i < count && !name; ++i) {
        if (parts[i].sh_type != SHT_SYMTAB) continue;
        const ElfW(Sym) *const symbols = (const void *)(begin + parts[i].sh_offset);
        const char *const names = begin + parts[parts[i].sh_link].sh_offset;
        for (size_t j = 0; j < parts[i].sh_size / sizeof *symbols && !name; ++j)
            if (symbols[j].st_value == offset && (symbols[j].st_info & 15) == STT_FUNC)
                name = strdup(names + symbols[j].st_name);
    }
    munmap((void *)(uintptr_t)begin, bytes);
    return name;
}

// (The file is read once for each of them. Libraries of kernels stay loaded.)
static const char *symbol_of(const void *function) {
    typedef struct symbol {
        struct symbol *next;
        const void *function;
        char *name;
    } symbol;
    static _Atomic(symbol *) all;
    Dl_info info;
    struct link_map *map;
    if (!dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP)) return NULL;
    if (info.dli_sname && info.dli_saddr == function) return info.dli_sname;
    for (const symbol *one = atomic_load(&all); one; one = one->next)
        if (one->function == function) return one->name;
    symbol *const fresh = malloc(sizeof *fresh);
    if (!fresh) return NULL;
    const ElfW(Ehdr) *const head = info.dli_fbase;
    const uintptr_t base = head->e_type == ET_EXEC ? 0 : (uintptr_t)head;
    fresh->function = function;
    fresh->name = symbol_in(*map->l_name ? info.dli_fname : "/proc/self/exe", (uintptr_t)function - base);
    fresh->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &fresh->next, fresh)) {}
    return fresh->name;
}

void emu_kernel_name(const void *function, char *name, size_t size) {
    static const char nameless[] = "(anonymous namespace)::";
    const char *const symbol = symbol_of(function);
    if (!symbol) {
        snprintf(name, size, "(not exported)");
        return;
    }
    char *full = demangled(symbol);
    for (char *at = full; at && (at = strstr(at, nameless));)
        memmove(at, at + sizeof nameless - 1, strlen(at + sizeof nameless - 1) + 1);
    const char *begin = full ? full : symbol;
    size_t length = strlen(begin);
    if (full) { // "void tiled<float, 16>(float const*)" -> "tiled<float, 16>"
        if (length && begin[length - 1] == ')') {
            int depth = 0;
            do {
                --length;
                depth += begin[length] == ')' ? 1 : begin[length] == '(' ? -1 : 0;
            } while (length && depth);
        }
        if (!strncmp(begin, "void ", 5)) begin += 5, length -= 5;
    }
    snprintf(name, size, "%.*s", (int)length, begin);
    free(full);
}
