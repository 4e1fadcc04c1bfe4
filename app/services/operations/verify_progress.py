"""The progress of `podium verify`, in a small file, so that an interrupted one can continue."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged or missing thing: where, what is wrong, who needs it, and what to do."""

    kind: str  # "database", "blob", "version", "row" or "receipt"
    path: str
    problem: str
    needed_by: list[str]
    remedy: str


@dataclass(slots=True)
class VerifyProgress:
    """The files compared so far; `after` is the key of the last one."""

    file: Path
    after: str = ""
    checked: int = 0
    bytes: int = 0
    damaged: list[Damage] = field(default_factory=list)
    complete: bool = False

    def count(self, key: str, size: int) -> None:
        """Count one more compared file."""
        self.after = key
        self.checked += 1
        self.bytes += size

    def forget(self, kinds: Collection[str]) -> None:
        """Remove the damage of these kinds."""
        self.damaged = [one for one in self.damaged if one.kind not in kinds]

    def save(self) -> None:
        """Write the state, or remove it if everything was compared."""
        if self.complete:
            self.file.unlink(missing_ok=True)
            return
        partial = self.file.with_name(f"{self.file.name}.{uuid.uuid4().hex}")
        partial.write_text(json.dumps({**asdict(self), "file": str(self.file)}))
        partial.replace(self.file)


def saved(file: Path) -> VerifyProgress | None:
    """The state of an interrupted comparison; None without one that can be read."""
    try:
        return TypeAdapter(VerifyProgress).validate_json(file.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
