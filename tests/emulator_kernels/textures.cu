// Arrays and textures: reads of every kind, copies, and what is refused.
#include "kernels.h"

// How a texture is made, as Python passes it (tests/test_textures.py: Recipe has the same fields).
struct Recipe {
    int resource; // cudaResourceType
    int bits[4], kind;
    size_t width, height, depth; // elements
    size_t pitch;                // bytes, of pitched memory and of the source of a copy
    int address[3], linear, read_normalized, normalized;
    float border[4];
};

struct Texture {
    cudaArray_t array;
    cudaTextureObject_t object;
};

static cudaChannelFormatDesc channels_of(const Recipe *recipe) {
    const int *bits = recipe->bits;
    return cudaCreateChannelDesc(bits[0], bits[1], bits[2], bits[3], (cudaChannelFormatKind)recipe->kind);
}

static cudaTextureDesc description_of(const Recipe *recipe) {
    cudaTextureDesc description = {};
    for (int i = 0; i < 3; ++i) description.addressMode[i] = (cudaTextureAddressMode)recipe->address[i];
    for (int i = 0; i < 4; ++i) description.borderColor[i] = recipe->border[i];
    description.filterMode = recipe->linear ? cudaFilterModeLinear : cudaFilterModePoint;
    description.readMode = recipe->read_normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    description.normalizedCoords = recipe->normalized;
    return description;
}

ENTRY texture_free(Texture *texture) {
    int code = cudaDestroyTextureObject(texture->object);
    const int freed = cudaFreeArray(texture->array);
    *texture = {};
    return code ? code : freed;
}

// `data`: device memory that becomes the texture, or memory that is copied into an array.
ENTRY texture_make(Texture *texture, const Recipe *recipe, void *data, cudaStream_t stream) {
    const cudaChannelFormatDesc channels = channels_of(recipe);
    const cudaTextureDesc description = description_of(recipe);
    cudaResourceDesc resource = {};
    resource.resType = (cudaResourceType)recipe->resource;
    *texture = {};
    int code = 0;
    if (recipe->resource == cudaResourceTypeArray) {
        const cudaExtent extent = make_cudaExtent(recipe->width, recipe->height, recipe->depth);
        if (recipe->depth)
            code = cudaMalloc3DArray(&texture->array, &channels, extent);
        else
            code = cudaMallocArray(&texture->array, &channels, recipe->width, recipe->height);
        if (code) return code;
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(data, recipe->pitch, recipe->width, recipe->height ? recipe->height : 1);
        copy.dstArray = texture->array;
        copy.extent =
            make_cudaExtent(recipe->width, recipe->height ? recipe->height : 1, recipe->depth ? recipe->depth : 1);
        copy.kind = cudaMemcpyDeviceToDevice;
        code = cudaMemcpy3DAsync(&copy, stream);
        resource.res.array.array = texture->array;
    } else if (recipe->resource == cudaResourceTypeLinear) {
        resource.res.linear.devPtr = data;
        resource.res.linear.desc = channels;
        resource.res.linear.sizeInBytes = recipe->pitch;
    } else {
        resource.res.pitch2D.devPtr = data;
        resource.res.pitch2D.desc = channels;
        resource.res.pitch2D.width = recipe->width;
        resource.res.pitch2D.height = recipe->height;
        resource.res.pitch2D.pitchInBytes = recipe->pitch;
    }
    if (!code) code = cudaCreateTextureObject(&texture->object, &resource, &description, nullptr);
    if (code) cudaFreeArray(texture->array);
    return code;
}

// Element types by number, in test_textures.py's order.
template <typename T> struct is { using type = T; };
template <typename Visit> static int with_type(int type, Visit visit) {
    switch (type) {
    case 0: return visit(is<float>());
    case 1: return visit(is<float2>());
    case 2: return visit(is<float4>());
    case 3: return visit(is<int>());
    case 4: return visit(is<unsigned char>());
    case 5: return visit(is<uchar4>());
    case 6: return visit(is<short2>());
    default: return -1;
    }
}

template <typename T>
__global__ void read(cudaTextureObject_t texture, int axes, const float *at, int n, T *out) { // HERE: read
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *mine = at + 3 * i;
    if (axes == 0) out[i] = tex1Dfetch<T>(texture, (int)mine[0]);
    if (axes == 1) out[i] = tex1D<T>(texture, mine[0]);
    if (axes == 2) out[i] = tex2D<T>(texture, mine[0], mine[1]);
    if (axes == 3) out[i] = tex3D<T>(texture, mine[0], mine[1], mine[2]);
}
ENTRY run_read(const Shape *shape, const Texture *texture, int type, int axes, const float *at, int n, void *out) {
    return with_type(type, [&](auto kind) {
        using T = typename decltype(kind)::type;
        return launch(shape, read<T>, texture->object, axes, at, n, static_cast<T *>(out));
    });
}

ENTRY copy_2d_to_array(const Texture *texture, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                       size_t height, int kind, cudaStream_t stream) {
    if (stream)
        return cudaMemcpy2DToArrayAsync(texture->array, x, y, from, pitch, width, height, (cudaMemcpyKind)kind,
                                        stream);
    return cudaMemcpy2DToArray(texture->array, x, y, from, pitch, width, height, (cudaMemcpyKind)kind);
}
ENTRY array_to_memory(const Texture *texture, void *to, size_t pitch, size_t rows, size_t width, size_t height,
                      size_t depth, int kind) {
    cudaMemcpy3DParms copy = {};
    copy.srcArray = texture->array;
    copy.dstPtr = make_cudaPitchedPtr(to, pitch, width, rows);
    copy.extent = make_cudaExtent(width, height, depth);
    copy.kind = (cudaMemcpyKind)kind;
    return cudaMemcpy3D(&copy);
}
ENTRY array_info(const Texture *texture, int *bits, size_t *extent, unsigned *flags) {
    cudaChannelFormatDesc channels = {};
    cudaExtent size = {};
    const int code = cudaArrayGetInfo(&channels, &size, flags, texture->array);
    bits[0] = channels.x, bits[1] = channels.y, bits[2] = channels.z, bits[3] = channels.w, bits[4] = channels.f;
    extent[0] = size.width, extent[1] = size.height, extent[2] = size.depth;
    return code;
}
ENTRY texture_info(const Texture *texture, int *type, void **array) {
    cudaResourceDesc resource = {};
    const int code = cudaGetTextureObjectResourceDesc(&resource, texture->object);
    *type = resource.resType;
    *array = resource.res.array.array;
    return code;
}
ENTRY texture_of_nothing(const Recipe *recipe) {
    const cudaTextureDesc description = description_of(recipe);
    cudaTextureObject_t object;
    return cudaCreateTextureObject(&object, nullptr, &description, nullptr);
}
