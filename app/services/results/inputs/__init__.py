"""The attempts that statistics count: read, filtered and kept for one or several experiments."""
