// Errors: a code and a message, kept for each OS thread.
//
//   failing call --emu_error--> code    --> cudaGetLastError (clears), cudaPeekAtLastError
//                               message --> emu_error_detail
//
// Invariant: a call that fails records exactly the code that it returns, with a message of its own. A call that
// succeeds changes neither. So, as in CUDA, an error stays visible until cudaGetLastError clears it.
#include "host.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic(const emu_error_watch *) emu_error_watched;
static _Thread_local int last_error, is_launching;

// The message is on the heap: this library's thread-local variables come out of a reserve of about 1.6 KB that all
// libraries loaded at run time share. If they took more, loading could fail when other libraries use the reserve too.
static _Thread_local char *last_words; // NULL: no message yet, or no memory for it
static pthread_key_t words_key;        // frees the message when the thread ends
static pthread_once_t words_once = PTHREAD_ONCE_INIT;

static void make_words_key(void) {
    pthread_key_create(&words_key, free);
}

static void keep_words(const char *words) {
    if (!last_words) {
        pthread_once(&words_once, make_words_key);
        last_words = malloc(EMU_MESSAGE);
        pthread_setspecific(words_key, last_words);
    }
    if (last_words) memcpy(last_words, words, EMU_MESSAGE);
}

int emu_error(int code, const char *format, ...) {
    char words[EMU_MESSAGE] = ""; // the arguments may point into last_words
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (emu_error_would_stay() && !emu_error_is_there() && !is_launching && emu_error_watched)
        emu_error_watched->add(code, words);
    return emu_error_again(code, words);
}

void emu_error_of_launches(int begins) {
    is_launching = begins;
}

void emu_error_seen(int code) {
    if (emu_error_watched) emu_error_watched->seen(code);
}

void emu_error_refused(int code, const char *message, uintptr_t call) {
    if (emu_error_watched) emu_error_watched->refused(code, message, call);
}

void emu_tell_ignored(void) {
    if (emu_error_watched) emu_error_watched->tell();
}

int emu_error_again(int code, const char *message) {
    char words[EMU_MESSAGE];
    snprintf(words, sizeof words, "%s", message);
    keep_words(words);
    last_error = code;
    return code;
}

int emu_note_error(int code, const char *detail) {
    return emu_error(code, "%s", detail ? detail : "");
}

// --- Errors that stay --------------------------------------------------------------------------------------------
//
//   a kernel of a whole program fails --> staying --a call that waits--> is_told: now every call returns it
//
// So it is on a GPU, until the process ends. (There, other calls may notice it, too; here, a program does the same
// each time.) cudaDeviceReset succeeds, as on an H200, and later calls return another error. For others, a device
// works again once it has told of the error.
static atomic_int do_stay, is_first, staying, is_told;
static char staying_words[EMU_MESSAGE]; // of the first one, complete once `staying` is its code

void emu_errors_stay(void) {
    atomic_store(&do_stay, 1);
}

int emu_error_would_stay(void) {
    return atomic_load_explicit(&do_stay, memory_order_relaxed);
}

void emu_error_stays(int code, const char *message) {
    if (!emu_error_would_stay() || code < cudaErrorIllegalAddress || code > cudaErrorLaunchFailure) return;
    if (atomic_exchange(&is_first, 1)) return;
    snprintf(staying_words, sizeof staying_words, "%s", message);
    atomic_store(&staying, code);
}

int emu_error_is_there(void) {
    return atomic_load(&staying) != cudaSuccess;
}

int emu_error_after_reset(void) {
    if (!emu_error_is_there()) return 0;
    snprintf(staying_words, sizeof staying_words, "the device was reset after an error: it is lost to this process");
    atomic_store(&staying, cudaErrorDevicesUnavailable);
    atomic_store(&is_told, 1);
    return 1;
}

int emu_error_told(void) {
    if (emu_error_is_there()) atomic_store(&is_told, 1);
    return emu_error_of_all_calls();
}

int emu_error_of_all_calls(void) {
    if (!atomic_load_explicit(&is_told, memory_order_relaxed)) return cudaSuccess;
    return emu_error_again(atomic_load(&staying), staying_words);
}

int emu_last_error(int reset) {
    int code = emu_error_of_all_calls();
    if (code) return code;
    code = last_error;
    if (code) emu_error_seen(0);
    if (reset) last_error = cudaSuccess;
    return code;
}

size_t emu_error_detail(char *buffer, size_t size) {
    const char *words = last_words ? last_words : "";
    if (buffer && size) snprintf(buffer, size, "%s", words);
    return strlen(words);
}

#define ROW(name, number, text) {number, #name, text},
static const struct {
    int code;
    const char *name, *text;
} TABLE[] = {EMU_ERRORS(ROW)};
#undef ROW
static const char UNKNOWN[] = "unrecognized error code";

const char *emu_error_name(int code) {
    if (code) emu_error_seen(code);
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (TABLE[i].code == code) return TABLE[i].name;
    return UNKNOWN;
}

const char *emu_error_text(int code) {
    if (code) emu_error_seen(code);
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (TABLE[i].code == code) return TABLE[i].text;
    return UNKNOWN;
}
