// The core's functions for device code: untyped barriers, warp operations and clocks.
//
// Every call passes its source line (EMU_SITE), which errors contain and which distinguishes barriers. The headers
// device_*.h implement CUDA's names and types with these functions; kernels never call them directly.
#ifndef EMULATOR_DEVICE_CORE_H
#define EMULATOR_DEVICE_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "core.h"

// The caller's file and line: a default argument is evaluated at the call.
#define EMU_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

#ifdef __cplusplus
extern "C" {
#endif

typedef enum emu_barrier {
    EMU_SYNC, // this one to EMU_SYNC_GRID: for emu_sync_block_with
    EMU_SYNC_COUNT,
    EMU_SYNC_AND,
    EMU_SYNC_OR,
    EMU_SYNC_GRID,
    EMU_SYNC_PART,
    EMU_SYNC_CLUSTER,
    EMU_SYNC_MBARRIER,
    EMU_BARRIERS
} emu_barrier;

typedef enum emu_warp_kind {
    EMU_SYNCWARP,
    EMU_SHFL,
    EMU_SHFL_UP,
    EMU_SHFL_DOWN,
    EMU_SHFL_XOR,
    EMU_ALL,
    EMU_ANY,
    EMU_BALLOT,
    EMU_MATCH_ANY,
    EMU_MATCH_ALL,
    EMU_REDUCE_ADD,
    EMU_REDUCE_MIN,
    EMU_REDUCE_MAX,
    EMU_REDUCE_MIN_SIGNED,
    EMU_REDUCE_MAX_SIGNED,
    EMU_REDUCE_AND,
    EMU_REDUCE_OR,
    EMU_REDUCE_XOR,
    EMU_ACTIVEMASK,
    EMU_TOGETHER,
    EMU_ELECT,
    EMU_WARP_KINDS
} emu_warp_kind;

// How memory is accessed, in events (events.h).
typedef enum emu_access_kind {
    EMU_READS = 1,
    EMU_WRITES = 2,
    EMU_ATOMIC = 4,  // with EMU_READS, EMU_WRITES or both
    EMU_PENDING = 8, // announced when an asynchronous operation begins; reported again when it is carried out
    EMU_VOLATILE = 16,
    EMU_OF_BLOCK = 32,      // the scope of an atomic operation; without either, it is the device
    EMU_OF_SYSTEM = 64,     //
    EMU_CACHED = 512,       // announces a read of what does not change while the kernel runs: __ldg
    EMU_COMPARES = 1024,    // the atomic operation writes only if it finds an expected value: atomicCAS
    EMU_OF_INTEGERS = 2048, // an atomic operation
} emu_access_kind;          // bits; events.h has two more

// What code that is compiled with EMULATOR_REPORTS calls, at each atomic operation and memory fence; `scope` is a bit
// of an emu_access_kind or 0. For ordinary loads and stores see emu_access() in events.h.
EMU_API void emu_atomic_here(const void *address, size_t bytes, unsigned kind);
EMU_API void emu_fence_here(unsigned scope);

// A thread-local variable as compilers find it: by the number of its library and its offset there. While an OS thread
// runs kernels of a library, that library's variables, which its static shared ones are, begin where the core has
// placed them.
typedef struct emu_variable {
    size_t library, offset;
} emu_variable;
typedef struct emu_statics {
    size_t library; // 0: none
    char *begin;
} emu_statics;
extern EMU_API __thread emu_statics emu_placed_statics __attribute__((tls_model("initial-exec")));
EMU_API void *emu_other_variable(const emu_variable *variable); // all others are where the C library places them

// Waits for all live threads of the block (EMU_SYNC_GRID: of the grid). Returns the result of _count, _and or _or.
EMU_API void emu_sync_block(const char *file, int line);
EMU_API int emu_sync_block_with(emu_barrier kind, int predicate, const char *file, int line);

// Waits for the lanes in `mask`, then executes the operation for all of them. `value` is the lane's operand, extended
// with zeros; `argument` and `width` are those of a shuffle.
EMU_API uint64_t emu_warp(emu_warp_kind kind, unsigned mask, uint64_t value, int argument, int width,
                          const char *file, int line);
EMU_API unsigned emu_activemask(const char *file, int line);

// An operation of all 32 lanes, such as mma.sync. Each lane passes its operands, which begin with an emu_together;
// when all lanes have come, one calls operate() for the whole warp. Results are written to the lanes' operands.
typedef struct emu_together {
    const char *name; // for messages: "mma.sync"
    void (*operate)(struct emu_together *const lanes[32]);
} emu_together;
EMU_API void emu_warp_together(emu_together *own, const char *file, int line);
// The same for an operation in which the first `lanes` lanes read or write a row of 16 bytes each.
typedef struct emu_together_row {
    emu_together head;
    const void *row;
} emu_together_row;
EMU_API void emu_warp_rows(emu_together_row *own, emu_access_kind kind, int lanes, const char *file, int line);

// cp.async: begins a copy of 4, 8 or 16 bytes, of which it reads the first `read` and fills up with zeros; makes a
// group of those begun so far; waits until at most `groups` groups are unfinished.
EMU_API void emu_copy_async(void *shared, const void *global, int bytes, int read, const char *file, int line);
EMU_API void emu_copy_async_commit(void);
EMU_API void emu_copy_async_wait(int groups);

// mbarrier: initializes one; one arrival, and if `bytes` is not negative, so many bytes that the phase waits for;
// waits until the phase of that parity is complete. And a barrier of `threads` threads of the block, by its number.
EMU_API void emu_mbarrier_init(void *barrier, int arrivals, const char *file, int line);
EMU_API void emu_mbarrier_arrive(void *barrier, int bytes, const char *file, int line);
EMU_API void emu_mbarrier_wait(void *barrier, int parity, const char *file, int line);
// The same by parts, for PTX: arrivals (which also later phases lack if it `drops`), and bytes that are to come or,
// if negative, have come; returns the phase's parity. One attempt to wait. A copy of bytes to shared memory.
EMU_API unsigned emu_mbarrier_change(void *barrier, int arrivals, int bytes, int drops, const char *file, int line);
EMU_API int emu_mbarrier_test(void *barrier, int parity, const char *file, int line);
EMU_API void emu_bulk_load(void *shared, const void *global, int bytes, void *barrier, const char *file, int line);
EMU_API void emu_sync_part(int number, int threads, const char *file, int line);
EMU_API void emu_arrive_part(int number, int threads, const char *file, int line);

// Clusters: the block's rank, and the number of blocks; the barrier of all their threads; where another block's
// variable is that has this address in the calling block. An arrival at the mbarrier of another block; a copy of a
// box to all blocks in `mask`.
EMU_API int emu_cluster_rank(void);
EMU_API int emu_cluster_size(void);
EMU_API emu_dim3 emu_cluster_shape(void);
EMU_API void emu_cluster_arrive(const char *file, int line);
EMU_API void emu_cluster_wait(const char *file, int line);
EMU_API void *emu_cluster_map(const void *address, int rank, const char *file, int line);
EMU_API void emu_mbarrier_arrive_at(void *barrier, int rank, const char *file, int line);
EMU_API void emu_tensor_load_multicast(void *shared, const void *map, void *barrier, int axes, const int *at,
                                       unsigned mask, const char *file, int line);

// TMA: begins a copy of a box; makes a group of the thread's stores so far; waits until at most `groups` groups have
// not been written (`read`: not been read from shared memory). `map` is a tensor_map, `at` has `axes` coordinates.
EMU_API void emu_tensor_load(void *shared, const void *map, void *barrier, int axes, const int *at, const char *file,
                             int line);
EMU_API void emu_tensor_prefetch(const void *map, const char *file, int line);
EMU_API void emu_tensor_store(const void *map, const void *shared, int axes, const int *at, const char *file,
                              int line);
EMU_API void emu_tensor_store_commit(void);
EMU_API void emu_tensor_store_wait(int groups, int read);

// What this thread has written becomes visible to later asynchronous operations; where these see what is at that
// address of shared memory. (Where it differs from what is at the address itself, they see NaN.)
EMU_API void emu_proxy_fence(void);
EMU_API const void *emu_proxy_view(const void *address);

// wgmma: a warp's 16 rows of a product, which is computed in the wait that covers it. One lane calls each of these
// functions on behalf of the warp (in the operate() of an emu_together).
enum { EMU_PRODUCT_SCRATCH = 1 << 16 }; // bytes
typedef struct emu_product {
    // sums = a * b, or sums += a * b: 16 rows of `columns` sums of 32 bits, rows 16 * part ... 16 * part + 15 of a *
    // b.
    void (*multiply)(const struct emu_product *product, void *sums, int part, void *scratch);
    uint64_t a, b; // the operands, as multiply() takes them
    int columns, add;
    unsigned char element, a_transposed, b_transposed; // bytes of an element; the layout of A and B in shared memory
    unsigned short a_rows[16][16];                     // the warp's rows of A, if they are in registers
} emu_product;
EMU_API void emu_product_begin(const emu_product *product, void *const sums[32], const char *file, int line);
EMU_API void emu_product_fence(void);
EMU_API void emu_product_commit(void);
EMU_API void emu_product_wait(int groups);

// setmaxnreg: a warp's registers per thread become `count`, which may not be more (`more`: fewer) than they are; one
// lane calls it on behalf of the warp. Waits until the block has as many.
EMU_API void emu_registers(int count, int more, const char *file, int line);

// Reads a texture at `axes` coordinates, or if `axes` is 0, at an index (tex1Dfetch). Each of the `channels` words is
// an integer, or if `as_float` is set, the bits of a float. With EMU_LAYERED added to `axes`, the index is a layer.
enum { EMU_LAYERED = 8 };
EMU_API void emu_texture_read(uint64_t texture, int axes, const float *at, int index, int as_float, int channels,
                              uint32_t words[4], const char *file, int line);

// The address of `bytes` bytes of a surface; x is in bytes. `mode`: cudaSurfaceBoundaryMode. NULL: outside, where
// reads give 0 and writes have no effect.
EMU_API void *emu_surface_at(uint64_t surface, int axes, int x, int y, int z, size_t bytes, int mode,
                             const char *file, int line);

EMU_API int emu_is_cooperative(void);
EMU_API void *emu_dynamic_shared(void); // the block's dynamic shared memory, 128-byte aligned
EMU_API size_t emu_dynamic_shared_bytes(void);
EMU_API long long emu_clock64(void); // cycles of the emulated chip
EMU_API long emu_clock(void);        // clock(): in a kernel the same cycles, elsewhere the C library's function
EMU_API unsigned long long emu_global_timer_ns(void);
EMU_API int emu_print(int count, const char *format, ...)
    __attribute__((format(printf, 2, 3))); // `count`: the number of arguments after the format
// malloc and free in kernels; 1 in a kernel.
EMU_API void *emu_heap_malloc(size_t bytes);
EMU_API void emu_heap_free(void *pointer);
EMU_API int emu_in_kernel(void);
// Whether the first thread of a block is to run all others, too, which never wait for each other: sets emu_threadIdx
// for each, if it `shows` them. 0: it runs alone. And memory for what threads keep, in the order of a stack.
EMU_API int emu_block_alone(int shows);
EMU_API void *emu_locals(size_t bytes) __attribute__((malloc, assume_aligned(64)));
EMU_API void emu_locals_end(const void *first);
EMU_API void emu_one_by_one(void) __attribute__((noreturn, cold)); // a thread is wrong: the block's threads say how

// Whether an address belongs to shared memory, or to the thread's stack. The 32-bit address of shared memory, as in
// PTX.
EMU_API int emu_is_shared(const void *address);
EMU_API int emu_is_local(const void *address);
EMU_API unsigned emu_shared_offset(const void *address);
EMU_API void *emu_shared_address(size_t offset);

EMU_API void emu_spin(void);  // after a failed attempt: lets other threads run from time to time
EMU_API void emu_yield(void); // lets other threads run now
EMU_API void emu_fail(const char *what, const char *file, int line) __attribute__((noreturn)); // ends the kernel

#ifdef __cplusplus
}
#endif
#endif
