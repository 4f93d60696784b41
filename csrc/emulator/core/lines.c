// Source lines of instructions: asked of binutils' addr2line, one process per library, however many addresses there
// are.
//
//   emu_source_lines: addresses --dladdr--> by library: addr2line -a -i -e LIBRARY < file of offsets
//                                                         '--> for each offset: "0x12a9", then FILE:LINE ...
//
// Tools and faults of kernels (block.c) ask. A kernel that fails again and again asks for the same address, so the
// answer to the last single question is kept.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core.h"
#include "emulator/events.h"

// Whether a function of this file, inlined into a kernel, hides the line of the kernel: a header of the emulator, or
// of the host's C library, whose memcpy is inline where the compiler checks sizes (_FORTIFY_SOURCE).
static int is_header(const char *file) {
    static const char library[] = "/usr/include/";
    char path[700];
    if (!strncmp(file, library, sizeof library - 1)) return 1;
    const char *end = strrchr(file, '/');
    if (!end) return 0;
    // Of CUDA's headers, of ours below them, of the seam's beside them.
    static const char *const near[] = {"", "../", "../include/"};
    int is_ours = 0;
    for (int i = 0; i < 3 && !is_ours; i++) {
        snprintf(path, sizeof path, "%.*s/%scuda_runtime_api.h", (int)(end - file), file, near[i]);
        is_ours = !access(path, F_OK);
    }
    return is_ours;
}

int emu_is_library(const char *file) {
    static const char *const folders[] = {"/thrust/", "/cub/", "/cuda/std/", "/cuda/__"};
    const size_t length = strlen(file);
    if (length > 3 && !strcmp(file + length - 3, ".cu")) return 0;
    for (int i = 0; i < 4; i++)
        if (strstr(file, folders[i])) return 1;
    return 0;
}

// Of an answer "/path/kernel.cu:12" or "??:0", of which the innermost comes first.
static void take_line(char *text, emu_line *to, int of_user) {
    char *colon = strrchr(text, ':');
    if (!colon || (to->line && !(of_user && emu_is_library(to->file)))) return;
    *colon = 0;
    if (to->line && (is_header(text) || emu_is_library(text) || !atoi(colon + 1))) return;
    to->line = is_header(text) ? 0 : atoi(colon + 1);
    char *const stub = strstr(text, "<launch>"); // what the translator has added
    if (stub) *stub = 0;
    const char *name = strrchr(text, '/'); // a source without a file has the compiler's folder, which is gone
    snprintf(to->file, sizeof to->file, "%.*s", (int)sizeof to->file - 1,
             name && access(text, F_OK) ? name + 1 : text);
}

typedef struct question {
    uintptr_t code;
    size_t index; // of its answer
    const char *library;
    uintptr_t base; // of the library
} question;

// By library, then by address.
static int compare(const void *a, const void *b) {
    const question *x = a, *y = b;
    if (x->base != y->base) return x->base < y->base ? -1 : 1;
    return x->code < y->code ? -1 : x->code > y->code;
}

// A file without a name that contains the offsets in the library; -1: there is none.
static int write_offsets(const question *questions, size_t count) {
    const ElfW(Ehdr) *head = (const void *)questions->base;
    const uintptr_t base = head->e_type == ET_EXEC ? 0 : questions->base;
    FILE *file = NULL;
    const int copy = memfd_create("offsets", MFD_CLOEXEC);
    if (copy < 0 || !(file = fdopen(dup(copy), "w"))) {
        if (copy >= 0) close(copy);
        return -1;
    }
    for (size_t i = 0; i < count; i++) fprintf(file, "0x%zx\n", (size_t)(questions[i].code - base));
    fclose(file);
    lseek(copy, 0, SEEK_SET);
    return copy;
}

// Asks about addresses of one library.
static void ask(const question *questions, size_t count, emu_line *lines, int of_user) {
    int ends[2];
    const int offsets = write_offsets(questions, count);
    if (offsets < 0) return;
    if (pipe2(ends, O_CLOEXEC)) {
        close(offsets);
        return;
    }
    char *const environment[] = {"LC_ALL=C", NULL}; // without DEBUGINFOD_URLS, with which it would ask servers
    char *const command[] = {"addr2line", "-a", "-i", "-e", (char *)(uintptr_t)questions->library, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, offsets, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child;
    const int failed = posix_spawnp(&child, command[0], &actions, NULL, command, environment);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    close(offsets);
    FILE *answers = failed ? NULL : fdopen(ends[0], "r");
    if (!answers) close(ends[0]);
    char text[600];
    size_t next = 0; // the question after the one whose answer is read
    while (answers && fgets(text, sizeof text, answers)) {
        if (!strncmp(text, "0x", 2))
            ++next;
        else if (next && next <= count)
            take_line(text, &lines[questions[next - 1].index], of_user);
    }
    if (answers) fclose(answers);
    if (!failed) waitpid(child, NULL, 0);
}

static void ask_all(const uintptr_t *code, size_t count, emu_line *lines, int of_user) {
    question *questions = calloc(count, sizeof *questions);
    size_t known = 0;
    char program[32]; // of the program itself, dladdr knows only what it was called
    snprintf(program, sizeof program, "/proc/%d/exe", (int)getpid());
    for (size_t i = 0; questions && i < count; i++) {
        Dl_info info;
        struct link_map *map;
        if (!code[i] || !dladdr1((void *)code[i], &info, (void **)&map, RTLD_DL_LINKMAP)) continue;
        const char *library = *map->l_name ? info.dli_fname : program;
        questions[known++] = (question){code[i], i, library, (uintptr_t)info.dli_fbase};
    }
    if (known) qsort(questions, known, sizeof *questions, compare);
    for (size_t first = 0, end; first < known; first = end) {
        end = first + 1;
        while (end < known && questions[end].base == questions[first].base) ++end;
        ask(&questions[first], end - first, lines, of_user);
    }
    free(questions);
}

const char *emu_as_given(const char *file) {
    char folder[600];
    const size_t length = getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    return length > 1 && !strncmp(file, folder, length) && file[length] == '/' ? file + length + 1 : file;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void emu_source_lines_fork(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

void emu_source_lines(const uintptr_t *code, size_t count, emu_line *lines) {
    static struct {
        uintptr_t code;
        emu_line line;
    } last;
    for (size_t i = 0; i < count; i++) lines[i] = (emu_line){.line = 0};
    if (count != 1) {
        ask_all(code, count, lines, 0);
        return;
    }
    pthread_mutex_lock(&lock);
    if (last.code != *code) ask_all(code, 1, lines, 0);
    if (last.code == *code) *lines = last.line;
    last.code = *code;
    last.line = *lines;
    pthread_mutex_unlock(&lock);
}

void emu_user_lines(const uintptr_t *code, size_t count, emu_line *lines) {
    for (size_t i = 0; i < count; i++) lines[i] = (emu_line){.line = 0};
    ask_all(code, count, lines, 1);
}
