"""Grader processes: only they decode answers or run a competition's metric.py."""
