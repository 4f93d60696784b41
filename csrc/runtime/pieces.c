// Host arrays that lie in many small pieces, which are copied between these and one block of host memory.
//
//   array with gaps --gather, by this thread--> block without gaps --one copy--> device, and back (scatter)
//
// CUDA copies many pieces one by one, which takes longer. The threads of a ring gather large arrays by themselves.
#include <stdlib.h>
#include <string.h>

#include "operand.h"
#include "ring.h"

// Shorter runs of bytes, and more calls for smaller pieces, take longer than this copy.
enum { LONG_RUN = 256, FEW_CALLS = 64, LARGE_PIECE = 1 << 16 };

int ck_pieces_are_many(const ck_blocks *blocks) {
    const int axis = ck_blocks_axis(blocks);
    int64_t runs = 1;
    for (int i = 0; i < blocks->axis_count; i++) runs *= blocks->axes[i].length;
    const int64_t calls = axis < 0 ? runs : runs / blocks->axes[axis].length, run = (int64_t)blocks->run;
    return runs > 1 && (run < LONG_RUN || (calls > FEW_CALLS && run * runs < calls * LARGE_PIECE));
}

int ck_pieces_of(const ck_view *array, const ck_device *device, ck_packing *packing) {
    if (ck_view_is_contiguous(array)) return 0;
    ck_view_pack(array, packing);
    return ck_pieces_are_many(&packing->blocks) && !ck_ring_takes(device, (int64_t)packing->bytes);
}

int ck_pieces_allocate(const ck_packing *packing, char **block, ck_error *error) {
    *block = malloc(packing->bytes);
    return *block != NULL ? CK_OK
                          : ck_fail(error, CK_NO_HOST_MEMORY,
                                    "not enough host memory to copy an array with gaps: %zu bytes", packing->bytes);
}

static void copy(const ck_blocks *blocks, int axis, char *array, char *block, int gather) {
    const ck_axis *on = &blocks->axes[axis];
    if (axis == blocks->axis_count - 1) {
        if (gather)
            ck_copy_each(block, on->device, array, on->host, blocks->run, on->length);
        else
            ck_copy_each(array, on->host, block, on->device, blocks->run, on->length);
        return;
    }
    for (int64_t i = 0; i < on->length; i++)
        copy(blocks, axis + 1, array + i * on->host, block + i * on->device, gather);
}

void ck_pieces_copy(const ck_packing *packing, char *block, int gather) {
    copy(&packing->blocks, 0, packing->lowest, block, gather); // several pieces lie along one axis at least
}
