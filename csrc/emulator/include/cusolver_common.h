// Refused by name: one error in place of hundreds.
#error the emulator has no cuSOLVER (cusolver_common.h): run this program on a GPU
