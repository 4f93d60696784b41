// Copies and fills: rows of bytes, checked against the allocations that they access, moved in the stream's order.
//
//   linear: one row      two dimensions: `height` rows, each `pitch` bytes after the previous one
#define _GNU_SOURCE
#include "host.h"
#include "region.h"
#include "tools.h"

#include <string.h>

enum { SMALL_COPY = 64 << 10 };

typedef struct rectangle {
    char *to;
    const char *from; // NULL: fill with `value`
    size_t to_pitch, from_pitch, width, height;
    int host_waits;
    unsigned value, unit;      // the value's bytes: 1, 2 or 4
    unsigned long long stream; // for tools.c; 0: nobody watched when it was queued
} rectangle;

static void move_rows(void *data) {
    rectangle r = *(rectangle *)data;
    emu_tool_copy(&(emu_copy_event){.to = r.to,
                                    .from = r.from,
                                    .to_pitch = r.to_pitch,
                                    .from_pitch = r.from_pitch,
                                    .width = r.width,
                                    .height = r.height,
                                    .value = (int)r.value,
                                    .stream = r.stream,
                                    .order = emu_tool_running(),
                                    .host_waits = r.host_waits});
    if (!r.from && r.unit > 1 && r.value != (r.value & 255) * (r.unit == 2 ? 0x101u : 0x1010101u)) {
        for (size_t row = 0; row < r.height; row++)
            for (size_t i = 0; i < r.width; i += r.unit) memcpy(r.to + row * r.to_pitch + i, &r.value, r.unit);
        return;
    }
    if (r.to_pitch == r.width && (!r.from || r.from_pitch == r.width)) { // contiguous: copy as one row
        r.width *= r.height;
        r.height = 1;
    }
    for (size_t row = 0; row < r.height; row++) {
        if (r.from)
            memmove(r.to + row * r.to_pitch, r.from + row * r.from_pitch, r.width);
        else
            memset(r.to + row * r.to_pitch, (int)(r.value & 255), r.width);
    }
}

// Checks one end of a copy: it must lie within one allocation and be device memory if the copy's kind requires that.
// Device memory is accepted where the kind specifies host memory, as on a GPU with unified addresses.
static int check_end(const char *call, const char *end, const void *pointer, size_t pitch, size_t width,
                     size_t height, int must_be_device, const char *advice, int *pageable) {
    size_t extent;
    if (!pointer) return emu_error(cudaErrorInvalidValue, "%s: the %s is NULL", call, end);
    if (__builtin_mul_overflow(height - 1, pitch, &extent) || __builtin_add_overflow(extent, width, &extent))
        return emu_error(cudaErrorInvalidValue, "%s: %zu rows with a pitch of %zu bytes exceed the address space",
                         call, height, pitch);
    emu_allocation within;
    if (!emu_find_allocation(pointer, &within)) {
        *pageable = 1;
        if (!must_be_device) return cudaSuccess;
        return emu_error(cudaErrorInvalidValue, "%s: the %s %p must be device memory, but it %s%s", call, end,
                         pointer, emu_region_explain(pointer), advice);
    }
    size_t left = within.bytes - ((uintptr_t)pointer - within.base);
    if (within.dying) return emu_error(cudaErrorInvalidValue, "%s: the %s %p has been freed", call, end, pointer);
    if (extent > left)
        return emu_error(
            cudaErrorInvalidValue,
            "%s: %zu bytes at the %s %p; only %zu bytes remain from there in the allocation of %zu bytes at %p", call,
            extent, end, pointer, left, within.bytes, (void *)within.base);
    return cudaSuccess;
}

static int submit(rectangle *r, int pageable, void *stream, int async) {
    if (!async) stream = NULL;
    if (emu_tool_is_there()) emu_stream_id(stream, &r->stream);
    // The caller may reuse pageable memory as soon as the call returns, so the copy is made before that.
    emu_manner manner = pageable || !async                           ? EMU_HERE
                        : r->width * r->height <= (size_t)SMALL_COPY ? EMU_EITHER
                                                                     : EMU_LATER;
    return emu_submit(stream, move_rows, r, sizeof *r, manner, 0);
}

// The code is the same as on a GPU: 12 for a copy of several rows, else 1.
static int check_pitch(int code, const char *call, const char *end, size_t pitch, size_t width, size_t height) {
    if (pitch >= width || height < 1) return cudaSuccess;
    return emu_error(height > 1 ? code : cudaErrorInvalidValue,
                     "%s: the %s's pitch is %zu bytes, less than a row's width of %zu", call, end, pitch, width);
}

// Of a copy that takes the host's memory for the device's, and the other way round.
static const char *other_direction(const void *to, const void *from, int to_device, int from_device) {
    emu_allocation within;
    const int is_to = emu_find_allocation(to, &within), is_from = emu_find_allocation(from, &within);
    if (to_device && !from_device && !is_to && is_from)
        return "; the source is device memory: to copy from there to the host, use cudaMemcpyDeviceToHost, "
               "to copy to the device, write the device's pointer first";
    if (from_device && !to_device && is_to && !is_from)
        return "; the destination is device memory: to copy to there from the host, use cudaMemcpyHostToDevice, "
               "to copy to the host, write the host's pointer first";
    return "";
}

