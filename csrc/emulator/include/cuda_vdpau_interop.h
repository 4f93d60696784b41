// Refused by name: one error in place of hundreds.
#error the emulator has no VDPAU (cuda_vdpau_interop.h): run this program on a GPU
