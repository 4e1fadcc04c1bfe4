"""Sizes, times and shares that many modules need."""

from __future__ import annotations

MEGABYTE = 1 << 20  # bytes
CHUNK_BYTES = MEGABYTE  # read or written at once
HOUR = 3600.0  # seconds
PERCENT = 100.0
