// Texture bindings: a CUDA array and a texture object for each input that a variant reads as a texture, filled in the
// stream of the call.
//
//   call --acquire--> [array, object] --copy in the stream--> run --mark in the stream--> kept for the next call
//
// Arrays do not come from a pool, and freeing one waits for the device. Therefore arrays and their objects are kept
// for later calls with the same shape, type and modes. A use waits, on the device, for the mark of the previous use.
// A call prefers a texture that was last used in its stream. If there is none, it creates one, but no more than ALIKE
// of a kind, so that few streams wait for each other. At most MOST textures and MOST_BYTES are kept: a call that
// creates one beyond these limits frees the texture that was unused for longest, which waits. ck_runtime_trim frees
// all of them.
//
// Invariants: only one call at a time holds a texture; the lock protects the list, and no CUDA function is called
// while it is held.
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "bindings.h"
#include "memory.h"

enum { ALIKE = 4, MOST = 16 };
static const size_t MOST_BYTES = (size_t)256 << 20;

struct ck_texture {
    ck_texture_plan plan;
    int dtype, axes;
    struct cudaExtent extent; // 0 rows or planes: fewer axes
    cudaArray_t array;
    cudaTextureObject_t object;
    size_t bytes;
    ck_mark *last;       // recorded after the last use; NULL: not in use
    cudaStream_t stream; // the stream of the last use; if CUDA reuses the handle, that costs at most a wait
    uint64_t number;     // of the last use
    int held;
    ck_texture *next;
};

struct ck_textures {
    pthread_mutex_t lock;
    ck_texture *kept;
    uint64_t number;
};

int ck_textures_create(ck_device *device, ck_error *error) {
    device->textures = calloc(1, sizeof *device->textures);
    if (device->textures != NULL && pthread_mutex_init(&device->textures->lock, NULL) == 0) return CK_OK;
    free(device->textures);
    device->textures = NULL;
    return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for a device's list of textures");
}

// --- one texture -------------------------------------------------------------------------------------------------
static int destroy(ck_device *device, ck_texture *texture, ck_error *error) {
    if (texture->last != NULL) {
        (void)backend_settle(); // leaves errors of kernels to the callers that wait for them
        ck_mark_drop(device, texture->last);
    }
    if (texture->object != 0) CK_RELEASE(error, cudaDestroyTextureObject(texture->object));
    if (texture->array != NULL) CK_RELEASE(error, cudaFreeArray(texture->array));
    free(texture);
    return error->code;
}

static void destroy_all(ck_device *device, ck_texture *texture) {
    ck_error ignored = {0};
    for (ck_texture *next; texture != NULL; texture = next) {
        next = texture->next;
        destroy(device, texture, &ignored);
    }
}

static int channels_of(int dtype, int count, struct cudaChannelFormatDesc *channels, ck_error *error) {
    const int bits = 8 * (int)ck_dtype_size(dtype), several = count > 1 ? bits : 0, four = count > 2 ? bits : 0;
    enum cudaChannelFormatKind kind = cudaChannelFormatKindNone;
    switch (dtype) {
    case CK_FLOAT16:
    case CK_FLOAT32: kind = cudaChannelFormatKindFloat; break;
    case CK_INT8:
    case CK_INT16:
    case CK_INT32: kind = cudaChannelFormatKindSigned; break;
    case CK_UINT8:
    case CK_UINT16:
    case CK_UINT32: kind = cudaChannelFormatKindUnsigned; break;
    default:
        return ck_fail(
            error, CK_NOT_SUPPORTED,
            "a texture cannot have elements of type %s, only 16-bit and 32-bit floats and integers of up to 32 bits",
            ck_dtype_name(dtype));
    }
    *channels = cudaCreateChannelDesc(bits, several, four, four, kind);
    return CK_OK;
}

