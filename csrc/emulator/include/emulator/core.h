// The emulator core's interface: a small, versioned, untyped C interface to one shared library.
//
// Every library of kernels that is built for the emulator loads the same core, so all of them share its devices and
// memory. cuda_runtime_api.h (C) and cuda_runtime.h (C++), in the same folder, implement CUDA's names and types with
// these functions; other code should not need to call them directly. The interface depends neither on Python nor on
// cudakern's build.
#ifndef EMULATOR_CORE_H
#define EMULATOR_CORE_H

#include <stddef.h>
#include <stdint.h>

#define EMU_INTERFACE_VERSION 5

#ifdef __cplusplus
extern "C" {
#endif

#define EMU_API __attribute__((visibility("default")))

typedef struct emu_dim3 {
    unsigned x, y, z;
} emu_dim3;

// Called once for each emulated thread, after threadIdx and similar variables are set: calls the kernel with its
// arguments, whose layout the signature describes.
typedef void (*emu_trampoline)(const void *function, const void *arguments);

typedef struct emu_parameter {
    size_t offset, size; // bytes
} emu_parameter;

// What the core must know about a kernel's type. It is stored in the library that names the kernel, which then stays
// loaded. The layout of the parameters is CUDA's: each is at the next multiple of its own alignment.
typedef struct emu_signature {
    uint32_t interface_version; // EMU_INTERFACE_VERSION
    uint32_t count;             // number of parameters
    emu_trampoline trampoline;
    size_t bytes, align; // of all parameters together
    const emu_parameter *parameters;
    void *(*variable)(void); // the address of a thread-local variable of the library, where its code finds it
} emu_signature;

typedef struct emu_launch {
    uint32_t interface_version; // EMU_INTERFACE_VERSION
    const void *kernel;         // a kernel's handle or host function
    void *const *arguments;     // a pointer to each argument; the core copies them before the call returns
    emu_dim3 grid, block;
    size_t dynamic_shared; // bytes
    void *stream;
    const void *attributes; // struct cudaLaunchAttribute_st
    unsigned attribute_count;
} emu_launch;

// A launch by `kernel<<<...>>>(arguments)`, of which the kernel is called next: device_program.h.
typedef struct emu_configuration {
    emu_dim3 grid, block;
    size_t shared; // bytes
    void *stream;
} emu_configuration;

// --- Functions for the host --------------------------------------------------------------------------------------
// Codes are the numbers of cudaError_t (0: success). Every call that fails records its code for cudaGetLastError and
// a message for emu_error_detail, both for the calling OS thread. Streams, events and pools are opaque pointers; as a
// stream, NULL and 1 are the current device's default stream, and 2 is the calling thread's default stream. Structs
// are passed with their size, so that callers that were compiled with an older, shorter struct still work.

// An extension to CUDA: waits can be interrupted. `interrupted` is NULL, or a function that the waiting thread calls
// every 50 ms, without holding a lock. Once it returns nonzero, everything that this thread has launched and now
// waits for, in any stream, is canceled, and the wait returns EMU_INTERRUPTED. Other threads' work continues.
enum { EMU_INTERRUPTED = -4 };
typedef int (*emu_interrupted)(void *argument);

// Errors
EMU_API void emu_launch_next(const emu_configuration *launch);
EMU_API emu_configuration emu_launch_taken(void); // the last one, which is then done with
EMU_API void emu_errors_stay(void); // for whole programs: as on a GPU, a kernel's error is that of all later calls
EMU_API int emu_last_error(int reset);
EMU_API const char *emu_error_name(int code);
EMU_API const char *emu_error_text(int code);
EMU_API size_t emu_error_detail(char *buffer, size_t size); // the message of this thread's last error; its length
EMU_API int emu_note_error(int code, const char *detail);   // for checks in headers: records both, returns code

// Settings: devices, memory, chip, order, workers, stack, print, fail_allocation. They affect work that starts
// afterwards.
EMU_API int emu_configure(const char *key, const char *value);

// Devices
EMU_API int emu_device_count(int *count);
EMU_API int emu_device_exists(int device); // cudaSuccess, or an error
EMU_API int emu_get_device(int *device);
EMU_API int emu_set_device(int device);
EMU_API int emu_device_properties(void *properties, size_t size, int device); // struct cudaDeviceProp
EMU_API int emu_device_attribute(int *value, int attribute, int device);
EMU_API int emu_device_bus_id(char *text, int size, int device);
EMU_API int emu_device_by_bus_id(int *device, const char *text);
EMU_API int emu_device_flags(unsigned *flags, int set);
EMU_API int emu_device_wait(emu_interrupted interrupted, void *argument);
EMU_API int emu_device_settle(void); // an extension to CUDA: waits, and leaves errors for a later call to report
EMU_API int emu_device_peers(int *can, int device, int peer);             // whether `device` can access `peer`
EMU_API int emu_device_enable_peer(int peer, unsigned flags, int enable); // from the current device
EMU_API int emu_device_reset(void);
// Contexts of the driver API
EMU_API int emu_context_of(void **context, int device);
EMU_API int emu_context_push(void *context);
EMU_API int emu_context_pop(void **context);
EMU_API int emu_context_set(void *context);
EMU_API int emu_context_current(void **context);
EMU_API int emu_context_destroy(void *context);
EMU_API int emu_limit(int which, size_t *value, int set); // cudaLimit
EMU_API int emu_versions(int *driver, int *runtime);

// Memory
EMU_API int emu_malloc(void **pointer, size_t bytes);
EMU_API void emu_new_memory(int byte); // what new device memory holds: 0xFF, unless this says otherwise
EMU_API int emu_malloc_managed(void **pointer, size_t bytes, unsigned flags);
// Of a whole program: from now on, the host must not touch device memory, unless it stands in for the device: from a
// call with 1, which waits for the device, to one with 0. `image`: where the caller's code begins. If it is a
// library, nothing changes, because the program may not be in CUDA. NULL: whatever it is.
EMU_API void emu_keep_host_out(const void *image);
EMU_API void emu_host_stands_in(int begins);
EMU_API int emu_malloc_pitch(void **pointer, size_t *pitch, size_t width, size_t height);
EMU_API int emu_malloc_async(void **pointer, size_t bytes, void *pool, void *stream); // pool NULL: the default one
EMU_API int emu_free(void *pointer);
EMU_API int emu_free_async(void *pointer, void *stream);
EMU_API int emu_malloc_host(void **pointer, size_t bytes, unsigned flags);
EMU_API int emu_free_host(void *pointer);
EMU_API int emu_host_device_pointer(void **device, void *host, unsigned flags);
EMU_API int emu_host_flags(unsigned *flags, void *host);
// Host memory (0), a __device__ variable (1), or all __managed__ variables of a library or program (2).
EMU_API int emu_register(void *pointer, size_t bytes, int is_symbol);
EMU_API int emu_unregister(void *pointer);
EMU_API int emu_symbol(void **address, size_t *bytes, const void *symbol,
                       size_t size); // address or bytes may be NULL
// For programs: __device__ and __constant__ variables, which emu_device_reset() gives the values that they have now.
// `add` 0: takes one from the list.
typedef struct emu_initial {
    void *at;
    size_t bytes;
    void *first; // a copy of its values; NULL: zeros
    struct emu_initial *next;
} emu_initial;
EMU_API void emu_announce_initial(emu_initial *variable, int add);
EMU_API int emu_memory_info(size_t *free_bytes, size_t *total);
EMU_API int emu_pointer_attributes(void *attributes, size_t size, const void *pointer);
// Managed memory. A location is a device's number, or cudaCpuDeviceId.
EMU_API int emu_advise(const void *pointer, size_t bytes, int advice, int location);
EMU_API int emu_prefetch(const void *pointer, size_t bytes, int location, void *stream);
EMU_API int emu_attach(const void *pointer, unsigned flags, void *stream);
EMU_API int emu_range_attribute(void *data, size_t size, int attribute, const void *pointer, size_t bytes);
EMU_API int emu_device_pool(void **pool, int device); // *pool NULL: stores the pool of cudaMallocAsync; else sets it
EMU_API int emu_address_range(void **begin, size_t *bytes, const void *pointer); // of its allocation
EMU_API int emu_check_shareable(const void *pointer); // whether it is the beginning of device memory
EMU_API int emu_default_pool(void **pool, int device);
EMU_API int emu_pool_create(void **pool, int device);
EMU_API int emu_pool_destroy(void *pool);
EMU_API int emu_pool_attribute(void *pool, int attribute, void *value, int set);
EMU_API int emu_pool_trim(void *pool, size_t keep);

// Copies: rows of `width` bytes, `height` of them; a linear copy has one row. `kind` is cudaMemcpyKind's number.
EMU_API int emu_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                     int kind, void *stream, int async);
EMU_API int emu_copy_peer(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream,
                          int async);