int emu_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
             void *stream, int async) {
    const char *call = async ? "cudaMemcpyAsync" : "cudaMemcpy";
    int device, code = emu_stream_device(stream, &device), pageable = 0;
    if (code) return code;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return emu_error(cudaErrorInvalidMemcpyDirection, "%s: %d is not a cudaMemcpyKind", call, kind);
    if ((code = check_pitch(cudaErrorInvalidPitchValue, call, "destination", to_pitch, width, height))) return code;
    if ((code = check_pitch(cudaErrorInvalidPitchValue, call, "source", from_pitch, width, height))) return code;
    int to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    int from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const emu_capture_calls *capture = async ? emu_capturing() : NULL;
    if (capture) {
        struct cudaGraphNodeParams node = {.type = cudaGraphNodeTypeMemcpy};
        node.memcpy.copyParams = (struct cudaMemcpy3DParms){
            .dstPtr = {to, to_pitch, width, height},
            .srcPtr = {(void *)(uintptr_t)from, from_pitch, width, height},
            .extent = {width, height, 1},
            .kind = (enum cudaMemcpyKind)kind,
        };
        if (capture->node(stream, &node, NULL, 0, &code)) return code;
    }
    if (width && height) {
        const char *advice = other_direction(to, from, to_device, from_device);
        code = check_end(call, "destination", to, to_pitch, width, height, to_device, advice, &pageable);
        const int host_waits = !async || pageable; // for what is written to pageable memory, the host waits
        if (!code) code = check_end(call, "source", from, from_pitch, width, height, from_device, advice, &pageable);
        if (code) return code;
        rectangle r = {.to = to,
                       .from = from,
                       .to_pitch = to_pitch,
                       .from_pitch = from_pitch,
                       .width = width,
                       .height = height,
                       .host_waits = host_waits};
        code = submit(&r, pageable, stream, async);
        if (!code && host_waits) emu_tell_waited(async ? stream : NULL);
    }
    if (async) return code;
    emu_print_flush();
    return code ? code : emu_collect(NULL); // a synchronous copy reports the errors of earlier work
}

// For copies between devices: each end must be memory of the given device.
static int check_peer(const char *call, const char *end, const void *pointer, size_t bytes, int device) {
    int pageable = 0, code = check_end(call, end, pointer, bytes, bytes, 1, 1, "", &pageable);
    emu_allocation within;
    if (code || !emu_find_allocation(pointer, &within) || within.device == device) return code;
    if (within.device < 0)
        return emu_error(cudaErrorInvalidValue, "%s: the %s %p must be memory of device %d, but it is host memory",
                         call, end, pointer, device);
    return emu_error(cudaErrorInvalidValue,
                     "%s: the %s %p must be memory of device %d, but it is memory of device %d", call, end, pointer,
                     device, within.device);
}

int emu_copy_peer(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream, int async) {
    const char *call = async ? "cudaMemcpyPeerAsync" : "cudaMemcpyPeer";
    int device, code = emu_stream_device(stream, &device);
    if (!code) code = emu_check_device(to_device, call);
    if (!code) code = emu_check_device(from_device, call);
    if (code || !bytes) return code;
    if ((code = check_peer(call, "destination", to, bytes, to_device))) return code;
    if ((code = check_peer(call, "source", from, bytes, from_device))) return code;
    if (!async) { // as in CUDA, the copy runs after all earlier work of both devices
        emu_wait_idle(to_device);
        emu_wait_idle(from_device);
    }
    rectangle r = {.to = to, .from = from, .to_pitch = bytes, .from_pitch = bytes, .width = bytes, .height = 1};
    return submit(&r, 0, stream, async);
}

int emu_set(void *to, size_t pitch, int value, size_t width, size_t height, void *stream, int async) {
    return emu_set_elements(to, pitch, (unsigned)value & 255, 1, width, height, stream, async);
}

int emu_set_elements(void *to, size_t pitch, unsigned value, unsigned unit, size_t width, size_t height, void *stream,
                     int async) {
    const char *call = async ? "cudaMemsetAsync" : "cudaMemset";
    int device, code = emu_stream_device(stream, &device), pageable = 0;
    if (code || !width || !height) return code;
    const emu_capture_calls *capture = async ? emu_capturing() : NULL;
    struct cudaGraphNodeParams node = {.type = cudaGraphNodeTypeMemset,
                                       .memset = {to, pitch, value, unit, width, height}};
    if (capture && capture->node(stream, &node, NULL, 0, &code)) return code;
    if ((uintptr_t)to % unit || (height > 1 && pitch % unit))
        return emu_error(cudaErrorInvalidValue, "%s: elements of %u bytes at %p with a pitch of %zu are misaligned",
                         call, unit, to, pitch);
    width *= unit;
    if ((code = check_pitch(cudaErrorInvalidValue, call, "destination", pitch, width, height))) return code;
    if ((code = check_end(call, "destination", to, pitch, width, height, 1, "", &pageable))) return code;
    rectangle r = {.to = to, .to_pitch = pitch, .width = width, .height = height, .value = value, .unit = unit};
    code = submit(&r, 0, stream, async);
    emu_memory_event memory; // of memory that the host can access, the host waits for the fill
    if (!code && !async && emu_tool_is_there() && emu_memory_at(to, &memory) && memory.kind != EMU_MEMORY_DEVICE)
        emu_tell_waited(NULL);
    return code;
}
