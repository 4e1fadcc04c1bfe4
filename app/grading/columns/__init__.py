"""Decode prediction columns of every kind from cells to arrays."""
