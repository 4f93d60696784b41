#pragma once
struct AddLocal {
    float by;
    __device__ float operator()(float v) const { return v + by; }
};
