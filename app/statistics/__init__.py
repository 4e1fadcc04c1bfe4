"""Statistics of grades: pure functions on frozen values, without I/O."""
