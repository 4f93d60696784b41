// The only way to launch a kernel:
//
//     CK_TRY(ck_launch(context, error, "tiled", tiled<float, 16>, grid, block, shared_bytes, a, lda, ...));
//
// Most variants enqueue one kernel over the grid of their plan, for the type of the elements. RUN defines such a run
// function, and CK_RUN writes the head of any other:
//
//     RUN(naive, with_any_type, naive<T>, input<T>(call, 0), output<T>(call), length(call))
//
// Arguments are converted to the types of the kernel's parameters, as in a call. The launch goes to
// context->launcher, which runs it, times it, or lists it. The name must be in static storage: a failure may appear
// much later, and its message then lists the names of the outstanding launches.
#ifndef CK_LAUNCH_CUH
#define CK_LAUNCH_CUH

#include <string.h>

#include <tuple>
#include <utility>

#include <cuda_runtime.h>

#include "call.h"
#include "tensor_map.h"

// An error code to return to cudakern's runtime, which uses another instance of the CUDA runtime. This instance's
// last error is cleared, so that a later call does not report it.
inline int ck_answer(cudaError_t code) {
    if (code != cudaSuccess) (void)cudaGetLastError();
    return static_cast<int>(code);
}

template <typename... Expected, size_t... I>
void ck_addresses(std::tuple<Expected...> &values, void **addresses, std::index_sequence<I...>) {
    (void)values;
    ((addresses[I] = const_cast<void *>(static_cast<const volatile void *>(&std::get<I>(values)))), ...);
}

struct ck_launch_kind {
    int cooperative, cluster, early; // as in ck_launch_plan
};

template <typename... Expected, typename... Actual>
int ck_launch_with(const ck_launch_kind &kind, const ck_context *context, ck_error *error, const char *name,
                   void (*kernel)(Expected...), dim3 grid, dim3 block, size_t shared_bytes, Actual &&...arguments) {
    std::tuple<Expected...> values(std::forward<Actual>(arguments)...);
    void *addresses[sizeof...(Expected) + 1];
    static constexpr int sizes[] = {static_cast<int>(sizeof(Expected))..., 0};
    ck_addresses(values, addresses, std::index_sequence_for<Expected...>());
    ck_launch_plan launch = {name,
                             nullptr,
                             {grid.x, grid.y, grid.z},
                             {block.x, block.y, block.z},
                             shared_bytes,
                             kind.cooperative,
                             kind.cluster,
                             kind.early,
                             addresses,
                             sizes,
                             nullptr,
                             nullptr};
    const int code =
        ck_answer(cudaGetKernel(&launch.kernel, kernel)); // a test makes it fail together with the launch
    if (code != cudaSuccess) return ck_fail_cuda(error, static_cast<cudaError_t>(code), name);
    return context->launcher->launch(context->launcher, &launch, context->stream, error);
}

template <typename... Expected, typename... Actual>
int ck_launch(const ck_context *context, ck_error *error, const char *name, void (*kernel)(Expected...), dim3 grid,
              dim3 block, size_t shared_bytes, Actual &&...arguments) {
    return ck_launch_with({0, 0, 0}, context, error, name, kernel, grid, block, shared_bytes,
                          std::forward<Actual>(arguments)...);
}

// All blocks are resident at once, so they may wait for each other (grid-wide barrier).
template <typename... Expected, typename... Actual>
int ck_launch_cooperative(const ck_context *context, ck_error *error, const char *name, void (*kernel)(Expected...),
                          dim3 grid, dim3 block, size_t shared_bytes, Actual &&...arguments) {
    return ck_launch_with({1, 0, 0}, context, error, name, kernel, grid, block, shared_bytes,
                          std::forward<Actual>(arguments)...);
}

// In clusters of that many blocks along x, which share their memory (cluster.cuh).
template <typename... Expected, typename... Actual>
int ck_launch_cluster(int cluster, const ck_context *context, ck_error *error, const char *name,
                      void (*kernel)(Expected...), dim3 grid, dim3 block, size_t shared_bytes,
                      Actual &&...arguments) {
    return ck_launch_with({0, cluster, 0}, context, error, name, kernel, grid, block, shared_bytes,
                          std::forward<Actual>(arguments)...);
}

