"""Queries about the noise of scores."""
