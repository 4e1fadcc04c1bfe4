"""Queries of operation: faults, secrets, grading environments, and which rows name a file."""
