#pragma once // what programs take from this header, which NVRTC does not have
#define FLT_MAX     3.402823466e+38F
#define FLT_MIN     1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX     1.7976931348623157e+308
#define DBL_MIN     2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
