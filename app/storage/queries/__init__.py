"""Queries, one module for each table or question. Each takes a session and plain values."""
