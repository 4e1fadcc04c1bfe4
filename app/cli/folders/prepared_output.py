"""How a prepared folder is printed."""

from __future__ import annotations

from app.cli.output import out
from app.services.competitions.prepare import Prepared


def print_prepared(made: Prepared) -> None:
    """Print where a prepared folder is, and what its self-test says."""
    line = f"{made.folder.name}: prepared. To import it: podium import folder {made.folder}"
    out.print(line, markup=False, highlight=False, soft_wrap=True)


def document(made: Prepared) -> dict[str, object]:
    """A prepared folder as JSON."""
    manifest = made.manifest
    return {
        "slug": manifest.competition, "folder": str(made.folder), "root": manifest.root,
        "files": len(manifest.files), "bytes": sum(file.bytes for file in manifest.files),
        "grading_only": manifest.grading_only, "self_test": manifest.self_test,
    }  # fmt: skip
