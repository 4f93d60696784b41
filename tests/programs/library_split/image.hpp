#pragma once
#include <cstddef>
#include <vector>

class Image {
    int width_, height_;
    std::vector<unsigned char> pixels_;

public:
    Image(int width, int height);
    int width() const { return width_; }
    int height() const { return height_; }
    std::size_t size() const { return pixels_.size(); }
    unsigned char *data() { return pixels_.data(); }
    long count(unsigned char value) const;
};
