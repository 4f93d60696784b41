// CUDA's mathematical constants, except for the parts of constants (.._HI, .._LO) that only its own library uses.
#ifndef __MATH_CONSTANTS_H__
#define __MATH_CONSTANTS_H__

#define CUDART_INF_F            __int_as_float(0x7f800000)
#define CUDART_NAN_F            __int_as_float(0x7fffffff)
#define CUDART_MIN_DENORM_F     __int_as_float(0x00000001)
#define CUDART_MAX_NORMAL_F     __int_as_float(0x7f7fffff)
#define CUDART_NEG_ZERO_F       (-0.0f)
#define CUDART_ZERO_F           0.0f
#define CUDART_ONE_F            1.0f
#define CUDART_SQRT_HALF_F      0.707106781f
#define CUDART_SQRT_TWO_F       1.414213562f
#define CUDART_THIRD_F          0.333333333f
#define CUDART_PIO4_F           0.785398163f
#define CUDART_PIO2_F           1.570796327f
#define CUDART_3PIO4_F          2.356194490f
#define CUDART_2_OVER_PI_F      0.636619772f
#define CUDART_SQRT_2_OVER_PI_F 0.797884561f
#define CUDART_PI_F             3.141592654f
#define CUDART_L2E_F            1.442695041f
#define CUDART_L2T_F            3.321928094f
#define CUDART_LG2_F            0.301029996f
#define CUDART_LGE_F            0.434294482f
#define CUDART_LN2_F            0.693147181f
#define CUDART_LNT_F            2.302585093f
#define CUDART_LNPI_F           1.144729886f
#define CUDART_TWO_TO_M126_F    1.175494351e-38f
#define CUDART_TWO_TO_126_F     8.507059173e37f
#define CUDART_NORM_HUGE_F      3.402823466e38f
#define CUDART_TWO_TO_23_F      8388608.0f
#define CUDART_TWO_TO_24_F      16777216.0f
#define CUDART_TWO_TO_31_F      2147483648.0f
#define CUDART_TWO_TO_32_F      4294967296.0f

#define CUDART_INF          __longlong_as_double(0x7ff0000000000000ll)
#define CUDART_NAN          __longlong_as_double(0xfff8000000000000ull)
#define CUDART_MIN_DENORM   __longlong_as_double(1)
#define CUDART_NEG_ZERO     (-0.0)
#define CUDART_ZERO         0.0
#define CUDART_ONE          1.0
#define CUDART_SQRT_TWO     1.4142135623730951
#define CUDART_SQRT_HALF    0.70710678118654757
#define CUDART_THIRD        0.33333333333333333
#define CUDART_TWOTHIRD     0.66666666666666667
#define CUDART_PIO4         0.78539816339744828
#define CUDART_PIO2         1.5707963267948966
#define CUDART_3PIO4        2.3561944901923448
#define CUDART_2_OVER_PI    0.63661977236758138
#define CUDART_PI           3.1415926535897931
#define CUDART_SQRT_2PI     2.5066282746310007
#define CUDART_SQRT_PIO2    1.2533141373155003
#define CUDART_SQRT_2OPI    0.79788456080286536
#define CUDART_L2E          1.4426950408889634
#define CUDART_L2T          3.3219280948873622
#define CUDART_LG2          0.30102999566398120
#define CUDART_LGE          0.43429448190325182
#define CUDART_LN2          0.69314718055994529
#define CUDART_LNT          2.3025850929940459
#define CUDART_LNPI         1.1447298858494002
#define CUDART_TWO_TO_23    8388608.0
#define CUDART_TWO_TO_52    4503599627370496.0
#define CUDART_TWO_TO_53    9007199254740992.0
#define CUDART_TWO_TO_54    18014398509481984.0
#define CUDART_TWO_TO_M54   5.5511151231257827e-17
#define CUDART_TWO_TO_M1022 2.2250738585072014e-308

#endif
