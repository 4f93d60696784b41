// The launches of split_product for pieces in fp16. The table is in matmul.cu.
#include "split_run.cuh"

namespace matmul {

run_split_product_of run_split_fp16_208, run_split_fp16_128, run_split_fp16_64;

int run_split_fp16_208(const split_operands &split, const split_product_operands &op, const ck_context *context,
                       ck_error *error) {
    return launch_split_product<split_fp16_208>(split, op, context, error);
}
int run_split_fp16_128(const split_operands &split, const split_product_operands &op, const ck_context *context,
                       ck_error *error) {
    return launch_split_product<split_fp16_128>(split, op, context, error);
}
int run_split_fp16_64(const split_operands &split, const split_product_operands &op, const ck_context *context,
                      ck_error *error) {
    return launch_split_product<split_fp16_64>(split, op, context, error);
}

} // namespace matmul
