"""The code of kernels: as it is written, as a textbook has it, and what a step changes."""
