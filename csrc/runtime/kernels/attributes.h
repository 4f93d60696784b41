// A kernel that a call would launch, and the driver's information about it.
#ifndef CK_ATTRIBUTES_H
#define CK_ATTRIBUTES_H

#include "../../kernels/call.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CK_MAX_SWEEP = 256 };

// Pairs of block size and dynamic shared memory for which the number of active blocks is queried.
typedef struct ck_sweep {
    int64_t threads[CK_MAX_SWEEP], shared[CK_MAX_SWEEP];
    int count;
} ck_sweep;

// registers == 0 means that the driver does not know the kernel's resources (a known kernel has at least one
// register). static_shared and local_bytes are then meaningless too.
typedef struct ck_listed_kernel {
    cudaKernel_t kernel;
    const char *name, *symbol; // the name in launches, and the linker's name
    int launches;
    unsigned grid[3], block[3]; // of the largest launch, like the next two
    size_t dynamic_shared;
    int cooperative;
    int registers, max_threads, binary_version, ptx_version;
    size_t static_shared, local_bytes, constant_bytes, max_dynamic_shared;
    int active_blocks;                   // of this launch, per multiprocessor
    int potential_grid, potential_block; // cudaOccupancyMaxPotentialBlockSize
    int swept[CK_MAX_SWEEP];             // active blocks for each pair of the sweep
} ck_listed_kernel;

// Sets all fields from `symbol` on, except for the fields that describe the launch itself.
int ck_kernel_attributes(ck_listed_kernel *kernel, const ck_sweep *sweep, ck_error *error);

#ifdef __cplusplus
}
#endif
#endif
