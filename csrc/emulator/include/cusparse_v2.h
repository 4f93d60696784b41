// Refused by name: one error in place of hundreds.
#error the emulator has no cuSPARSE (cusparse_v2.h): run this program on a GPU
