"""Queries of reviews: sketches, signals, decisions, and files known to be leaked."""
