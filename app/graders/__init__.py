"""The grader processes: the only ones that decode answers or run a competition's metric.py."""
