"""Whole CUDA programs (`main`, `<<<>>>`, several files): compiled and run."""
