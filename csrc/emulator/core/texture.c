// Arrays and texture objects: creates and copies them, and refuses what CUDA would refuse.
//
//   cudaMallocArray --> array: device memory without an address, elements in C order
//   cudaCreateTextureObject --> entry: a texture (texture.h) and its descriptors; the handle contains its index
//
//   handle = generation << 32 | index + 1       entry: chunks[index / CHUNK][index % CHUNK]
//
// Invariants: a chunk never moves and is never freed, so a fetch needs no lock. When a texture is destroyed, its
// entry gets a new generation, so the old handle is recognized as invalid.
#define _GNU_SOURCE
#include "texture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

// The lowest limits of all chips from compute capability 6.0 on.
enum { ROW = 131072, ROWS = 65536, CUBE = 16384, FETCHED = 1 << 27, PITCHED_ROWS = 65000, PITCH_MOST = 2097120 };
enum { CHUNK = 256, CHUNKS = 4096, PITCH_GRAIN = 32, BASE_GRAIN = 512 };

typedef struct array {
    struct cudaChannelFormatDesc channels;
    struct cudaExtent extent; // as requested: height or depth 0 if there are fewer axes
    unsigned flags;
    int device;
    void *data;
    size_t element, pitch, slice; // bytes
    struct array *next;
} array;

