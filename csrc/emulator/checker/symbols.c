// The variables of a library of kernels: where each __shared__, __constant__ and __device__ variable begins and ends.
//
// They are in its file's table of symbols. Shared variables are thread-local ones, so their addresses are offsets.
#define _GNU_SOURCE
#include "symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulator/device_core.h"

// Of __shared__ variables in code that reports what it does (device_qualifiers.h). The compiler's library may have
// other thread-local ones.
enum { SHARED_ALIGNMENT = 65536 };

static library *first;

// "_ZZ5tiledPKfE4tile" --> "tile": the last name of a mangled one.
static char *short_name(const char *mangled) {
    const char *name = mangled;
    size_t length = strlen(mangled);
    if (mangled[0] == '_' && mangled[1] == 'Z')
        for (const char *at = mangled + 2; *at;) {
            char *after;
            const size_t count = *at >= '1' && *at <= '9' ? strtoul(at, &after, 10) : 0;
            if (at[0] == 'L' && at[1] >= 'a' && at[1] <= 'z') { // a number, as in square<8>: "Li8E"
                at += strcspn(at, "E");
            } else if (count && *after == '_' && strchr("AST", at[-1])) { // "A8_", "S1_", "T1_": other parts of types
                at = after;
            } else if (count && count <= strlen(after)) {
                name = after;
                length = count;
                at = after + count;
            } else {
                ++at;
            }
        }
    if (strncmp(name, "_GLOBAL__N", 10) == 0) name = mangled, length = strlen(mangled);
    return strndup(name, length);
}

static int by_begin(const void *a, const void *b) {
    const variable *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void add(variables *to, const Elf64_Sym *symbol, const char *name) {
    to->of = realloc(to->of, (to->count + 1) * sizeof *to->of);
    if (!to->of) abort();
    to->of[to->count++] = (variable){symbol->st_value, symbol->st_value + symbol->st_size, short_name(name)};
}

static void read_symbols(library *to, const char *image, size_t bytes) {
    const Elf64_Ehdr *const head = (const void *)image;
    if (bytes < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64)
        return;
    const Elf64_Shdr *const sections = (const void *)(image + head->e_shoff);
    for (int i = 0; i < head->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        const Elf64_Sym *const symbols = (const void *)(image + sections[i].sh_offset);
        const char *const names = image + sections[sections[i].sh_link].sh_offset;
        for (size_t s = 0; s < sections[i].sh_size / sizeof *symbols; ++s) {
            const int type = ELF64_ST_TYPE(symbols[s].st_info);
            if (!symbols[s].st_size || symbols[s].st_shndx == SHN_UNDEF) continue;
            const int is_guard = !strncmp(names + symbols[s].st_name, "_ZGV", 4); // of the constructor of a variable
            if (type == STT_TLS && is_guard) add(&to->guards, &symbols[s], names + symbols[s].st_name);
            const int is_shared = type == STT_TLS && !is_guard && symbols[s].st_value % SHARED_ALIGNMENT == 0;
            if (is_shared) add(&to->shared, &symbols[s], names + symbols[s].st_name);
            const int is_compilers = !strcmp(names + symbols[s].st_name, "completed.0");
            if (type == STT_OBJECT && !is_compilers) add(&to->others, &symbols[s], names + symbols[s].st_name);
        }
    }
    if (to->shared.count) qsort(to->shared.of, to->shared.count, sizeof(variable), by_begin);
    if (to->guards.count) qsort(to->guards.of, to->guards.count, sizeof(variable), by_begin);
    if (to->others.count) qsort(to->others.of, to->others.count, sizeof(variable), by_begin);
}

typedef struct search {
    uintptr_t code;
    library *found;
} search;

static int look(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    search *const by = argument;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        const uintptr_t low = info->dlpi_addr + part->p_vaddr;
        if (low < begin) begin = low;
        if (low + part->p_memsz > end) end = low + part->p_memsz;
    }
    if (by->code < begin || by->code >= end) return 0;
    library *const here = calloc(1, sizeof *here);
    if (!here) abort();
    *here = (library){.next = first, .base = info->dlpi_addr, .begin = begin, .end = end};
    const int file = open(info->dlpi_name, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && !fstat(file, &status) && status.st_size > 0) {
        void *const image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (image != MAP_FAILED) {
            read_symbols(here, image, (size_t)status.st_size);
            munmap(image, (size_t)status.st_size);
        }
    }
    if (file >= 0) close(file);
    by->found = first = here;
    return 1;
}

static int reports(uintptr_t code) {
    Dl_info info;
    void *const handle = dladdr((const void *)code, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    const int does = handle && dlsym(handle, "cudakern_reports");
    if (handle) dlclose(handle);
    return does;
}

// Libraries of kernels stay loaded.
const library *library_of(uintptr_t code) {
    for (library *at = first; at; at = at->next)
        if (code - at->begin < at->end - at->begin) return at;
    search by = {code, NULL};
    dl_iterate_phdr(look, &by);
    if (by.found) by.found->reports = reports(code);
    return by.found;
}

const variable *variable_near(const variables *all, uintptr_t offset) {
    const variable *before = NULL;
    for (size_t low = 0, high = all->count; low < high;) {
        const size_t middle = (low + high) / 2;
        if (all->of[middle].begin <= offset) {
            before = &all->of[middle];
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (before && offset < before->end) return before;
    const variable *const after = before ? before + 1 : all->of;
    if (!all->count || after == all->of + all->count) return before;
    if (!before) return after;
    return after->begin - offset < offset - (before->end - 1) ? after : before;
}