// A launch that follows another one of the same call. Its blocks may begin when those of the launch before have all
// called let_next_grid_begin() or ended, and wait in wait_for_grid_before() (device_extras.cuh), which each thread
// calls before it touches global memory. For compute capability 9.0 and later. cluster: 0 or as above.
template <typename... Expected, typename... Actual>
int ck_launch_early(int cluster, const ck_context *context, ck_error *error, const char *name,
                    void (*kernel)(Expected...), dim3 grid, dim3 block, size_t shared_bytes, Actual &&...arguments) {
    return ck_launch_with({0, cluster, 1}, context, error, name, kernel, grid, block, shared_bytes,
                          std::forward<Actual>(arguments)...);
}

// Kernels that a library of the toolkit launches: enqueue(stream) returns a cudaError_t. Grid and block are only
// reported.
template <typename Enqueue>
int ck_launch_library(const ck_context *context, ck_error *error, const char *name, dim3 grid, dim3 block,
                      Enqueue enqueue) {
    const auto library = [](void *closure, cudaStream_t stream) -> int {
        return ck_answer((*static_cast<Enqueue *>(closure))(stream));
    };
    const ck_launch_plan launch = {
        name,    nullptr, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, 0, 0, 0, 0, nullptr, nullptr,
        library, &enqueue};
    return context->launcher->launch(context->launcher, &launch, context->stream, error);
}

// To bind a __constant__ variable: ck_bind_symbol(CK_SYMBOL(table), view).
#define CK_SYMBOL(variable)                                                                                          \
    [](void **address, size_t *bytes) -> int {                                                                       \
        const cudaError_t code = cudaGetSymbolAddress(address, variable);                                            \
        return ck_answer(code == cudaSuccess ? cudaGetSymbolSize(bytes, variable) : code);                           \
    }

inline ck_binding ck_bind_symbol(int (*find)(void **address, size_t *bytes), int view) {
    ck_binding binding = {CK_BIND_SYMBOL, view, {}};
    binding.of.symbol.find = find;
    return binding;
}

inline ck_binding ck_bind_texture(const ck_texture_plan &texture, int view) {
    ck_binding binding = {CK_BIND_TEXTURE, view, {}};
    binding.of.texture = texture;
    return binding;
}

inline ck_binding ck_bind_tensor_map(const ck_tensor_map_plan &map, int view) {
    ck_binding binding = {CK_BIND_TENSOR_MAP, view, {}};
    binding.of.tensor_map = map;
    return binding;
}
inline tensor_map ck_bound_map(const ck_bound &bound) {
    tensor_map map;
    static_assert(sizeof map == sizeof bound.tensor_map, "a map has 128 bytes");
    memcpy(&map, bound.tensor_map, sizeof map);
    return map;
}

inline dim3 ck_dim3(const unsigned sizes[3]) {
    return dim3(sizes[0], sizes[1], sizes[2]);
}

// An input by its index, and the output, which comes after the inputs.
template <typename T> const T *input(const ck_call *call, int view) {
    return static_cast<const T *>(call->views[view].data);
}
template <typename T> T *output(const ck_call *call) {
    return static_cast<T *>(call->views[call->view_count - 1].data);
}

#define CK_RUN(variant)                                                                                              \
    int run_##variant([[maybe_unused]] const ck_call *call, [[maybe_unused]] const ck_plan *plan,                    \
                      [[maybe_unused]] const ck_context *context, [[maybe_unused]] ck_error *error)

// `with` is a visitor from types.cuh, and T is the type that it visits. A kernel that contains a comma must be in
// parentheses. RUN_NAMED is for a kernel whose name differs from the variant's.
#define RUN(variant, with, kernel, ...) RUN_NAMED(variant, #variant, with, kernel, __VA_ARGS__)
#define RUN_NAMED(variant, name, with, kernel, ...)                                                                  \
    CK_RUN(variant) {                                                                                                \
        return with(call, error, [&](auto element) {                                                                 \
            using T [[maybe_unused]] = decltype(element);                                                            \
            return ck_launch(context, error, name, kernel, ck_dim3(plan->grid), ck_dim3(plan->block),                \
                             plan->shared_bytes, __VA_ARGS__);                                                       \
        });                                                                                                          \
    }

// What a build may compile by itself: a line CK_UNIT(...) in a .cu becomes a unit of compilation of its own, which
// begins with all that stands before the first such line (setup.py). A compiler that gets the whole file compiles all
// of them.
#ifndef CK_UNIT
#define CK_UNIT(...) __VA_ARGS__
#endif

#endif
