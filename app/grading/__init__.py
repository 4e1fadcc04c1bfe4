"""Grading: checks the bytes of a submission and computes its score. Pure: no I/O."""
