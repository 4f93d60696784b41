#ifndef LAUNCH_H
#define LAUNCH_H
#ifdef __cplusplus
extern "C" {
#endif

int vector_square(const float *in, float *out, int n); /* 0, or CUDA's error code */
const char *vector_error(int code);

#ifdef __cplusplus
}
#endif
#endif
