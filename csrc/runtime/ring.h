// Internal to the runtime: copies of large host arrays through page-locked memory.
#ifndef CK_RING_H
#define CK_RING_H

#include "operand.h"

// The settings of a device's ring; threads and page-locked memory are created at the first copy that uses them.
int ck_ring_create(ck_device *device, ck_error *error);
void ck_ring_destroy(ck_device *device);
// Ends the threads and frees the page-locked memory, until the next copy. The device must be current.
void ck_ring_trim(ck_device *device);
// 1: a copy of that many contiguous bytes from or to pageable memory uses the ring.
int ck_ring_takes(const ck_device *device, int64_t bytes);
// Copies the blocks between the host and the device, which must be current. A copy to the device comes after the work
// in the stream, and later work in the stream comes after the copy; on return, the host memory may be used again. A
// copy to the host is complete on return. Sets `copied` to 0, and does nothing, if another way is faster or the only
// one.
//
// Other threads' copies wait for this one. So before a copy to the device, wait for kernels in the stream.
int ck_ring_copy(ck_device *device, const ck_blocks *blocks, char *host, char *on_device, int to_device,
                 cudaStream_t stream, int *copied, ck_error *error);

// Copies pieces of `width` bytes with those distances between them, within host memory, by this thread.
void ck_copy_each(char *to, int64_t to_step, const char *from, int64_t from_step, size_t width, int64_t count);

#endif