// Copies to or from a symbol, from its byte `offset` on; `other` is the other end. `size`: the symbol's bytes (0: it
// is registered already).
EMU_API int emu_copy_symbol(const void *symbol, size_t size, size_t offset, void *other, size_t bytes, int kind,
                            int to_symbol, void *stream, int async);
// Elements of `unit` bytes, `width` of them per row.
EMU_API int emu_set_elements(void *to, size_t pitch, unsigned value, unsigned unit, size_t width, size_t height,
                             void *stream, int async);
EMU_API int emu_set(void *to, size_t pitch, int value, size_t width, size_t height, void *stream, int async);

// Arrays and textures. Positions, extents and descriptors are those of CUDA.
EMU_API int emu_array_create(void **array, const void *channels, size_t width, size_t height, size_t depth,
                             unsigned flags);
EMU_API int emu_array_free(void *array);
EMU_API int emu_array_info(void *channels, void *extent, unsigned *flags, const void *array);
EMU_API int emu_array_copy(const void *parameters, void *stream, int async); // struct cudaMemcpy3DParms
EMU_API int emu_array_copy_2d(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                              size_t height, int kind, void *stream, int async); // width and x in bytes
// The same copy in the other direction, and between arrays; a number of bytes, from row to row.
EMU_API int emu_array_copy_2d_back(void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width,
                                   size_t height, int kind, void *stream, int async);
