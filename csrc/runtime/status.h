// Status codes and the one macro around every runtime call.
//
// A function that can fail returns an int: CK_OK, a cudaError_t as CUDA numbers it (positive), or one of our own
// codes (negative). The words go into a ck_error that the caller owns; the first failure written wins. Codes travel
// up; csrc/python/errors.c is the one place where they become Python exceptions.
#ifndef CK_STATUS_H
#define CK_STATUS_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

// Functions of the runtime that sets of kernels call: the extension module exports them.
#define CK_EXPORTED __attribute__((visibility("default")))

enum {
    CK_OK = 0,
    CK_BAD_TYPE = -1,       // TypeError: a type that the variant does not list
    CK_BAD_VALUE = -2,      // ValueError: a parameter, a shape, a name
    CK_NO_HOST_MEMORY = -3, // MemoryError
    CK_INTERRUPTED = -4,    // a signal handler raised: the exception is already set
    CK_NOT_SUPPORTED = -5,  // NotImplementedError: the type or the variant is not for this backend or chip
};

typedef struct ck_error {
    int code;           // CK_OK until something failed
    char message[2048]; // what was given, what is allowed, what to do
    size_t bytes;       // allocation that failed: the size asked for
    size_t bytes_free;  // and what was free
} ck_error;

// An error without a failure. (It is large: what no failure has written is not cleared.)
static inline void ck_error_clear(ck_error *error) {
    error->code = CK_OK;
    error->bytes = error->bytes_free = 0;
    error->message[0] = '\0';
}

// Writes the message (printf style) unless an earlier failure is there already; returns `code`.
CK_EXPORTED int ck_fail(ck_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Turns a cudaError_t into a filled ck_error: name, description, and what the backend knows beyond the code.
CK_EXPORTED int ck_fail_cuda(ck_error *error, cudaError_t code, const char *call);

// Nonzero when a test asked for this call to fail: then the code to fail with. Counts every guarded call.
CK_EXPORTED cudaError_t ck_injected_fault(const char *call);

// Every call of the CUDA runtime goes through this: it names the call in the error, and a test can make it fail.
#define CK_CUDA(error, call)                                                                                         \
    do {                                                                                                             \
        cudaError_t ck_code_ = ck_injected_fault(#call);                                                             \
        if (ck_code_ == cudaSuccess) ck_code_ = (call);                                                              \
        if (ck_code_ != cudaSuccess) {                                                                               \
            ck_fail_cuda((error), ck_code_, #call);                                                                  \
            (void)cudaGetLastError(); /* each library has a CUDA runtime of its own, which keeps the error */        \
            return ck_code_;                                                                                         \
        }                                                                                                            \
    } while (0)

// For our own functions that return a status and have filled the error already.
#define CK_TRY(call)                                                                                                 \
    do {                                                                                                             \
        int ck_status_ = (call);                                                                                     \
        if (ck_status_ != CK_OK) return ck_status_;                                                                  \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