static int make_array(ck_device *device, ck_texture *texture, ck_error *error) {
    struct cudaChannelFormatDesc channels;
    cudaError_t code;
    CK_TRY(channels_of(texture->dtype, texture->plan.channels, &channels, error));
    if (CK_CUDA_CODE(code, cudaMalloc3DArray(&texture->array, &channels, texture->extent, cudaArrayDefault)) ==
        cudaSuccess)
        return CK_OK;
    texture->array = NULL;
    ck_fail_cuda(error, code, "cudaMalloc3DArray(&array, &channels, extent, cudaArrayDefault)");
    if (code != cudaErrorMemoryAllocation) return error->code;
    // Freed blocks in the pool and unused textures may occupy enough memory: return them, and try once more.
    size_t total;
    error->bytes = texture->bytes;
    if (cudaMemGetInfo(&error->bytes_free, &total) != cudaSuccess || error->bytes_free >= error->bytes)
        return error->code; // a failure that a test requested
    if (ck_pool_give_back(device) != cudaSuccess ||
        cudaMalloc3DArray(&texture->array, &channels, texture->extent, cudaArrayDefault) != cudaSuccess) {
        (void)cudaGetLastError();
        texture->array = NULL;
        return error->code;
    }
    (void)cudaGetLastError();
    memset(error, 0, sizeof *error);
    return CK_OK;
}

static int make(ck_device *device, ck_texture *texture, ck_error *error) {
    struct cudaResourceDesc resource;
    struct cudaTextureDesc description;
    CK_TRY(make_array(device, texture, error));
    memset(&resource, 0, sizeof resource);
    memset(&description, 0, sizeof description);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = texture->array;
    for (int i = 0; i < 3; i++) description.addressMode[i] = texture->plan.address;
    description.filterMode = texture->plan.filter;
    description.readMode = texture->plan.read;
    description.normalizedCoords = texture->plan.normalized;
    CK_CUDA(error, cudaCreateTextureObject(&texture->object, &resource, &description, NULL));
    return CK_OK;
}

// --- the list ----------------------------------------------------------------------------------------------------
static int same_kind(const ck_texture *a, const ck_texture *b) {
    return a->dtype == b->dtype && a->axes == b->axes && a->extent.width == b->extent.width &&
           a->extent.height == b->extent.height && a->extent.depth == b->extent.depth &&
           a->plan.address == b->plan.address && a->plan.filter == b->plan.filter &&
           a->plan.normalized == b->plan.normalized && a->plan.channels == b->plan.channels &&
           a->plan.read == b->plan.read;
}

// An existing texture that may be used now; NULL: create one.
static ck_texture *take(struct ck_textures *textures, const ck_texture *model, cudaStream_t stream) {
    ck_texture *match = NULL;
    int alike = 0;
    pthread_mutex_lock(&textures->lock);
    for (ck_texture *at = textures->kept; at != NULL; at = at->next) {
        if (!same_kind(at, model)) continue;
        alike++;
        if (at->held) continue;
        if (match == NULL || (match->stream != stream && (at->stream == stream || at->number < match->number)))
            match = at;
    }
    if (match != NULL && match->stream != stream && alike < ALIKE) match = NULL;
    if (match != NULL) match->held = 1;
    pthread_mutex_unlock(&textures->lock);
    return match;
}

// Removes the texture that was unused for longest from the list, if `bytes` more would exceed the limits.
static ck_texture *take_surplus(struct ck_textures *textures, size_t bytes) {
    ck_texture **oldest = NULL, *surplus = NULL;
    int count = 1;
    pthread_mutex_lock(&textures->lock);
    for (ck_texture **at = &textures->kept; *at != NULL; at = &(*at)->next) {
        count++;
        bytes += (*at)->bytes;
        if (!(*at)->held && (oldest == NULL || (*at)->number < (*oldest)->number)) oldest = at;
    }
    if (oldest != NULL && (count > MOST || bytes > MOST_BYTES)) {
        surplus = *oldest;
        *oldest = surplus->next;
        surplus->next = NULL;
    }
    pthread_mutex_unlock(&textures->lock);
    return surplus;
}

void ck_textures_trim(ck_device *device) {
    struct ck_textures *textures = device->textures;
    ck_texture *gone = NULL;
    pthread_mutex_lock(&textures->lock);
    for (ck_texture **at = &textures->kept; *at != NULL;) {
        ck_texture *texture = *at;
        if (texture->held) {
            at = &texture->next;
            continue;
        }
        *at = texture->next;
        texture->next = gone;
        gone = texture;
    }
    pthread_mutex_unlock(&textures->lock);
    destroy_all(device, gone);
}

