// Refused by name: one error in place of hundreds.
#error the emulator has no cuSPARSE (cusparse.h): run this program on a GPU
