"""Sizes, times, shares and addresses that many modules need."""

from __future__ import annotations

MEGABYTE = 1 << 20  # bytes
CHUNK_BYTES = MEGABYTE  # read or written at once
HOUR = 3600.0  # seconds
PERCENT = 100.0


def host_and_port(host: str, port: int) -> str:
    """An address in the form of URLs: an IPv6 address is in brackets.

    >>> host_and_port("127.0.0.1", 7777), host_and_port("::1", 7777)
    ('127.0.0.1:7777', '[::1]:7777')
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
