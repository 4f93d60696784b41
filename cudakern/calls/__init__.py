"""The path of a call from a function to a kernel: README.md says where to begin."""
