#include "image.hpp"
#include <algorithm>

Image::Image(int width, int height) : width_(width), height_(height), pixels_(width * height) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) pixels_[y * width + x] = (x - 20) * (x - 20) + (y - 15) * (y - 15) < 150 ? 200 : 50;
}

long Image::count(unsigned char value) const { return std::count(pixels_.begin(), pixels_.end(), value); }