EMU_API int emu_array_copy_between(void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y,
                                   size_t width, size_t height, int kind);
EMU_API int emu_array_copy_bytes(const void *array, size_t x, size_t y, void *other, size_t bytes, int kind,
                                 int to_array, void *stream, int async);
EMU_API int emu_texture_create(unsigned long long *texture, const void *resource, const void *description,
                               const void *view);
EMU_API int emu_surface_create(unsigned long long *surface, const void *resource);
EMU_API int emu_texture_destroy(uint64_t texture);
EMU_API int emu_texture_info(void *resource, void *description, uint64_t texture); // either may be NULL

// Streams and events
EMU_API int emu_stream_create(void **stream, unsigned flags, int priority);
EMU_API int emu_stream_destroy(void *stream);
EMU_API int emu_stream_query(void *stream);
EMU_API int emu_stream_wait(void *stream, emu_interrupted interrupted, void *argument);
EMU_API int emu_stream_id(void *stream, unsigned long long *id);
EMU_API int emu_stream_info(void *stream, unsigned *flags, int *priority, int *device);
EMU_API int emu_stream_wait_event(void *stream, void *event);
EMU_API int emu_stream_call(void *stream, void (*function)(void *), void *argument);
EMU_API int emu_stream_callback(void *stream, void (*function)(void), void *argument, unsigned flags);
EMU_API int emu_event_create(void **event, unsigned flags);
EMU_API int emu_event_destroy(void *event);
EMU_API int emu_event_record(void *event, void *stream);
EMU_API int emu_event_query(void *event);
EMU_API int emu_event_wait(void *event, emu_interrupted interrupted, void *argument);
EMU_API int emu_event_elapsed(float *milliseconds, void *start, void *end);

