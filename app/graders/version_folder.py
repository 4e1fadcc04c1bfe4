"""The directory of a competition version, together with the competition's slug."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class VersionFolder(NamedTuple):
    """A version as a grader gets it. The files do not name the slug, so it comes with them."""

    slug: str
    path: Path
