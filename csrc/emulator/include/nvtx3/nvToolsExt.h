// NVIDIA's marks and ranges for profilers: the emulator has tools of its own, so these do nothing.
#ifndef NVTX_EMULATOR_H
#define NVTX_EMULATOR_H

#include <stdint.h>

#define NVTX_VERSION                  3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
enum { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum { NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1 };
enum { NVTX_PAYLOAD_UNKNOWN = 0, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1 };
typedef struct nvtxEventAttributes_t {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
    } payload;
    int32_t messageType;
    union {
        const char *ascii;
    } message;
} nvtxEventAttributes_t;

#define EMU_NVTX(result, name, parameters, ...)                                                                      \
    static inline __attribute__((unused)) result name parameters {                                                   \
        __VA_ARGS__;                                                                                                 \
    }
EMU_NVTX(int, nvtxRangePushA, (const char *name), (void)name; return 0)
EMU_NVTX(int, nvtxRangePushEx, (const nvtxEventAttributes_t *attributes), (void)attributes; return 0)
EMU_NVTX(int, nvtxRangePop, (void), return 0)
EMU_NVTX(void, nvtxMarkA, (const char *name), (void)name)
EMU_NVTX(nvtxRangeId_t, nvtxRangeStartA, (const char *name), (void)name; return 0)
EMU_NVTX(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *attributes), (void)attributes; return 0)
EMU_NVTX(void, nvtxRangeEnd, (nvtxRangeId_t range), (void)range)
EMU_NVTX(void, nvtxNameOsThreadA, (uint32_t thread, const char *name), (void)thread; (void)name)
EMU_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, (const char *name), (void)name; return 0)
EMU_NVTX(void, nvtxDomainDestroy, (nvtxDomainHandle_t domain), (void)domain)
EMU_NVTX(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes),
         (void)domain;
         (void)attributes; return 0)
EMU_NVTX(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), (void)domain; return 0)
#undef EMU_NVTX
#define nvtxRangePush    nvtxRangePushA
#define nvtxMark         nvtxMarkA
#define nvtxRangeStart   nvtxRangeStartA
#define nvtxDomainCreate nvtxDomainCreateA

#endif
