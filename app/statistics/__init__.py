"""From grades to numbers one can defend: pure functions on frozen values, no I/O."""
