"""Regrades: the rows, what each gave, which are in force, and what they change."""
