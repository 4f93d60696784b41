// Refused by name: one error in place of hundreds.
#error the emulator has no interface of cuBLAS before version 2 (cublas.h): include cublas_v2.h
