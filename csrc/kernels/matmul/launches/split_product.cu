// The launches of split_product, the kernel of "split_fp16" and "split_bf16", for each size of tiles. The table is in
// matmul.cu.
#include "split.cuh"

namespace matmul {

// A map of all pieces of an operand; a box has 64 elements along k, box_lines lines and box_pieces pieces.
inline int split_map(tensor_map *map, const split_side &side, const split_operands &split, int pieces, int box_lines,
                     int box_pieces, ck_error *error) {
    const uint64_t line = static_cast<uint64_t>(split.pitch) * 2;
    const uint64_t lines = static_cast<uint64_t>(split_padded(side.lines));
    const tensor_map_shape shape = {2,
                                    3,
                                    {static_cast<uint64_t>(split.k), lines,
                                     static_cast<uint64_t>(pieces) * static_cast<uint64_t>(split.products)},
                                    {0, line, line * lines},
                                    {SLAB_DEPTH, static_cast<uint32_t>(box_lines), static_cast<uint32_t>(box_pieces)},
                                    SLAB_BYTES};
    const cudaError_t code = static_cast<cudaError_t>(tensor_map_make(map, side.pieces, &shape));
    return code == cudaSuccess ? static_cast<int>(CK_OK) : ck_fail_cuda(error, code, "split_product");
}

template <typename size>
int launch_split_product(const split_operands &split, const split_product_operands &op, const ck_context *context,
                         ck_error *error) {
    tensor_map a_map, b_map;
    CK_TRY(split_map(&a_map, split.side[0], split, size::PIECES, size::ROWS, size::PIECES, error));
    CK_TRY(split_map(&b_map, split.side[1], split, size::PIECES, size::COLUMNS / SPLIT_PAIR, 1, error));
    const auto kernel = op.k < SPLIT_LONG ? split_product<size, 2> : split_product<size, size::LONG_STEPS>;
    return ck_launch_early(SPLIT_PAIR, context, error, "split_product", kernel,
                           dim3(static_cast<unsigned>(SPLIT_PAIR * op.all.clusters)), dim3(size::THREADS),
                           size::SHARED_BYTES, a_map, b_map, op);
}

#define RUN_SPLIT_PRODUCT(size)                                                                                      \
    int run_##size(const split_operands &split, const split_product_operands &op, const ck_context *context,         \
                   ck_error *error) {                                                                                \
        return launch_split_product<size>(split, op, context, error);                                                \
    }

CK_UNIT(RUN_SPLIT_PRODUCT(split_fp16_208))
CK_UNIT(RUN_SPLIT_PRODUCT(split_fp16_128))
CK_UNIT(RUN_SPLIT_PRODUCT(split_fp16_64))
CK_UNIT(RUN_SPLIT_PRODUCT(split_bf16_128))
CK_UNIT(RUN_SPLIT_PRODUCT(split_bf16_64))

} // namespace matmul
