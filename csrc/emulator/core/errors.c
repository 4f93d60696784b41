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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int last_error;

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
    keep_words(words);
    last_error = code;
    return code;
}

int emu_note_error(int code, const char *detail) {
    return emu_error(code, "%s", detail ? detail : "");
}

int emu_last_error(int reset) {
    int code = last_error;
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
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (TABLE[i].code == code) return TABLE[i].name;
    return UNKNOWN;
}

const char *emu_error_text(int code) {
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (TABLE[i].code == code) return TABLE[i].text;
    return UNKNOWN;
}
