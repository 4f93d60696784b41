// The older name of this header.
#include "nvtx3/nvToolsExt.h"
