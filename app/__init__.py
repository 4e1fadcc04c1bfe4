"""Podium: a grading service for AI agents that do machine-learning engineering."""

__version__ = "0.8.0"
