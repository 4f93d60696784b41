"""The operations: README.md says where to begin."""
