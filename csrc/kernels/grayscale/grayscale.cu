// grayscale: 0.21 r + 0.72 g + 0.07 b of each pixel of a picture. The launches and the table of the ladder; each
// kernel is in a file of its own.
//
// Begin with pixels.cuh and naive.cuh and follow the table. Views: the picture, (height, width, 3 or 4) of bytes, and
// the gray picture, (height, width). Both may have any strides: nothing is packed beforehand.
#include "naive.cuh"
#include "blocks_2d.cuh"
#include "vectorized.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace grayscale {
namespace {

int64_t side(const ck_view &view, int axis) {
    return axis < view.ndim ? view.shape[axis] : 1;
}
int64_t pixels(const ck_call *call) {
    return product(side(call->views[0], 0), side(call->views[0], 1));
}

int check_shapes(const ck_call *call, ck_error *error) {
    const ck_view &image = call->views[0], &gray = call->views[1];
    if (image.ndim != 3 || (image.shape[2] != 3 && image.shape[2] != 4))
        return ck_fail(error, CK_BAD_VALUE, "the picture must have shape (height, width, 3) or (height, width, 4)");
    if (gray.ndim != 2 || gray.shape[0] != image.shape[0] || gray.shape[1] != image.shape[1])
        return ck_fail(error, CK_BAD_VALUE, "the gray picture must have the height and width of the picture");
    return CK_OK;
}

int plan_blocks(const ck_call *call, ck_plan *plan, ck_error *error, int64_t blocks) {
    CK_TRY(check_shapes(call, error));
    CK_TRY(plan_row(call, plan, error, blocks, call->parameters[0]));
    for (int i = 0; i < call->view_count; ++i) plan->layout[i].contiguous = 0;
    return CK_OK;
}

int plan_naive(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_blocks(call, plan, error, divide_up(pixels(call), call->parameters[0]));
}

int plan_blocks_2d(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t square = call->parameters[0];
    CK_TRY(plan_blocks(call, plan, error, divide_up(side(call->views[0], 1), square)));
    const int64_t down = smaller(divide_up(side(call->views[0], 0), square), call->limits->max_grid[1]);
    plan->grid[1] = static_cast<unsigned>(down > 0 ? down : 1);
    plan->block[1] = static_cast<unsigned>(square);
    return CK_OK;
}

int plan_vectorized(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_blocks(call, plan, error, blocks_for_chip(call, fours_of(pixels(call)), call->parameters[0]));
}

picture picture_of(const ck_call *call) {
    const ck_view &image = call->views[0], &gray = call->views[1];
    return {static_cast<const uint8_t *>(image.data),
            image.strides[0],
            image.strides[1],
            image.strides[2],
            static_cast<uint8_t *>(gray.data),
            gray.strides[0],
            gray.strides[1],
            image.shape[0],
            image.shape[1]};
}

// Rows that follow each other without a gap in both pictures are treated as one row.
picture as_one_row(picture image) {
    if (image.row_stride == image.width * image.column_stride &&
        image.gray_row_stride == image.width * image.gray_column_stride) {
        image.width *= image.height;
        image.height = 1;
    }
    return image;
}

RUN(naive, with_only<uint8_t>, naive, picture_of(call))
RUN(blocks_2d, with_only<uint8_t>, blocks_2d, picture_of(call))
RUN(vectorized, with_only<uint8_t>, call->views[0].shape[2] == 3 ? vectorized<3> : vectorized<4>,
    as_one_row(picture_of(call)))

// Three products and two sums per pixel; the division rounds.
void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(pixels(call));
    work->flops = 5 * n;
    work->bytes = n * static_cast<double>(side(call->views[0], 2) + 1);
}

#define CK_FOLDER "grayscale/"
#define SIDE      CHOICE(side, "threads per side of a block", 16, 8, 32)

const ck_variant variants[] = {
    VARIANT(naive, FIRST, AT_LEAST(60), TYPES(SAME(UINT8)), NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS),
            roundings<1>, KERNELS("naive"), "One thread per pixel, in a one-dimensional grid",
            "A one-dimensional grid needs a division to find the row", "P7"),
    VARIANT(blocks_2d, AFTER(naive), AT_LEAST(60), TYPES(SAME(UINT8)), NONE, CK_DETERMINISTIC, PARAMETERS(SIDE),
            roundings<1>, KERNELS("blocks_2d"),
            "One thread per pixel in square blocks: simpler indices, not faster here",
            "A two-dimensional grid fits two-dimensional data; check both edges", "P7"),
    VARIANT(vectorized, AFTER(blocks_2d), AT_LEAST(60), TYPES(SAME(UINT8)), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), roundings<1>, KERNELS("vectorized"),
            "Four pixels per thread, loaded as whole words",
            "Load words and extract the bytes: byte loads are too small to keep memory busy", "T6, P11"),
};

} // namespace
} // namespace grayscale

CK_OPERATION(grayscale, "The luminance of each pixel of an image", 1, 1)
