// The variables of a library of kernels, by address.
#ifndef CHECKER_SYMBOLS_H
#define CHECKER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

typedef struct variable { // from `begin` to `end`, without the library's base
    uintptr_t begin, end;
    const char *name; // without namespaces and functions
} variable;
typedef struct variables { // sorted
    variable *of;
    size_t count;
} variables;

typedef struct library {
    struct library *next;
    uintptr_t base, begin, end;       // of all that is loaded
    int reports;                      // its code has been compiled so that it reports what it does
    variables shared, guards, others; // the first two: from the beginning of its thread-local variables
} library;

const library *library_of(uintptr_t code);                             // NULL: no library contains that address
const variable *variable_near(const variables *all, uintptr_t offset); // that contains it, or the nearest; NULL: none

#endif
