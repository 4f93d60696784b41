// The one way to launch a kernel:
//
//     CK_TRY(ck_launch(context, error, "tiled", tiled<float, 16>, grid, block, shared_bytes, a, lda, ...));
//
// Most variants enqueue one kernel over their plan's grid, for the type of the elements. RUN writes such a run, and
// CK_RUN the head of any other:
//
//     RUN(naive, with_any_type, naive<T>, input<T>(call, 0), output<T>(call), length(call))
//
// Arguments are converted to the kernel's own parameter types, as a call would. The launch goes to context->launcher,
// which runs it, times it, or lists it. The name must be of static storage: a failure may show much later, and is then
// told with what was outstanding.
#ifndef CK_LAUNCH_CUH
#define CK_LAUNCH_CUH

#include <tuple>
#include <utility>

#include <cuda_runtime.h>

#include "call.h"

// A code for the runtime, which has another CUDA runtime of its own: this one need not keep it for whoever asks next.
inline int ck_answer(cudaError_t code) {
    if (code != cudaSuccess) (void)cudaGetLastError();
    return static_cast<int>(code);
}

template <typename... Expected, size_t... I>
void ck_addresses(std::tuple<Expected...> &values, void **addresses, std::index_sequence<I...>) {
    (void)values;
    ((addresses[I] = const_cast<void *>(static_cast<const volatile void *>(&std::get<I>(values)))), ...);
}

template <typename... Expected, typename... Actual>
int ck_launch_with(bool cooperative, const ck_context *context, ck_error *error, const char *name,
                   void (*kernel)(Expected...), dim3 grid, dim3 block, size_t shared_bytes, Actual &&...arguments) {
    std::tuple<Expected...> values(std::forward<Actual>(arguments)...);
    void *addresses[sizeof...(Expected) + 1];
    ck_addresses(values, addresses, std::index_sequence_for<Expected...>());
    ck_launch_plan launch = {
        name,    nullptr, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, cooperative, addresses,
        nullptr, nullptr};
    const int code = ck_answer(cudaGetKernel(&launch.kernel, kernel)); // a test lets it fail together with the launch
    if (code != cudaSuccess) return ck_fail_cuda(error, static_cast<cudaError_t>(code), name);
    return context->launcher->launch(context->launcher, &launch, context->stream, error);
}

template <typename... Expected, typename... Actual>
int ck_launch(const ck_context *context, ck_error *error, const char *name, void (*kernel)(Expected...), dim3 grid,
              dim3 block, size_t shared_bytes, Actual &&...arguments) {
    return ck_launch_with(false, context, error, name, kernel, grid, block, shared_bytes,
                          std::forward<Actual>(arguments)...);
}

// All blocks resident at once, so that they may wait for each other (grid-wide sync).
template <typename... Expected, typename... Actual>
int ck_launch_cooperative(const ck_context *context, ck_error *error, const char *name, void (*kernel)(Expected...),
                          dim3 grid, dim3 block, size_t shared_bytes, Actual &&...arguments) {
    return ck_launch_with(true, context, error, name, kernel, grid, block, shared_bytes,
                          std::forward<Actual>(arguments)...);
}

// What a library of the toolkit launches by itself: enqueue(stream) gives a cudaError_t. Grid and block are for reports.
template <typename Enqueue>
int ck_launch_library(const ck_context *context, ck_error *error, const char *name, dim3 grid, dim3 block,
                      Enqueue enqueue) {
    const auto library = [](void *closure, cudaStream_t stream) -> int {
        return ck_answer((*static_cast<Enqueue *>(closure))(stream));
    };
    const ck_launch_plan launch = {
        name, nullptr, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, 0, 0, nullptr, library, &enqueue};
    return context->launcher->launch(context->launcher, &launch, context->stream, error);
}

// A binding of the variable: ck_bind_symbol(CK_SYMBOL(table), view).
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

inline dim3 ck_dim3(const unsigned sizes[3]) {
    return dim3(sizes[0], sizes[1], sizes[2]);
}

// Inputs by their number; the output comes after them.
template <typename T> const T *input(const ck_call *call, int view) {
    return static_cast<const T *>(call->views[view].data);
}
template <typename T> T *output(const ck_call *call) {
    return static_cast<T *>(call->views[call->view_count - 1].data);
}

#define CK_RUN(variant)                                                                                              \
    int run_##variant([[maybe_unused]] const ck_call *call, [[maybe_unused]] const ck_plan *plan,                    \
                      [[maybe_unused]] const ck_context *context, [[maybe_unused]] ck_error *error)

// `with` is a visitor of types.cuh, and T the type that it visits. A kernel with a comma stands in brackets.
// RUN_NAMED: where the kernel has another name than the variant.
#define RUN(variant, with, kernel, ...) RUN_NAMED(variant, #variant, with, kernel, __VA_ARGS__)
#define RUN_NAMED(variant, name, with, kernel, ...)                                                                  \
    CK_RUN(variant) {                                                                                                \
        return with(call, error, [&](auto element) {                                                                 \
            using T [[maybe_unused]] = decltype(element);                                                            \
            return ck_launch(context, error, name, kernel, ck_dim3(plan->grid), ck_dim3(plan->block),                \
                             plan->shared_bytes, __VA_ARGS__);                                                       \
        });                                                                                                          \
    }

#endif
