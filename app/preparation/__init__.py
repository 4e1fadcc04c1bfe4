"""Raw files for a prepare.py, and from a table to a competition: split, metric, leaks."""
