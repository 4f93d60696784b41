"""Measuring and comparing variants: README.md says where to begin."""