// Graphs, their nodes, and graphs that can be launched ("exec"): opaque pointers. What a node does is a
// struct cudaGraphNodeParams.
EMU_API int emu_graph_create(void **graph, unsigned flags);
EMU_API int emu_graph_destroy(void *graph);
EMU_API int emu_graph_clone(void **copy, void *graph);
EMU_API int emu_graph_find_in_clone(void **node, void *original, void *clone);
EMU_API int emu_graph_add(void **node, void *graph, void *const *before, size_t count, void *what);
EMU_API int emu_graph_node(void *node, void *what, int set);
EMU_API int emu_graph_node_type(void *node, int *type);
EMU_API int emu_graph_kernel_attribute(void *node, int id, void *value, int set);
EMU_API int emu_graph_remove_node(void *node);
EMU_API int emu_graph_depend(void *graph, void *const *from, void *const *to, size_t count, int add);
EMU_API int emu_graph_nodes(void *graph, void **nodes, size_t *count, int roots);
EMU_API int emu_graph_edges(void *graph, void **from, void **to, size_t *count);
EMU_API int emu_graph_neighbours(void *node, void **nodes, size_t *count, int after);
EMU_API int emu_graph_print(void *graph, const char *path);
EMU_API int emu_graph_instantiate(void **exec, void *graph, unsigned long long flags);
EMU_API int emu_exec_launch(void *exec, void *stream);
EMU_API int emu_exec_set(void *exec, void *node, void *what);
EMU_API int emu_exec_enable(void *exec, void *node, unsigned *enabled, int set); // set -1: only finds `exec`
EMU_API int emu_exec_update(void *exec, void *graph, void *information);
EMU_API int emu_exec_flags(void *exec, unsigned long long *flags);
EMU_API int emu_exec_destroy(void *exec);
// Captures of streams. `graph` NULL: a new one.
EMU_API int emu_capture_begin(void *stream, int mode, void *graph, void *const *before, size_t count);
EMU_API int emu_capture_end(void *stream, void **graph);
EMU_API int emu_capture_info(void *stream, int *status, unsigned long long *id, void **graph, void *const **before,
                             size_t *count);
EMU_API int emu_capture_depend(void *stream, void *const *before, size_t count, unsigned flags);
EMU_API int emu_capture_mode(int *mode);

// Kernels. `function` is a kernel's address or its handle, which all libraries of the process can use until the
// process ends. emu_get_kernel creates a handle from a signature; if the signature is NULL, it finds an existing
// handle.
EMU_API int emu_get_kernel(void **handle, const void *function, const emu_signature *signature);
// For programs, in which a kernel's address may be used before any call has seen its type: a list of signatures, in
// which the core looks. It costs nothing until then. `add` 0: takes it from the list.
typedef struct emu_bounds { // of a kernel's launches
    emu_dim3 cluster;       // __cluster_dims__; 0: none
    unsigned threads;       // of a block, at most: __launch_bounds__; 0: as many as the device has
} emu_bounds;
typedef struct emu_announced {
    const void *function;
    const emu_signature *signature;
    emu_bounds bounds;
    struct emu_announced *next;
} emu_announced;
EMU_API void emu_announce(emu_announced *kernel, int add);
EMU_API int emu_launch_kernel(const emu_launch *launch);
EMU_API int emu_function_set(const void *function, int attribute, int value);
EMU_API int emu_function_attributes(void *attributes, size_t size, const void *function);
EMU_API int emu_function_name(const char **name, const void *function);
EMU_API int emu_function_parameter(size_t *offset, size_t *size, const void *function, size_t index);
EMU_API int emu_occupancy(int *blocks, const void *function, int block_size, size_t dynamic_shared);
EMU_API int emu_occupancy_block(int *grid, int *block, const void *function, size_t dynamic_shared, int limit);
EMU_API int emu_occupancy_clusters(int *clusters, int *size, const void *function, const void *config);
EMU_API int emu_occupancy_shared(size_t *bytes, const void *function, int blocks, int block_size);

#ifdef __cplusplus
}
#endif
#endif
