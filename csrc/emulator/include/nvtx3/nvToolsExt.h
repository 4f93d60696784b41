// NVIDIA's marks and ranges for profilers: the emulator has tools of its own, so these do nothing.
#ifndef NVTX_EMULATOR_H
#define NVTX_EMULATOR_H

#include <stdint.h>

typedef uint64_t nvtxRangeId_t;
static inline __attribute__((unused)) int nvtxRangePushA(const char *name) {
    (void)name;
    return 0;
}
static inline __attribute__((unused)) int nvtxRangePop(void) {
    return 0;
}
static inline __attribute__((unused)) void nvtxMarkA(const char *name) {
    (void)name;
}
static inline __attribute__((unused)) nvtxRangeId_t nvtxRangeStartA(const char *name) {
    (void)name;
    return 0;
}
static inline __attribute__((unused)) void nvtxRangeEnd(nvtxRangeId_t range) {
    (void)range;
}
#define nvtxRangePush  nvtxRangePushA
#define nvtxMark       nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA

#endif
