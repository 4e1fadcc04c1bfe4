"""Claim, grade and finish queued submissions."""
