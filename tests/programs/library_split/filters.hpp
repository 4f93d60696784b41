#pragma once
#include <cuda_runtime_api.h>

namespace filters {
void threshold(const unsigned char *in, unsigned char *out, int width, int height, int level, cudaStream_t stream = 0);
void erode(const unsigned char *in, unsigned char *out, int width, int height, cudaStream_t stream = 0);
} // namespace filters
