// The launches of split_product for pieces in bf16. The table is in matmul.cu.
#include "split_run.cuh"

namespace matmul {

run_split_product_of run_split_bf16_128, run_split_bf16_64;

int run_split_bf16_128(const split_operands &split, const split_product_operands &op, const ck_context *context,
                       ck_error *error) {
    return launch_split_product<split_bf16_128>(split, op, context, error);
}
int run_split_bf16_64(const split_operands &split, const split_product_operands &op, const ck_context *context,
                      ck_error *error) {
    return launch_split_product<split_bf16_64>(split, op, context, error);
}

} // namespace matmul
