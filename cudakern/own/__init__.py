"""Kernels of one's own: README.md says where to begin."""
