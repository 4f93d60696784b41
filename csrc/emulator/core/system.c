// What both halves ask of the operating system: threads, libraries that stay, and the time.
#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

// Signals are for the program's own threads (Python takes Ctrl-C in its main one). Faults are not blocked: a process
// ends at once at one that is, and no handler (faulthandler's, a sanitizer's) gets a word.
int emu_start_thread(void *(*entry)(void *), void *argument) {
    static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) sigdelset(&blocked, FAULTS[i]);
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

int emu_keep_loaded(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info)) return 0;
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE); // of the program itself: fails, and need not
    return 1;
}