typedef struct entry {
    atomic_uint generation; // odd: alive
    int device;
    emu_texture texture;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc description;
    struct entry *next; // in the list of free entries
    unsigned index;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static array *arrays;
static _Atomic(entry *) chunks[CHUNKS];
static unsigned entry_count;
static entry *idle;

void emu_texture_fork(emu_fork stage) {
    emu_fork_lock(stage, &lock);
}

// --- channels ----------------------------------------------------------------------------------------------------
// The number of channels and their format; an error if textures do not support them.
static int check_channels(const char *call, const struct cudaChannelFormatDesc *desc, int *count,
                          emu_format *format) {
    static const emu_format formats[3][3] = {{EMU_SIGNED_8, EMU_SIGNED_16, EMU_SIGNED_32},
                                             {EMU_UNSIGNED_8, EMU_UNSIGNED_16, EMU_UNSIGNED_32},
                                             {EMU_FLOAT_32, EMU_FLOAT_16, EMU_FLOAT_32}};
    const int bits[4] = {desc->x, desc->y, desc->z, desc->w};
    int n = 0;
    while (n < 4 && bits[n] == bits[0] && bits[n] > 0) n++;
    int ok = n == 1 || n == 2 || n == 4;
    for (int i = n; i < 4; i++) ok &= bits[i] == 0;
    ok &= bits[0] == 8 || bits[0] == 16 || bits[0] == 32;
    ok &= desc->f == cudaChannelFormatKindSigned || desc->f == cudaChannelFormatKindUnsigned ||
          (desc->f == cudaChannelFormatKindFloat && bits[0] > 8);
    if (!ok)
        return emu_error(cudaErrorInvalidChannelDescriptor,
                         "%s: channels of %d, %d, %d and %d bits, kind %d; a texture must have 1, 2 or 4 equal "
                         "channels, integers of 8, 16 or 32 bits or floats of 16 or 32",
                         call, bits[0], bits[1], bits[2], bits[3], (int)desc->f);
    *count = n;
    *format = formats[desc->f][bits[0] / 16];
    return cudaSuccess;
}

// --- arrays ------------------------------------------------------------------------------------------------------
static array *find(const void *handle) { // lock held
    array *a = arrays;
    while (a && a != handle) a = a->next;
    return a;
}

// Of an array as it is now, which another thread may free; 0: there is none.
static int copied(const void *handle, array *copy) {
    pthread_mutex_lock(&lock);
    const array *a = find(handle);
    if (a) *copy = *a;
    pthread_mutex_unlock(&lock);
    return a != NULL;
}

static int no_array(const char *call, const void *handle) {
    return emu_error(cudaErrorInvalidResourceHandle, "%s: %p is not an array, or the array has been freed", call,
                     handle);
}

int emu_array_create(void **result, const void *channels, size_t width, size_t height, size_t depth, unsigned flags) {
    const char *call = "cudaMallocArray";
    int device, count, code = emu_enter(&device);
    emu_format format;
    if (code) return code;
    if (!result || !channels)
        return emu_error(cudaErrorInvalidValue, "%s: the pointer %s is NULL", call,
                         result ? "to the channels" : "for the result");
    *result = NULL;
    if ((code = check_channels(call, channels, &count, &format))) return code;
    const unsigned known = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (flags & ~known)
        return emu_error(cudaErrorInvalidValue, "%s: flags %u; the emulator knows those from 0 to %u", call, flags,
                         known);
    if (flags & cudaArrayCubemap &&
        (width != height || !depth || depth % 6 || (depth > 6 && !(flags & cudaArrayLayered))))
        return emu_error(cudaErrorInvalidValue,
                         "%s: a cubemap of %zu x %zu x %zu elements; it needs square faces and 6 of them (with "
                         "cudaArrayLayered, a multiple of 6)",
                         call, width, height, depth);
    const int layered = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
    if (layered && !depth)
        return emu_error(cudaErrorInvalidValue, "%s: the number of layers, which is the depth, is 0", call);
    const size_t most[3] = {depth ? CUBE : ROW, depth ? CUBE : ROWS, CUBE};
    if (!width || width > most[0] || height > most[1] || depth > most[2] || (depth && !height && !layered))
        return emu_error(
            cudaErrorInvalidValue,
            "%s: an array of %zu x %zu x %zu elements (width, height, depth); a 1-D array may have up to %d, a 2-D "
            "array up to %d x %d, a 3-D array up to %d along each axis, and every axis in use at least 1",
            call, width, height, depth, ROW, ROW, ROWS, CUBE);
    array *a = calloc(1, sizeof *a);
    if (!a) return emu_error(cudaErrorMemoryAllocation, "%s: the host is out of memory", call);
    memcpy(&a->channels, channels, sizeof a->channels);
    a->extent = (struct cudaExtent){width, height, depth};
    a->flags = flags;
    a->device = device;
    a->element = (size_t)count * (size_t)a->channels.x / 8;
    a->pitch = width * a->element;
    a->slice = a->pitch * (height ? height : 1);
    if ((code =
             emu_malloc_for(&a->data, a->slice * (depth ? depth : 1), (uintptr_t)__builtin_return_address(0) - 1))) {
        free(a);
        return code;
    }
    pthread_mutex_lock(&lock);
    a->next = arrays;
    arrays = a;
    pthread_mutex_unlock(&lock);
    *result = a;
    return cudaSuccess;
}

int emu_array_free(void *handle) {
    int device, code = emu_enter(&device);
    if (code || !handle) return code;
    pthread_mutex_lock(&lock);
    array **at = &arrays;
    while (*at && *at != handle) at = &(*at)->next;
    array *a = *at;
    if (a) *at = a->next;
    pthread_mutex_unlock(&lock);
    if (!a) return no_array("cudaFreeArray", handle);
    code = emu_free(a->data); // waits, as in CUDA, because kernels may still read the array
    free(a);
    return code;
}

int emu_array_info(void *channels, void *extent, unsigned *flags, const void *handle) {
    array copy;
    if (!copied(handle, &copy)) return no_array("cudaArrayGetInfo", handle);
    if (channels) memcpy(channels, &copy.channels, sizeof copy.channels);
    if (extent) memcpy(extent, &copy.extent, sizeof copy.extent);
    if (flags) *flags = copy.flags;
    return cudaSuccess;
}

// --- copies ------------------------------------------------------------------------------------------------------
// One end of a copy: an address, and the distances from row to row and from plane to plane.
typedef struct end {
    char *data;
    size_t pitch, slice;
    size_t element; // bytes; 0: a pointer, for which widths are in bytes
} end;

static int array_end(const char *call, const void *handle, const struct cudaPos *at, const struct cudaExtent *extent,
                     end *end) {
    array copy;
    if (!copied(handle, &copy)) return no_array(call, handle);
    const size_t all[3] = {copy.extent.width, copy.extent.height ? copy.extent.height : 1,
                           copy.extent.depth ? copy.extent.depth : 1};
    const size_t first[3] = {at->x, at->y, at->z}, many[3] = {extent->width, extent->height, extent->depth};
    for (int i = 0; i < 3; i++)
        if (first[i] > all[i] || many[i] > all[i] - first[i])
            return emu_error(cudaErrorInvalidValue,
                             "%s: %zu elements from index %zu on along axis %c; the array has %zu", call, many[i],
                             first[i], 'x' + i, all[i]);
    *end = (struct end){(char *)copy.data + first[2] * copy.slice + first[1] * copy.pitch + first[0] * copy.element,
                        copy.pitch, copy.slice, copy.element};
    return cudaSuccess;
}

static end pointer_end(const struct cudaPitchedPtr *pointer, const struct cudaPos *at) {
    const size_t slice = pointer->pitch * pointer->ysize;
    return (end){(char *)pointer->ptr + at->z * slice + at->y * pointer->pitch + at->x, pointer->pitch, slice, 0};
}

int emu_array_copy(const void *parameters, void *stream, int async) {
    const char *call = async ? "cudaMemcpy3DAsync" : "cudaMemcpy3D";
    int code;
    if (!parameters) return emu_error(cudaErrorInvalidValue, "%s: the pointer to the parameters is NULL", call);
    const struct cudaMemcpy3DParms p = *(const struct cudaMemcpy3DParms *)parameters;
    if (!p.srcArray == !p.srcPtr.ptr || !p.dstArray == !p.dstPtr.ptr)
        return emu_error(cudaErrorInvalidValue,
                         "%s: source and destination must each be either an array or a pointer", call);
    end to = pointer_end(&p.dstPtr, &p.dstPos), from = pointer_end(&p.srcPtr, &p.srcPos);
    if (p.dstArray && (code = array_end(call, p.dstArray, &p.dstPos, &p.extent, &to))) return code;
    if (p.srcArray && (code = array_end(call, p.srcArray, &p.srcPos, &p.extent, &from))) return code;
    if (to.element && from.element && to.element != from.element)
        return emu_error(cudaErrorInvalidValue,
                         "%s: the source has elements of %zu bytes, the destination of %zu; they must be equal", call,
                         from.element, to.element);
    const size_t element = to.element ? to.element : from.element ? from.element : 1;
    const size_t width = p.extent.width * element;
    if (!width || !p.extent.height) return cudaSuccess;
    for (size_t z = 0; z < p.extent.depth; z++) {
        code = emu_copy(to.data + z * to.slice, to.pitch, from.data + z * from.slice, from.pitch, width,
                        p.extent.height, (int)p.kind, stream, async);
        if (code) return code;
    }
    return cudaSuccess;
}

// The end of a copy of rows of an array, in bytes.
static int rectangle_end(const char *call, const void *handle, size_t x, size_t y, size_t width, size_t height,
                         end *end) {
    const struct cudaPos at = {0, y, 0};
    const struct cudaExtent extent = {0, height, 1};
    int code = array_end(call, handle, &at, &extent, end);
    if (code) return code;
    if (x > end->pitch || width > end->pitch - x || x % end->element || width % end->element)
        return emu_error(cudaErrorInvalidValue,
                         "%s: %zu bytes from byte %zu on; a row has %zu bytes, and both must be multiples of an "
                         "element's %zu",
                         call, width, x, end->pitch, end->element);
    end->data += x;
    return cudaSuccess;
}

int emu_array_copy_2d(void *handle, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                      int kind, void *stream, int async) {
    end to;
    int code =
        rectangle_end(async ? "cudaMemcpy2DToArrayAsync" : "cudaMemcpy2DToArray", handle, x, y, width, height, &to);
    return code ? code : emu_copy(to.data, to.pitch, from, pitch, width, height, kind, stream, async);
}

int emu_array_copy_2d_back(void *to, size_t pitch, const void *handle, size_t x, size_t y, size_t width,
                           size_t height, int kind, void *stream, int async) {
    end from;
    int code = rectangle_end(async ? "cudaMemcpy2DFromArrayAsync" : "cudaMemcpy2DFromArray", handle, x, y, width,
                             height, &from);
    return code ? code : emu_copy(to, pitch, from.data, from.pitch, width, height, kind, stream, async);
}

int emu_array_copy_between(void *to_handle, size_t to_x, size_t to_y, const void *from_handle, size_t from_x,
                           size_t from_y, size_t width, size_t height, int kind) {
    const char *call = "cudaMemcpy2DArrayToArray";
    end to, from;
    int code = rectangle_end(call, to_handle, to_x, to_y, width, height, &to);
    if (!code) code = rectangle_end(call, from_handle, from_x, from_y, width, height, &from);
    return code ? code : emu_copy(to.data, to.pitch, from.data, from.pitch, width, height, kind, NULL, 0);
}

// An array's rows are contiguous, so these bytes are one row of the copy.
int emu_array_copy_bytes(const void *handle, size_t x, size_t y, void *other, size_t bytes, int kind, int to_array,
                         void *stream, int async) {
    const char *call = to_array ? "cudaMemcpyToArray" : "cudaMemcpyFromArray";
    end end;
    int code = rectangle_end(call, handle, x, y, 0, 0, &end);
    if (code) return code;
    array copy;
    if (!copied(handle, &copy)) return no_array(call, handle);
    const size_t all = copy.slice * (copy.extent.depth ? copy.extent.depth : 1);
    const size_t left = all - (size_t)(end.data - (char *)copy.data);
    if (bytes > left)
        return emu_error(cudaErrorInvalidValue, "%s: %zu bytes; the array has %zu from there on", call, bytes, left);
    return emu_copy(to_array ? (void *)end.data : other, bytes, to_array ? other : (void *)end.data, bytes, bytes, 1,
                    kind, stream, async);
}

// --- textures ----------------------------------------------------------------------------------------------------
static int of_array(const char *call, const struct cudaResourceDesc *resource, emu_texture *t,
                    struct cudaChannelFormatDesc *channels) {
    pthread_mutex_lock(&lock);
    const array *a = find(resource->res.array.array);
    if (a) {
        const struct cudaExtent *e = &a->extent;
        *channels = a->channels;
        t->data = a->data;
        t->pitch = a->pitch;
        t->slice = a->slice;
        t->layers = a->flags & (cudaArrayLayered | cudaArrayCubemap) ? e->depth : 0;
        t->axes = e->depth && !t->layers ? 3 : e->height ? 2 : 1;
        t->extent[0] = e->width;
        t->extent[1] = e->height ? e->height : 1;
        t->extent[2] = e->depth && !t->layers ? e->depth : 1;
    }
    pthread_mutex_unlock(&lock);
    return a ? cudaSuccess : no_array(call, resource->res.array.array);
}

static int of_memory(const char *call, const void *data, size_t width, size_t height, size_t pitch, size_t element) {
    emu_allocation within;
    const size_t bytes = height ? (height - 1) * pitch + width * element : 0;
    if (!emu_find_allocation(data, &within) || within.dying || within.device < 0)
        return emu_error(cudaErrorInvalidValue, "%s: %p is not device memory", call, data);
    if ((uintptr_t)data % element || bytes > within.bytes - ((uintptr_t)data - within.base))
        return emu_error(cudaErrorInvalidValue, "%s: %zu bytes at %p; the allocation has %zu bytes at %p", call,
                         bytes, data, within.bytes, (void *)within.base);
    return cudaSuccess;
}

static int of_linear(const char *call, const struct cudaResourceDesc *resource, emu_texture *t, size_t element) {
    const size_t n = resource->res.linear.sizeInBytes / element;
    if (!n || n > FETCHED)
        return emu_error(cudaErrorInvalidValue, "%s: %zu elements of linear memory; 1 to %d are allowed", call, n,
                         FETCHED);
    t->data = resource->res.linear.devPtr;
    t->pitch = t->slice = n * element;
    t->extent[0] = n;
    t->extent[1] = t->extent[2] = 1;
    t->axes = 0;
    return of_memory(call, t->data, n, 1, t->pitch, element);
}

static int of_pitched(const char *call, const struct cudaResourceDesc *resource, emu_texture *t, size_t element) {
    const size_t width = resource->res.pitch2D.width, height = resource->res.pitch2D.height;
    const size_t pitch = resource->res.pitch2D.pitchInBytes;
    t->data = resource->res.pitch2D.devPtr;
    if (!width || !height || width > ROW || height > PITCHED_ROWS || pitch > PITCH_MOST || pitch < width * element ||
        pitch % PITCH_GRAIN || (uintptr_t)t->data % PITCH_GRAIN)
        return emu_error(
            cudaErrorInvalidValue,
            "%s: %zu rows of %zu elements, pitch %zu, at %p; allowed are 1 to %d rows of 1 to %d elements, a pitch "
            "of at least a row's bytes and at most %d, and multiples of %d for the pitch and the address",
            call, height, width, pitch, (const void *)t->data, PITCHED_ROWS, ROW, PITCH_MOST, PITCH_GRAIN);
    t->pitch = t->slice = pitch;
    t->extent[0] = width;
    t->extent[1] = height;
    t->extent[2] = 1;
    t->axes = 2;
    return of_memory(call, t->data, width, height, pitch, element);
}

// Sets how the texture is read. Modes that CUDA replaces are replaced in the same way, and modes that it refuses are
// refused.
static int describe(const char *call, const struct cudaTextureDesc *d, emu_texture *t) {
    const int is_float = t->format == EMU_FLOAT_16 || t->format == EMU_FLOAT_32;
    const int is_wide = t->format == EMU_SIGNED_32 || t->format == EMU_UNSIGNED_32;
    t->gives_float = is_float || d->readMode == cudaReadModeNormalizedFloat;
    t->linear = t->axes > 0 && d->filterMode == cudaFilterModeLinear;
    t->normalized = d->normalizedCoords != 0;
    if (d->readMode == cudaReadModeNormalizedFloat && is_wide)
        return emu_error(cudaErrorInvalidNormSetting, "%s: 32-bit integers cannot be read as normalized floats",
                         call);
    if (d->filterMode == cudaFilterModeLinear && !t->gives_float)
        return emu_error(cudaErrorInvalidFilterSetting,
                         "%s: a linear filter needs floats; read integers as normalized floats", call);
    if (d->sRGB || d->maxAnisotropy > 1)
        return emu_error(cudaErrorNotSupported, "%s: the emulator supports neither sRGB nor anisotropic filtering",
                         call);
    for (int i = 0; i < 3; i++) {
        t->address[i] = d->addressMode[i];
        if ((unsigned)d->addressMode[i] > cudaAddressModeBorder)
            return emu_error(cudaErrorInvalidValue, "%s: %d is not an address mode", call, (int)d->addressMode[i]);
        if (!t->normalized && d->addressMode[i] != cudaAddressModeBorder) t->address[i] = cudaAddressModeClamp;
    }
    memcpy(t->border, d->borderColor, sizeof t->border);
    return cudaSuccess;
}

static entry *new_entry(void) { // lock held
    entry *e = idle;
    if (e) {
        idle = e->next;
        return e;
    }
    const unsigned chunk = entry_count / CHUNK;
    if (chunk == CHUNKS) return NULL;
    entry *all = atomic_load(&chunks[chunk]);
    if (!all) {
        if (!(all = calloc(CHUNK, sizeof *all))) return NULL;
        atomic_store(&chunks[chunk], all);
    }
    e = &all[entry_count % CHUNK];
    e->index = entry_count++;
    return e;
}

static entry *entry_of(uint64_t handle) {
    const unsigned index = (unsigned)handle - 1u, generation = (unsigned)(handle >> 32);
    if ((unsigned)handle == 0 || index / CHUNK >= CHUNKS) return NULL;
    entry *all = atomic_load_explicit(&chunks[index / CHUNK], memory_order_acquire);
    if (!all || generation % 2 == 0) return NULL;
    entry *e = &all[index % CHUNK];
    return atomic_load_explicit(&e->generation, memory_order_acquire) == generation ? e : NULL;
}

const emu_texture *emu_find_texture(uint64_t handle) {
    const entry *e = entry_of(handle);
    return e ? &e->texture : NULL;
}

// Makes a handle of a texture or surface that has been checked.
static int enter(const char *call, unsigned long long *handle, int device, const emu_texture *t, const void *resource,
                 const void *description) {
    pthread_mutex_lock(&lock);
    entry *e = new_entry();
    if (e) {
        e->device = device;
        e->texture = *t;
        memcpy(&e->resource, resource, sizeof e->resource);
        if (description) memcpy(&e->description, description, sizeof e->description);
        *handle = (uint64_t)(atomic_fetch_add(&e->generation, 1) + 1) << 32 | (e->index + 1);
    }
    pthread_mutex_unlock(&lock);
    return e ? cudaSuccess
             : emu_error(cudaErrorMemoryAllocation, "%s: too many textures exist, or the host is out of memory",
                         call);
}

int emu_surface_create(unsigned long long *handle, const void *resource) {
    const char *call = "cudaCreateSurfaceObject";
    const struct cudaResourceDesc *r = resource;
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!handle || !r || r->resType != cudaResourceTypeArray)
        return emu_error(cudaErrorInvalidValue, "%s: %s", call,
                         handle && r ? "a surface is an array" : "a pointer is NULL");
    emu_texture t = {.is_surface = 1};
    struct cudaChannelFormatDesc channels;
    unsigned flags = 0;
    code = of_array(call, r, &t, &channels);
    if (!code) code = emu_array_info(NULL, NULL, &flags, r->res.array.array);
    if (!code) code = check_channels(call, &channels, &t.channels, &t.format);
    if (!code && !(flags & cudaArraySurfaceLoadStore))
        code = emu_error(cudaErrorInvalidValue, "%s: the array was created without cudaArraySurfaceLoadStore", call);
    if (code) return code;
    t.element = (size_t)t.channels * (size_t)channels.x / 8;
    return enter(call, handle, device, &t, resource, NULL);
}

