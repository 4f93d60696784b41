// Names of CUDA objects for profilers: see nvToolsExt.h.
#include "nvToolsExt.h"