void ck_textures_destroy(ck_device *device) {
    if (device->textures == NULL) return;
    destroy_all(device, device->textures->kept);
    pthread_mutex_destroy(&device->textures->lock);
    free(device->textures);
    device->textures = NULL;
}

static int acquire(ck_device *device, const ck_texture *model, cudaStream_t stream, ck_texture **acquired,
                   ck_error *error) {
    struct ck_textures *textures = device->textures;
    *acquired = take(textures, model, stream);
    if (*acquired != NULL) return CK_OK;
    for (ck_texture *surplus; (surplus = take_surplus(textures, model->bytes)) != NULL;)
        CK_TRY(destroy(device, surplus, error));
    ck_texture *fresh = malloc(sizeof *fresh);
    if (fresh == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the record of a texture");
    *fresh = *model;
    if (make(device, fresh, error) != CK_OK) {
        destroy(device, fresh, error);
        return error->code;
    }
    fresh->held = 1;
    pthread_mutex_lock(&textures->lock);
    fresh->next = textures->kept;
    textures->kept = fresh;
    pthread_mutex_unlock(&textures->lock);
    *acquired = fresh;
    return CK_OK;
}

// --- a call ------------------------------------------------------------------------------------------------------
static int copy_in(const ck_texture *texture, const ck_view *view, cudaStream_t stream, ck_error *error) {
    const size_t parts = texture->plan.channels > 0 ? (size_t)texture->plan.channels : 1;
    const size_t row = texture->extent.width * parts * ck_dtype_size(texture->dtype);
    const size_t rows = texture->extent.height > 0 ? texture->extent.height : 1;
    if (texture->axes < 3) {
        CK_CUDA(error, cudaMemcpy2DToArrayAsync(texture->array, 0, 0, view->data, row, row, rows,
                                                cudaMemcpyDeviceToDevice, stream));
        return CK_OK;
    }
    struct cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = (struct cudaPitchedPtr){view->data, row, texture->extent.width, rows};
    copy.dstArray = texture->array;
    copy.extent = texture->extent;
    copy.kind = cudaMemcpyDeviceToDevice;
    CK_CUDA(error, cudaMemcpy3DAsync(&copy, stream));
    return CK_OK;
}

int ck_texture_acquire(ck_held *held, ck_bound *bound, ck_error *error) {
    const ck_texture_plan *plan = &held->binding->of.texture;
    const ck_view *view = held->view;
    const int axes = view->ndim - (plan->channels > 0);
    ck_texture model = {.plan = *plan, .dtype = view->dtype, .axes = axes}, *texture;
    if (axes < 1 || axes > 3 || ck_view_is_empty(view))
        return ck_fail(error, CK_BAD_VALUE,
                       "operand %d has %d axes%s, but a texture must have 1 to 3 axes, none of them empty",
                       held->binding->view, axes, ck_view_is_empty(view) ? ", one of them empty" : "");
    model.extent.width = (size_t)view->shape[axes - 1];
    model.extent.height = axes > 1 ? (size_t)view->shape[axes - 2] : 0;
    model.extent.depth = axes > 2 ? (size_t)view->shape[0] : 0;
    model.bytes = (size_t)ck_view_bytes(view);
    CK_TRY(acquire(held->device, &model, held->stream, &texture, error));
    held->resource = texture;
    bound->texture = texture->object;
    if (texture->last != NULL) {
        CK_CUDA(error, cudaStreamWaitEvent(held->stream, texture->last->event, 0));
        ck_mark_drop(held->device, texture->last); // the stream comes after the mark, and records its own at the end
        texture->last = NULL;
    }
    return copy_in(texture, view, held->stream, error);
}

int ck_texture_release(ck_held *held, ck_error *error) {
    ck_texture *texture = held->resource;
    struct ck_textures *textures = held->device->textures;
    ck_mark *mark =
        texture->last; // not NULL: this call failed before it used the texture, so the previous mark remains valid
    int status = CK_OK;
    if (mark == NULL) status = ck_mark_record(held->device, held->stream, &mark, error);
    if (status != CK_OK) (void)backend_settle(); // no work without a mark may remain unfinished
    pthread_mutex_lock(&textures->lock);
    texture->last = mark;
    texture->stream = held->stream;
    texture->number = ++textures->number;
    texture->held = 0;
    pthread_mutex_unlock(&textures->lock);
    return status;
}
