"""Facts about chips and devices: README.md says where to begin."""
