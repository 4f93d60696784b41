// Error messages, and failures that tests request.
//
// The static variables are the only mutable ones of the runtime. ck_injected_fault has no runtime to keep them in,
// because launches of kernels call it too. They are atomic, and a test that sets them must be alone in its process.
// ck_fail has no runtime either: failures are counted for all devices.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "state.h"

static atomic_llong fault_after; // > 0: the call that fails is this many guarded calls away
static atomic_int fault_code;
static atomic_llong guarded_calls;
static atomic_uint failures;
// The thread whose last failure was requested, so that CUDA does not know of it. (Not a thread-local variable: see
// order.c.)
static atomic_ullong requested_by;

void ck_fault_set(int64_t n, int code) {
    atomic_store(&fault_code, code);
    atomic_store(&guarded_calls, 0);
    atomic_store(&fault_after, n);
}

int64_t ck_fault_count(void) {
    return atomic_load(&guarded_calls);
}

static int forget_request(void) { // whether there was one
    unsigned long long self = (unsigned long long)pthread_self();
    return atomic_load(&requested_by) == self && atomic_compare_exchange_strong(&requested_by, &self, 0);
}

cudaError_t ck_injected_fault(const char *call) {
    (void)call;
    forget_request();
    atomic_fetch_add(&guarded_calls, 1);
    if (atomic_load(&fault_after) <= 0 || atomic_fetch_sub(&fault_after, 1) != 1) return cudaSuccess;
    atomic_store(&requested_by, (unsigned long long)pthread_self());
    return (cudaError_t)atomic_load(&fault_code);
}

unsigned ck_failures(void) {
    return atomic_load(&failures);
}

int ck_fail(ck_error *error, int code, const char *format, ...) {
    if (ck_is_late(code) || code == CK_INTERRUPTED) atomic_fetch_add(&failures, 1);
    if (error->code != CK_OK) return code;
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}

int ck_is_late(int code) {
    switch (code) {
    case 214: // cudaErrorECCUncorrectable
    case 220: // cudaErrorNvlinkUncorrectable
    case 700: // cudaErrorIllegalAddress
    case 702: // cudaErrorLaunchTimeout
    case 709: // cudaErrorContextIsDestroyed
    case 710: // cudaErrorAssert
    case 714: // cudaErrorHardwareStackError
    case 715: // cudaErrorIllegalInstruction
    case 716: // cudaErrorMisalignedAddress
    case 717: // cudaErrorInvalidAddressSpace
    case 718: // cudaErrorInvalidPc
    case 719: // cudaErrorLaunchFailure
    case 721: // cudaErrorTensorMemoryLeak
    case 999: // cudaErrorUnknown
        return 1;
    default: return 0;
    }
}

// After such a failure, a GPU accepts no more work from the process: every call returns the failure. The code alone
// does not show this, since an emulated device continues to work, so this function calls the device in ways that do
// not wait.
static int is_lost(cudaError_t code) {
    size_t available, total;
    if (!ck_is_late((int)code)) return 0;
    const int lost = cudaMemGetInfo(&available, &total) != cudaSuccess || cudaFree(NULL) != cudaSuccess;
    (void)cudaGetLastError();
    return lost;
}

int ck_fail_cuda(ck_error *error, cudaError_t code, const char *call) {
    char detail[1024] = "";
    int lost = 0;
    if (forget_request()) {
        snprintf(detail, sizeof detail, "requested by inject_fault");
    } else {
        backend_error_detail(detail, sizeof detail);
        // CUDA keeps the error until it is read. It is reported here, so the next call must not report it again.
        (void)cudaGetLastError();
        lost = is_lost(code);
        if (code == cudaErrorInsufficientDriver && *detail == '\0')
            snprintf(detail, sizeof detail, "there is no NVIDIA driver, or it is too old for this build");
        if (code == cudaErrorInitializationError && *detail == '\0')
            snprintf(
                detail, sizeof detail,
                "after fork(), a child cannot use CUDA if its parent has used it: start the process with 'spawn'");
    }
    return ck_fail(
        error, (int)code, "%s (%d): %s%s%s. The call was %s%s", cudaGetErrorName(code), (int)code,
        cudaGetErrorString(code), *detail ? ": " : "", detail, call,
        lost ? ". The device's context is lost, so every further call on this device will fail in this process: "
               "restart the process"
             : "");
}
