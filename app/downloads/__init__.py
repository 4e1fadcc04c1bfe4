"""Resumable downloads of large archives, and of single members, by ranges of bytes."""
