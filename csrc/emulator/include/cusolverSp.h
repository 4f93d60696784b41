// Refused by name: one error in place of hundreds.
#error the emulator has no cuSOLVER (cusolverSp.h): run this program on a GPU
