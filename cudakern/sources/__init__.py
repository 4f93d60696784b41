"""Kernels as a textbook has them: source(plain=True), and diff."""