int emu_texture_create(unsigned long long *handle, const void *resource, const void *description, const void *view) {
    const char *call = "cudaCreateTextureObject";
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!handle || !resource || !description)
        return emu_error(cudaErrorInvalidValue,
                         "%s: the pointer to the result, the resource or the description is NULL", call);
    if (view) return emu_error(cudaErrorNotSupported, "%s: the emulator does not support resource views", call);
    const struct cudaResourceDesc *r = resource;
    emu_texture t = {0};
    struct cudaChannelFormatDesc channels = {0, 0, 0, 0, cudaChannelFormatKindNone};
    if (r->resType == cudaResourceTypeArray) {
        code = of_array(call, r, &t, &channels);
    } else if (r->resType == cudaResourceTypeLinear || r->resType == cudaResourceTypePitch2D) {
        channels = r->resType == cudaResourceTypeLinear ? r->res.linear.desc : r->res.pitch2D.desc;
    } else {
        code = emu_error(cudaErrorInvalidValue,
                         "%s: resource type %d; the emulator supports arrays, linear memory and pitched memory", call,
                         (int)r->resType);
    }
    if (!code) code = check_channels(call, &channels, &t.channels, &t.format);
    const size_t element = t.element = (size_t)t.channels * (size_t)channels.x / 8;
    if (!code && r->resType == cudaResourceTypeLinear) code = of_linear(call, r, &t, element);
    if (!code && r->resType == cudaResourceTypePitch2D) code = of_pitched(call, r, &t, element);
    if (!code) code = describe(call, description, &t);
    if (code) return code;
    return enter(call, handle, device, &t, resource, description);
}

