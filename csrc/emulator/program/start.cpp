// What every whole program is linked with: it makes a shared library one that the system can run.
//
// The system finds the loader's name in the section .interp, and begins at _start of the C library's Scrt1.o. (As the
// header is included, the program also has the functions that give kernels a heap: device_memory.h.)
#include <cuda_runtime.h>

extern "C" __attribute__((section(".interp"), used)) const char emu_interpreter[] = EMULATOR_INTERPRETER;
