// A set from GPU code that was compiled at run time.
//
//   image --program_image_load--> library --names--> kernels' handles, variables' addresses
//                                 '-- ck_described_kernels, ck_described_variables --copy--> their types --> ck_set
//
// The types are in the code itself, as two variables, because only the compiler knows them (parameters.cuh). Like any
// set, this one stays loaded until the process exits.
#define _POSIX_C_SOURCE 200809L // strdup, under plain C11
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "program_image.h"
#include "state.h"

typedef struct program {
    void *library;
    ck_set_table table;
    ck_set_kernel *kernels;
    ck_set_variable *variables;
    ck_described_kernel *described; // of the kernels
    struct variable {
        void *library;
        char *name; // the linker's
    } * places;
} program;

static int handle_of(void *closure, cudaKernel_t *kernel) {
    *kernel = (cudaKernel_t)closure;
    return cudaSuccess;
}

static int address_of(void *closure, void **address, size_t *bytes) {
    const struct variable *variable = closure;
    const cudaError_t code = program_image_variable(address, bytes, variable->library, variable->name);
    if (code != cudaSuccess) (void)cudaGetLastError();
    return (int)code;
}

// Copies a variable with descriptions, which has `bytes` bytes or more, to the host.
static int read_types(const program *program, const char *name, void *to, size_t bytes, ck_error *error) {
    void *address = NULL;
    size_t size = 0;
    CK_CUDA(error, program_image_variable(&address, &size, program->library, name));
    if (size < bytes) return ck_fail(error, CK_BAD_VALUE, "%s has %zu bytes instead of %zu", name, size, bytes);
    if (bytes > 0) CK_CUDA(error, cudaMemcpy(to, address, bytes, cudaMemcpyDeviceToHost));
    return CK_OK;
}

static int fill(program *program, const void *image, const ck_program_names *names, ck_error *error) {
    CK_CUDA(error, program_image_load(&program->library, image));
    CK_TRY(read_types(program, "ck_described_kernels", program->described,
                      (size_t)names->kernel_count * sizeof *program->described, error));
    for (int i = 0; i < names->kernel_count; i++) {
        cudaKernel_t handle = NULL;
        CK_CUDA(error, program_image_kernel(&handle, program->library, names->kernels[i].linkers));
        program->kernels[i] = (ck_set_kernel){strdup(names->kernels[i].name), handle_of, (void *)handle,
                                              program->described[i].of, program->described[i].count};
    }
    ck_variable_type *types = calloc((size_t)names->variable_count + 1, sizeof *types);
    if (types == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for a program");
    const int status =
        read_types(program, "ck_described_variables", types, (size_t)names->variable_count * sizeof *types, error);
    for (int i = 0; i < names->variable_count; i++) {
        program->places[i] = (struct variable){program->library, strdup(names->variables[i].linkers)};
        program->variables[i] =
            (ck_set_variable){strdup(names->variables[i].name), address_of, &program->places[i], types[i]};
    }
    free(types);
    return status;
}

int ck_set_load_image(ck_runtime *runtime, const void *image, const ck_program_names *names, int device, ck_set **set,
                      ck_error *error) {
    // Not freed if something fails: the library stays loaded, too.
    program *loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for a program");
    loaded->kernels = calloc((size_t)names->kernel_count + 1, sizeof *loaded->kernels);
    loaded->described = calloc((size_t)names->kernel_count + 1, sizeof *loaded->described);
    loaded->variables = calloc((size_t)names->variable_count + 1, sizeof *loaded->variables);
    loaded->places = calloc((size_t)names->variable_count + 1, sizeof *loaded->places);
    if (!loaded->kernels || !loaded->described || !loaded->variables || !loaded->places)
        return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for a program");
    loaded->table = (ck_set_table){.abi = CK_ABI_VERSION,
                                   .backend = backend_name(),
                                   .kernels = loaded->kernels,
                                   .kernel_count = names->kernel_count,
                                   .variables = loaded->variables,
                                   .variable_count = names->variable_count};
    int previous = device;
    CK_TRY(ck_device_enter(device, &previous, error));
    if (fill(loaded, image, names, error) == CK_OK)
        ck_set_add(runtime, loaded->library, names->path, &loaded->table, set, error);
    ck_device_leave(device, previous, error);
    return error->code;
}
