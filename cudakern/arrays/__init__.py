"""Arrays on the device: README.md says where to begin."""
