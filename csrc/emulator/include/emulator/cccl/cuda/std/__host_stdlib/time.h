// CCCL refuses a <time.h> with macros; the emulator's clock() is one.
#ifndef EMULATOR_CCCL_TIME
#define EMULATOR_CCCL_TIME

#pragma push_macro("clock")
#undef clock
#include_next <cuda/std/__host_stdlib/time.h>
#pragma pop_macro("clock")

#endif
