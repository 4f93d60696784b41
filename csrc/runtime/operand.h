// Inside the runtime: how arrays lie in memory, and an operand's way to the device and back.
#ifndef CK_OPERAND_H
#define CK_OPERAND_H

#include "state.h"

// --- layout.c ----------------------------------------------------------------------------------------------------
// A copy between host and device, outermost axis first: blocks of `run` bytes without gaps on either side.
typedef struct ck_axis {
    int64_t length, host, device; // strides in bytes
} ck_axis;
typedef struct ck_blocks {
    size_t run; // 0: nothing to copy
    int axis_count;
    ck_axis axes[CK_MAX_DIMS + 1];
} ck_blocks;

// Matrices in memory of ours, one after another. See the picture in layout.c.
typedef struct ck_stack {
    int64_t matrices, rows, padded_rows;
    size_t row_bytes, padded_row_bytes; // a row is filled up to the latter
    size_t pitch, bytes;                // from row to row; of all
} ck_stack;

// 1: an array on the device can be used as it is by a variant that asks for this layout.
int ck_layout_holds(const ck_layout *layout, const ck_view *view, int is_output);
// Memory for an array with that layout: fills the view's strides (its shape and type are there already). `kept` is a
// mask of the axes that have stride 0: one element, however long they are. by_columns: rows and columns change places.
int ck_layout_place(const ck_layout *layout, unsigned kept, int by_columns, int number, ck_view *view,
                    ck_stack *stack, ck_error *error);
// Merges axes where both sides allow.
void ck_blocks_between(const ck_view *host, const ck_view *device, ck_blocks *blocks);

// --- operand.c ---------------------------------------------------------------------------------------------------
// An operand of a call: the caller's array, and where the kernel finds it on the device.
//
//   given, on the host    --copy-->  landed  --pack, where the layout needs it-->  device
//   given, on the device  -----------------  --pack, where the layout needs it-->  device
typedef struct ck_operand {
    const ck_view *given;
    ck_view *device;
    int on_host, is_packed;
    ck_view landed;      // of host arrays that are packed
    ck_block copy, pack; // memory of ours: of what is copied from or to the host, of what is packed
    ck_stack copied, packed;
    ck_blocks blocks;
} ck_operand;

// Sizes and strides, without memory. `device` is `given` without its data, and becomes the view that the kernel gets (of
// an array on a device with its data, unless it is packed). `number` counts from 0, for messages.
int ck_operand_layout(ck_operand *operand, const ck_view *given, int on_host, int is_output, int number,
                      const ck_layout *layout, ck_view *device, ck_error *error);
int ck_operand_allocate(ck_operand *operand, ck_device *device, cudaStream_t stream, ck_error *error);
int ck_operand_clear(const ck_operand *operand, const ck_context *context, ck_error *error); // an output, before run
int ck_operand_bring(const ck_operand *operand, const ck_context *context, ck_error *error); // an input, with margins
int ck_operand_unpack(const ck_operand *operand, const ck_context *context, ck_error *error); // an output, after run
int ck_operand_fetch(const ck_operand *operand, cudaStream_t stream, ck_error *error);        // then back to the host
void ck_operand_free(ck_operand *operand, ck_device *device, cudaStream_t stream, ck_error *error);
int64_t ck_operand_bytes(const ck_operand *operand); // that a copy between host and device moves

#endif
