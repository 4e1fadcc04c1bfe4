"""Grading, one submission after another: by a loop of the server, or on other machines."""
