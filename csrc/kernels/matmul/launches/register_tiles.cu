// The launches of the variants whose threads compute several elements of C. The table is in matmul.cu.
#include "../ladder/12_column_tile.cuh"
#include "../ladder/13_register_tile.cuh"
#include "../ladder/14_vectorized.cuh"
#include "../ladder/15_double_buffered.cuh"

#include "common.cuh"

namespace matmul {

RUN_FLAT(column_tile, column_tile, with_float_type)
RUN_FLAT(register_tile, register_tile, with_float_type)

namespace {

// True if four neighbors along every row can be loaded at once.
bool rows_are_vectors(const ck_view &view) {
    bool vectors = reinterpret_cast<uintptr_t>(view.data) % 16 == 0 && stride(view, 1) == sizeof(float) &&
                   length(view, 1) % 4 == 0;
    for (int axis = 2; axis <= view.ndim; ++axis) vectors = vectors && stride(view, axis) % 16 == 0;
    return vectors;
}

} // namespace

CK_RUN(vectorized) {
    const bool vector = rows_are_vectors(call->views[0]) && rows_are_vectors(call->views[1]);
    return launch(vector ? vectorized<true> : vectorized<false>, "vectorized", first_operands<float, false>(call),
                  call, plan, context, error);
}

CK_RUN(double_buffered) {
    return with_directions(call, plan, [&](auto a_along_k, auto b_along_k) {
        return launch(double_buffered<decltype(a_along_k)::value, decltype(b_along_k)::value>, "double_buffered",
                      first_operands<float, false>(call), call, plan, context, error);
    });
}

} // namespace matmul
