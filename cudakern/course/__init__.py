"""The course: what its notebooks share, the answers to its exercises, and copies of it."""
