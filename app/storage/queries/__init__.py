"""Queries, one module for each table or report. Each function takes a session and plain values."""
