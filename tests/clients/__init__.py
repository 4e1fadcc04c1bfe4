"""Clients in environments of their own, against a real server."""
