// Refused by name: one error in place of hundreds.
#error the emulator has no OpenGL (cuda_gl_interop.h): run this program on a GPU
