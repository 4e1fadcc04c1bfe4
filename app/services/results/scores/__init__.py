"""Scores of attempts on a scale that competitions share, and their summaries."""
