// Refused by name: one error in place of hundreds.
#error the emulator has no nvJPEG (nvjpeg.h): run this program on a GPU
