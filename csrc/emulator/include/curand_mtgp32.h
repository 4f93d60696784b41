// Refused by name: one error in place of hundreds.
#error the emulator has no generator MTGP32 of cuRAND (curand_mtgp32.h): run this program on a GPU
