// Internal to the runtime: layouts of arrays in memory, and transfers of operands to the device and back.
#ifndef CK_OPERAND_H
#define CK_OPERAND_H

#include "state.h"

// --- layout.c ----------------------------------------------------------------------------------------------------
// A copy between host and device, outermost axis first: blocks of `run` bytes that are contiguous on both sides.
typedef struct ck_axis {
    int64_t length, host, device; // strides in bytes
} ck_axis;
typedef struct ck_blocks {
    size_t run; // 0: nothing to copy
    int axis_count;
    ck_axis axes[CK_MAX_DIMS + 1];
} ck_blocks;

// A copy of a host array without gaps, in which the axes have the order and the directions that they have in the
// array, so that both are traversed from their lowest addresses on. An axis with stride 0 takes the space of one
// element.
typedef struct ck_packing {
    ck_view view;     // of the copy, without its data
    int64_t first;    // the distance of its first element from its lowest address
    char *lowest;     // the array's lowest address
    ck_blocks blocks; // from lowest address to lowest address
    size_t bytes;     // of the copy
} ck_packing;

// Matrices in memory of the runtime, one after another. See the picture in layout.c.
typedef struct ck_stack {
    int64_t matrices, rows, padded_rows;
    size_t row_bytes, padded_row_bytes; // without and with padding
    size_t pitch, bytes;                // the distance between rows; the total size
} ck_stack;

// 1: rows are contiguous, and the distance between them is a multiple of the pitch.
int ck_view_rows_have_pitch(const ck_view *view, int pitch);
// The axes of a stack as one axis, without those of stride 0. Returns 0 if they do not lie so, or go backwards.
int ck_view_stack_axis(const ck_view *view, int64_t *length, int64_t *stride);
// 1: a variant that needs this layout can use the array on the device without a copy.
int ck_layout_holds(const ck_layout *layout, const ck_view *view, int is_output);
// Determines the memory of an array with that layout, and sets the strides of the view, whose shape and type are
// already set. `kept` is a mask of the axes with stride 0, which take the space of one element. by_columns: 1 to
// store the matrices by columns.
int ck_layout_place(const ck_layout *layout, unsigned kept, int by_columns, int number, ck_view *view,
                    ck_stack *stack, ck_error *error);
// Determines the blocks of a copy, with axes merged if the layouts on both sides allow it.
void ck_blocks_between(const ck_view *host, const ck_view *device, ck_blocks *blocks);
// The largest distance between two rows that every version of CUDA accepts. Beyond it, rows are copied one by one.
enum { CK_LONGEST_PITCH = INT32_MAX };
// The longest axis that one call can copy; each other axis multiplies the number of calls by its length. -1: none.
int ck_blocks_axis(const ck_blocks *blocks);
void ck_view_pack(const ck_view *host, ck_packing *packing);

// --- pieces.c ----------------------------------------------------------------------------------------------------
int ck_pieces_are_many(const ck_blocks *blocks); // 1: a copy of these is faster by way of a block of host memory
// 1: so is this host array, which the packing then describes.
int ck_pieces_of(const ck_view *array, const ck_device *device, ck_packing *packing);
int ck_pieces_allocate(const ck_packing *packing, char **block, ck_error *error);
void ck_pieces_copy(const ck_packing *packing, char *block, int gather); // gather: to the block; else from it

// --- operand.c ---------------------------------------------------------------------------------------------------
// An operand of a call: the caller's array, and the view of it on the device that the kernel uses.
//
//   array on the host   [--gather--> block] --copy--> landed [--pack--> device]
//   array on the device                               ------ [--pack--> device]
//
// It is gathered if it lies in many pieces, and packed if the kernel needs another layout. Results go the other way.
typedef struct ck_operand {
    const ck_view *array; // the caller's, or `seen`
    ck_view seen;         // its gathered copy, or its elements as one axis
    ck_view *device;
    ck_device *owner; // of the memory on the device
    int on_host, is_packed;
    ck_view landed;   // for host arrays: the copy on the device, before it is packed
    char *lowest;     // for host arrays: where the blocks begin
    int64_t first;    // the distance of the first element from the beginning of the copy
    int is_in_pieces; // 1: it is gathered, and `lowest` lies as if the gathered copy were at packing.lowest
    ck_packing packing;
    char *block;         // NULL: nothing is gathered yet
    ck_block copy, pack; // the memory of the copy, and of the packed array
    ck_stack copied, packed;
    ck_blocks blocks;
} ck_operand;

// Determines sizes and strides, without allocating memory and without access to the array. `device` is `array`
// without its data; it becomes the view that the kernel receives (with data, for an array on a device that is not
// packed). `number`, from 0, is for messages.
int ck_operand_layout(ck_operand *operand, ck_device *owner, const ck_view *array, int on_host, int is_output,
                      int number, const ck_layout *layout, ck_view *device, ck_error *error);
int ck_operand_allocate(ck_operand *operand, cudaStream_t stream, ck_error *error);
int ck_operand_clear(const ck_operand *operand, const ck_context *context, ck_error *error); // an output, before run
int ck_operand_bring(ck_operand *operand, const ck_context *context, ck_error *error);       // an input, with margins
int ck_operand_unpack(const ck_operand *operand, const ck_context *context, ck_error *error); // an output, after run
int ck_operand_fetch(ck_operand *operand, cudaStream_t stream, ck_error *error);              // then back to the host
void ck_operand_scatter(const ck_operand *operand); // once the stream has ended
void ck_operand_free(ck_operand *operand, cudaStream_t stream, ck_error *error);
// Enqueues the copies of the blocks, through the ring if that is faster. `kind` is for CUDA's own copies.
int ck_blocks_copy(ck_device *owner, const ck_blocks *blocks, char *host, char *device, int to_device,
                   enum cudaMemcpyKind kind, cudaStream_t stream, ck_error *error);
int64_t ck_operand_bytes(const ck_operand *operand); // the bytes that a copy between host and device moves

#endif
