"""Where requests go, and the key they go with."""

from __future__ import annotations

import os
from dataclasses import dataclass

from podium_client.errors import PodiumError


@dataclass(frozen=True)
class Place:
    """The address of a Podium and a key."""

    url: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request."""
        return {"Authorization": f"Bearer {self.key}"}


def place_of(url: str | None, key: str | None) -> Place:
    """The address and key, else those of PODIUM_URL and PODIUM_KEY.

    Raises:
        PodiumError: one of them is missing.
    """
    chosen = (url or os.environ.get("PODIUM_URL", "")).rstrip("/")
    secret = (key or os.environ.get("PODIUM_KEY", "")).strip()  # a file ends with a newline
    if not chosen.startswith(("http://", "https://")):
        raise PodiumError("Give the address of a Podium, or set PODIUM_URL, as http://podium:7777.")
    if not secret:
        raise PodiumError("Give a key, or set PODIUM_KEY.")
    if not (secret.isascii() and secret.isprintable() and " " not in secret):
        raise PodiumError("The key has characters that no key has: give what follows 'Bearer'.")
    return Place(chosen, secret)
