// Sets of kernels: shared libraries that export `cudakern_set` (kernels/set.h).
//
//   path --dlopen--> library --"cudakern_set"--> table --check ABI version and backend--> ck_set
//
// A set stays loaded until the process exits, whether it is the package's or a user's: launches of its kernels may be
// queued, records for late errors contain its names, and views of its table may exist anywhere. A set costs as much
// memory as its file. Loading a file again returns the same set, but a file that was rewritten is another set.
#define _POSIX_C_SOURCE 200809L // strdup, under plain C11
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "state.h"

struct ck_set {
    char *path;
    void *library;
    const ck_set_table *table;
    struct ck_set *next; // in ck_runtime.sets
};

static int check_table(const ck_set_table *table, const char *path, ck_error *error) {
    if (table == NULL)
        return ck_fail(error, CK_BAD_VALUE, "%.500s is not a set of kernels: it does not export cudakern_set", path);
    int version = table->abi;
    for (int i = 0; version == CK_ABI_VERSION && i < table->operation_count; i++) version = table->operations[i]->abi;
    if (version != CK_ABI_VERSION)
        return ck_fail(error, CK_BAD_VALUE,
                       "%.500s was built for version %d of the kernel interface, but this is version %d: rebuild it",
                       path, version, CK_ABI_VERSION);
    if (strcmp(table->backend, backend_name()) != 0)
        return ck_fail(error, CK_BAD_VALUE, "%.500s was built for the backend %.20s, but this is %s", path,
                       table->backend, backend_name());
    return CK_OK;
}

static int make(void *library, const char *path, const ck_set_table *table, ck_set **result, ck_error *error) {
    CK_TRY(check_table(table, path, error));
    ck_set *set = calloc(1, sizeof *set);
    char *copy = set != NULL ? strdup(path) : NULL;
    if (copy == NULL) {
        free(set);
        return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the record of a set");
    }
    *set = (ck_set){copy, library, table, NULL};
    *result = set;
    return CK_OK;
}

// If this library was loaded before, its set replaces `set`.
static ck_set *unique(ck_runtime *runtime, ck_set *set) {
    ck_lock(runtime);
    ck_set *at = runtime->sets;
    while (at != NULL && at->library != set->library) at = at->next;
    if (at == NULL) {
        set->next = runtime->sets;
        runtime->sets = set;
    }
    ck_unlock(runtime);
    if (at == NULL) return set;
    free(set->path);
    free(set);
    return at;
}

int ck_set_load(ck_runtime *runtime, const char *path, ck_set **loaded, ck_error *error) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        return ck_fail(error, CK_BAD_VALUE, "the set of kernels cannot be loaded: %.1000s", why != NULL ? why : path);
    }
    if (make(library, path, dlsym(library, "cudakern_set"), loaded, error) != CK_OK) {
        dlclose(library);
        return error->code;
    }
    *loaded = unique(runtime, *loaded);
    return CK_OK;
}

int ck_set_add(ck_runtime *runtime, void *library, const char *path, const ck_set_table *table, ck_set **added,
               ck_error *error) {
    CK_TRY(make(library, path, table, added, error));
    *added = unique(runtime, *added);
    return CK_OK;
}

void ck_sets_free(ck_runtime *runtime) {
    for (ck_set *set = runtime->sets, *next; set != NULL; set = next) { // the libraries stay loaded
        next = set->next;
        free(set->path);
        free(set);
    }
    runtime->sets = NULL;
}

const char *ck_set_path(const ck_set *set) {
    return set->path;
}

const ck_set_table *ck_set_table_of(const ck_set *set) {
    return set->table;
}

// --- the contents of a set ---------------------------------------------------------------------------------------
// Appends an item to a list in a buffer, and truncates it if it does not fit.
static void add(char *text, size_t size, const char *name) {
    const size_t used = strlen(text);
    if (used + 1 < size) snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
}

const ck_operation *ck_set_operation(const ck_set *set, const char *name, ck_error *error) {
    const ck_set_table *table = set->table;
    for (int i = 0; i < table->operation_count; i++)
        if (strcmp(table->operations[i]->name, name) == 0) return table->operations[i];
    char known[800] = ""; // initialized only here, because every call of an operation runs the lines above
    for (int i = 0; i < table->operation_count; i++) add(known, sizeof known, table->operations[i]->name);
    ck_fail(error, CK_BAD_VALUE, "There is no operation '%.64s'. Available: %s", name, known);
    return NULL;
}

const ck_set_kernel *ck_set_kernel_of(const ck_set *set, const char *name, ck_error *error) {
    const ck_set_table *table = set->table;
    for (int i = 0; i < table->kernel_count; i++)
        if (strcmp(table->kernels[i].name, name) == 0) return &table->kernels[i];
    char known[800] = "";
    for (int i = 0; i < table->kernel_count; i++) add(known, sizeof known, table->kernels[i].name);
    ck_fail(error, CK_BAD_VALUE, "%.500s has no kernel '%.64s'. Available: %s", set->path, name,
            *known ? known : "none");
    return NULL;
}

int ck_set_variable_at(const ck_set *set, const char *name, int device, void **address, size_t *bytes,
                       ck_error *error) {
    const ck_set_table *table = set->table;
    const ck_set_variable *variable = NULL;
    for (int i = 0; i < table->variable_count && variable == NULL; i++)
        if (strcmp(table->variables[i].name, name) == 0) variable = &table->variables[i];
    if (variable == NULL) return ck_fail(error, CK_BAD_VALUE, "%.500s has no variable '%.64s'", set->path, name);
    int previous = device;
    CK_TRY(ck_device_enter(device, &previous, error));
    const cudaError_t code = (cudaError_t)variable->find(variable->closure, address, bytes);
    if (code != cudaSuccess) ck_fail_cuda(error, code, "cudaGetSymbolAddress");
    ck_device_leave(device, previous, error);
    return error->code;
}
