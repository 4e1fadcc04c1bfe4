"""Stored files, each once under its SHA-256: on this machine's disk or in an S3 store."""
