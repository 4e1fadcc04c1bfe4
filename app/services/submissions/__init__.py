"""Receive, validate and disclose submissions."""
