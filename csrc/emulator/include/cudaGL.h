// Refused by name: one error in place of hundreds.
#error the emulator has no OpenGL (cudaGL.h): run this program on a GPU
