// What the core tells of kernels that have ended with an error, and of launches that therefore, or because they were
// refused, did not run.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "checker.h"

enum { MOST_FAILURES = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // its own: the core may hold one of its own locks
static checker_failure failures[MOST_FAILURES];
static size_t count;

// A program may go on and on: what is the same counts once more, and so does each launch that does not run.
static int is_same(const checker_failure *known, const emu_failure_event *event) {
    if (known->kind != (int)event->kind) return 0;
    if (event->kind == EMU_FAILURE_NOT_RUN) return 1;
    return known->call == event->call && !strcmp(known->message, event->message);
}

void failures_add(const emu_failure_event *event, uint64_t launch) {
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < count && !is_same(&failures[i], event)) ++i;
    if (i == count && count < MOST_FAILURES) {
        checker_failure *const to = &failures[count++];
        *to = (checker_failure){.kind = (int)event->kind, .code = event->code, .launch = launch, .call = event->call};
        memcpy(to->grid, &event->grid, sizeof to->grid);
        memcpy(to->block, &event->block, sizeof to->block);
        snprintf(to->message, sizeof to->message, "%s", event->message);
    }
    if (i < count) ++failures[i].count;
    pthread_mutex_unlock(&lock);
}

void failures_clear(void) {
    count = 0;
}

CHECKER_API size_t checker_failures(const checker_failure **all) {
    emu_tell_ignored(); // to failures_add()
    *all = failures;
    return count;
}
