"""The program of a grader process: load a version, check, grade, run a metric.py."""
