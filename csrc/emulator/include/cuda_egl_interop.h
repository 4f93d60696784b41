// Refused by name: one error in place of hundreds.
#error the emulator has no EGL (cuda_egl_interop.h): run this program on a GPU
