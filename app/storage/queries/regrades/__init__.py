"""Regrades: their rows, their outcomes, which are in force, and what they change."""