static void retire(entry *e) { // lock held
    atomic_fetch_add(&e->generation, 1);
    e->next = idle;
    idle = e;
}

static int no_texture(const char *call, uint64_t handle) {
    return emu_error(cudaErrorInvalidValue, "%s: %llu is not a texture, or the texture has been destroyed", call,
                     (unsigned long long)handle);
}

int emu_texture_destroy(uint64_t handle) {
    int device, code = emu_enter(&device);
    if (code || !handle) return code;
    pthread_mutex_lock(&lock);
    entry *e = entry_of(handle);
    if (e) retire(e);
    pthread_mutex_unlock(&lock);
    return e ? cudaSuccess : no_texture("cudaDestroyTextureObject", handle);
}

int emu_texture_info(void *resource, void *description, uint64_t handle) {
    pthread_mutex_lock(&lock);
    const entry *e = entry_of(handle);
    if (e && resource) memcpy(resource, &e->resource, sizeof e->resource);
    if (e && description) memcpy(description, &e->description, sizeof e->description);
    pthread_mutex_unlock(&lock);
    return e ? cudaSuccess : no_texture("cudaGetTextureObjectResourceDesc", handle);
}

void emu_drop_textures(int device) {
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < entry_count; i++) {
        entry *e = &atomic_load(&chunks[i / CHUNK])[i % CHUNK];
        if (e->device == device && atomic_load(&e->generation) % 2) retire(e);
    }
    for (array **at = &arrays; *at;) {
        array *a = *at;
        if (a->device != device) {
            at = &a->next;
            continue;
        }
        *at = a->next; // its memory is freed with all of the device's memory
        free(a);
    }
    pthread_mutex_unlock(&lock);
}
