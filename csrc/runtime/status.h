// Status codes and the macro around every call of the CUDA runtime.
//
// A function that can fail returns an int: CK_OK, a cudaError_t (positive), or one of the codes below (negative). The
// message is written to a ck_error that the caller owns; the first failure is kept. Codes are passed up the stack;
// csrc/python/errors.c is the only file that converts them to Python exceptions.
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
    CK_INTERRUPTED = -4,    // a signal handler raised an exception, which is already set
    CK_NOT_SUPPORTED = -5,  // NotImplementedError: this backend or chip does not support the type or the variant
};

typedef struct ck_error {
    int code;           // CK_OK until a call fails
    char message[2048]; // the value that was passed, what is allowed, and how to fix the call
    size_t bytes;       // for a failed allocation: its size
    size_t bytes_free;  // for a failed allocation: the free memory
} ck_error;

// Resets the error. (It is large, so the rest of the message is not cleared.)
static inline void ck_error_clear(ck_error *error) {
    error->code = CK_OK;
    error->bytes = error->bytes_free = 0;
    error->message[0] = '\0';
}

// Writes the message (printf style) unless it already has that of an earlier failure; returns `code`.
CK_EXPORTED int ck_fail(ck_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Writes the message for a cudaError_t: its name, its description, and details from the backend.
CK_EXPORTED int ck_fail_cuda(ck_error *error, cudaError_t code, const char *call);

// The code with which a test requested this call to fail, otherwise 0. Counts every guarded call.
CK_EXPORTED cudaError_t ck_injected_fault(const char *call);

// Every call of the CUDA runtime goes through this macro. The error message then contains the call, and a test can
// make the call fail.
#define CK_CUDA(error, call)                                                                                         \
    do {                                                                                                             \
        cudaError_t ck_code_ = ck_injected_fault(#call);                                                             \
        if (ck_code_ == cudaSuccess) ck_code_ = (call);                                                              \
        if (ck_code_ != cudaSuccess) {                                                                               \
            ck_fail_cuda((error), ck_code_, #call);                                                                  \
            (void)cudaGetLastError(); /* each library has its own CUDA runtime, which keeps its last error */        \
            return ck_code_;                                                                                         \
        }                                                                                                            \
    } while (0)

// For functions of this package, which return a status and have written the error.
#define CK_TRY(call)                                                                                                 \
    do {                                                                                                             \
        int ck_status_ = (call);                                                                                     \
        if (ck_status_ != CK_OK) return ck_status_;                                                                  \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
