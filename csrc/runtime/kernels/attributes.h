// A kernel that a call would launch, and what the driver knows of it.
#ifndef CK_ATTRIBUTES_H
#define CK_ATTRIBUTES_H

#include "../../kernels/call.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CK_MAX_SWEEP = 256 };

// Pairs of block size and dynamic shared memory for which active blocks are asked.
typedef struct ck_sweep {
    int64_t threads[CK_MAX_SWEEP], shared[CK_MAX_SWEEP];
    int count;
} ck_sweep;

// 0 registers: the driver does not know what the kernel needs (one that it knows has some), and then static_shared and
// local_bytes say nothing either.
typedef struct ck_listed_kernel {
    cudaKernel_t kernel;
    const char *name, *symbol; // as launches are named, and as the linker names it
    unsigned grid[3], block[3];
    size_t dynamic_shared;
    int cooperative;
    int registers, max_threads, binary_version, ptx_version;
    size_t static_shared, local_bytes, constant_bytes, max_dynamic_shared;
    int active_blocks;                   // of this launch, a multiprocessor
    int potential_grid, potential_block; // cudaOccupancyMaxPotentialBlockSize
    int swept[CK_MAX_SWEEP];             // active blocks for each pair of the sweep
} ck_listed_kernel;

// Fills in everything from `symbol` on, but for what the launch itself says.
int ck_kernel_attributes(ck_listed_kernel *kernel, const ck_sweep *sweep, ck_error *error);

#ifdef __cplusplus
}
#endif
#endif
