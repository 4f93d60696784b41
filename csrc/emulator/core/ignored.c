// Calls of a whole program that fail, and of which it never learns: it neither uses what the call returns nor asks
// for the error.
//
//   emu_error --> add: code, message, the calls on the stack
//   emu_launch_kernel --> refused: the same of a launch
//   cudaGetLastError, cudaGetErrorString, ... --> seen: the program knows
//   the process ends, or dies --> emu_tell_ignored --> tell: those whose call is a statement
//
// A launch that is refused is also told if the program knows, but does not end well: the error alone does not say
// why.
//
// Whether a program uses a value cannot be seen while it runs. Its source tells: the line of the call is known, and
// there `cudaMalloc(&d, n);` is a statement of its own, while `CHECK(cudaMalloc(&d, n))` and `if (cudaMalloc(...))`
// are not. Without the source, nothing is said.
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "tools.h"

enum { MOST = 32, MOST_LOOKED_AT = 1000, CALLS = 4, DEEPEST = 24, MOST_SOURCE = 4 << 20 };

typedef struct ignored {
    int code, is_launch, is_of_api, is_seen; // of_api: it returns the code. is_seen: of a launch
    unsigned times;
    uintptr_t calls[CALLS]; // of the program, the innermost first; 0: no more
    char *message;
} ignored;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ignored all[MOST];
static size_t count;
static int ends_well;

// --- what is noted -------------------------------------------------------------------------------------------------

size_t emu_calls_of_program(uintptr_t *calls, size_t most) {
    void *frames[DEEPEST];
    const int depth = backtrace(frames, DEEPEST);
    size_t known = 0;
    for (int i = 1; i < depth && known < most; ++i) {
        Dl_info info;
        const uintptr_t call = (uintptr_t)frames[i] - 1; // (a return address is that of the next instruction)
        const int is_there = dladdr((void *)call, &info) && info.dli_fname;
        if (is_there && !strstr(info.dli_fname, "/libcudakern_")) calls[known++] = call;
    }
    return known;
}

static void on_abort(int number) {
    emu_tell_ignored();
    signal(number, SIG_DFL);
    raise(number);
}

// (An assert of the host is how many programs find that their results are wrong.)
static void watch_abort(void) {
    struct sigaction now;
    if (!sigaction(SIGABRT, NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
        signal(SIGABRT, on_abort);
}

static int is_same(const ignored *a, const ignored *b, const char *message) {
    if (a->is_launch != b->is_launch || memcmp(a->calls, b->calls, sizeof a->calls)) return 0;
    return !a->is_launch || !strcmp(a->message, message);
}

static void keep(ignored now, const char *message) {
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < count && !is_same(&all[i], &now, message)) ++i;
    if (i == count && count < MOST && (now.message = strdup(message))) all[count++] = now;
    if (i < count) ++all[i].times;
    if (i < count) all[i].is_seen = 0;
    pthread_mutex_unlock(&lock);
}

static void add(int code, const char *message) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_uint looked_at;
    ignored now = {.code = code};
    // Programs enable peers' access twice and go on, as CUDA's samples do.
    if (code == cudaErrorPeerAccessAlreadyEnabled || code == cudaErrorPeerAccessNotEnabled) return;
    if (atomic_fetch_add_explicit(&looked_at, 1, memory_order_relaxed) >= MOST_LOOKED_AT) return; // it takes a while
    if (emu_grid_running() || !emu_calls_of_program(now.calls, CALLS)) return;
    pthread_once(&once, watch_abort);
    keep(now, message);
}

static void on_end(int status, void *unused) {
    (void)unused;
    ends_well = !status;
}

static void watch_end(void) {
    watch_abort();
    on_exit(on_end, NULL);
}

static void refused(int code, const char *message, uintptr_t call) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ignored now = {.code = code, .is_launch = 1, .is_of_api = !call, .calls = {call}};
    if (!call) emu_calls_of_program(now.calls, CALLS);
    pthread_once(&once, watch_end);
    keep(now, message);
}

static void seen(int code) {
    size_t kept = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; ++i) {
        const int is_seen = !code || all[i].code == code;
        if (is_seen && !all[i].is_launch) {
            free(all[i].message);
            continue;
        }
        all[i].is_seen |= is_seen;
        all[kept++] = all[i];
    }
    count = kept;
    pthread_mutex_unlock(&lock);
}

void emu_ignored_fork(emu_fork stage) {
    if (stage == EMU_FORK_CHILD) count = 0; // they are the parent's
    emu_fork_lock(stage, &lock);
}

// --- what the source says ------------------------------------------------------------------------------------------

static int is_of_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

// Comments, and what is in strings, become spaces. So lines and places remain.
static void blank(char *text) {
    for (char *at = text; *at; ++at) {
        const char *end = NULL;
        if (!strncmp(at, "//", 2))
            end = at + strcspn(at, "\n");
        else if (!strncmp(at, "/*", 2))
            end = (end = strstr(at + 2, "*/")) ? end + 2 : at + strlen(at);
        if (end) {
            for (; at < end; ++at) *at = *at == '\n' ? '\n' : ' ';
            --at;
            continue;
        }
        if (*at == '"' || (*at == '\'' && (at == text || !is_of_name(at[-1])))) {
            const char quote = *at++;
            for (; *at && *at != quote && *at != '\n'; ++at) {
                if (*at == '\\' && at[1] && at[1] != '\n') *at++ = ' ';
                *at = ' ';
            }
        }
        if (!*at) break;
    }
}

static char *source_of(const char *path) { // NULL: it cannot be read
    FILE *file = fopen(path, "r");
    char *text = file ? malloc(MOST_SOURCE + 1) : NULL;
    if (text) text[fread(text, 1, MOST_SOURCE, file)] = 0;
    if (file) fclose(file);
    if (text) blank(text);
    return text;
}

static const char *after_parentheses(const char *at) { // which points to the first one; NULL: the last one is missing
    int depth = 0;
    for (; *at; ++at) {
        depth += *at == '(';
        if (*at == ')' && !--depth) return at + 1;
    }
    return NULL;
}

static int ends_with_word(const char *text, const char *end, const char *word) {
    const size_t length = strlen(word);
    return (size_t)(end - text) >= length && !strncmp(end - length, word, length) &&
           (end - length == text || !is_of_name(end[-length - 1]));
}

// Whether a statement begins here.
static int begins_statement(const char *text, const char *at) {
    while (at > text && isspace((unsigned char)at[-1])) --at;
    if (at == text) return 0;
    if (strchr(";{}", at[-1]) || ends_with_word(text, at, "else") || ends_with_word(text, at, "do")) return 1;
    if (at[-1] != ')') return 0;
    int depth = 0; // of a condition, or of a cast
    do {
        --at;
        depth += (*at == ')') - (*at == '(');
    } while (at > text && depth);
    while (at > text && isspace((unsigned char)at[-1])) --at;
    return ends_with_word(text, at, "if") || ends_with_word(text, at, "for") || ends_with_word(text, at, "while");
}

// Whether the calls of CUDA's functions in a line are statements, whose values are discarded; the first one's `name`.
// `like`: how it begins, if one begins so.
static int is_discarded(const char *text, int line, const char *like, char *name, size_t size) {
    int is_all = 0, now = 1, is_like = 0;
    for (const char *at = text; *at && now <= line; ++at) {
        now += *at == '\n';
        if (strncmp(at, "cu", 2) || (at > text && is_of_name(at[-1]))) continue;
        const char *end = at, *open;
        while (is_of_name(*end)) ++end;
        for (open = end; isspace((unsigned char)*open);) ++open;
        const char *after = *open == '(' ? after_parentheses(open) : NULL;
        if (!after) continue;
        int last = now;
        for (const char *c = at; c < after; ++c) last += *c == '\n';
        if (last < line) continue;
        const int fits = !strncmp(at, like, strlen(like));
        if (is_like && !fits) continue;
        while (isspace((unsigned char)*after)) ++after;
        const int is_one = begins_statement(text, at) && (*after == ';' || *after == ',');
        if (!*name || (fits && !is_like)) {
            snprintf(name, size, "%.*s", (int)(end - at), at);
            is_all = is_one;
        }
        is_all &= is_one;
        is_like |= fits;
    }
    return is_all;
}

// --- what is said --------------------------------------------------------------------------------------------------

// In the core's words "cudaFree(0x10): the address ...", the length of the function's name, and where the rest
// begins.
static const char *reason(const char *message, size_t *name, const char **what) {
    const char *at = message;
    if (!strncmp(at, "cu", 2))
        while (is_of_name(*at)) ++at;
    *name = (size_t)(at - message);
    *what = at;
    if (*at == '(') at = after_parentheses(at);
    if (at && at > message && !strncmp(at, ": ", 2)) return at + 2;
    *name = 0;
    *what = "";
    return message;
}

// Whether the call is a statement. `text`: what is said of it, if it is no launch.
static int describe(const ignored *one, uintptr_t *call, char *text, size_t size) {
    char name[64] = "", like[64];
    size_t length, i = 0;
    const char *what, *const why = reason(one->message, &length, &what);
    emu_line lines[CALLS];
    emu_source_lines(one->calls, CALLS, lines);
    while (i < CALLS && !lines[i].line) ++i;
    if (i == CALLS) return 0;
    *call = one->calls[i];
    snprintf(like, sizeof like, "%.*s", (int)length, one->is_launch ? "cudaLaunch" : one->message);
    char *const source = source_of(lines[i].file);
    const int is_told = source && is_discarded(source, lines[i].line, like, name, sizeof name);
    free(source);
    const int pointer = *what == '(' ? (int)(why - 2 - what) : 0;
    snprintf(text, size, "%s%.*s failed, and the program did not look: %s (%d): %s", name, pointer, what,
             emu_error_name(one->code), one->code, why);
    return is_told;
}

static void tell(void) {
    char text[EMU_MESSAGE];
    static ignored copy[MOST];
    uintptr_t told[MOST];
    pthread_mutex_lock(&lock);
    const size_t known = count;
    memcpy(copy, all, sizeof copy);
    count = 0;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < known; ++i) {
        const ignored *const one = &copy[i];
        emu_failure_event event = {.kind = EMU_FAILURE_IGNORED, .code = one->code, .message = text};
        const int is_statement = describe(one, &event.call, text, sizeof text);
        const int knows = one->is_seen || (one->is_of_api && !is_statement);
        unsigned times = (unsigned)is_statement;
        if (one->is_launch) {
            event.kind = EMU_FAILURE_REFUSED;
            event.message = one->message;
            times = knows && ends_well ? 0 : one->times;
        } else
            for (size_t j = 0; j < i; ++j) times &= told[j] != event.call; // (which was reached by another way)
        told[i] = one->is_launch ? 0 : event.call;
        while (times--) emu_tell_failure(&event);
        free(one->message);
    }
}

__attribute__((constructor)) static void begin(void) {
    static const emu_error_watch watch = {add, refused, seen, tell};
    atomic_store(&emu_error_watched, &watch);
}

__attribute__((destructor)) static void end(void) {
    tell();
}
