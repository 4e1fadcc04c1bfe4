"""Replace a competition's human board alone: everything else stays, and a new version comes."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

from app.domain.competition import TOML
from app.domain.read_leaderboard import FILE
from app.errors import NotFound
from app.importers.kaggle_leaderboard import KaggleLeaderboard
from app.services.competitions.import_folder import Imported, import_folder
from app.services.runtime.context import Context
from app.storage.queries import competitions

STATED = re.compile(r"\s*(teams|gold|silver|bronze|median|captured_at)\s*=")
SECTION = re.compile(r"\s*\[")


def replace_leaderboard(
    context: Context, slug: str, board: KaggleLeaderboard, source: str
) -> Imported:
    """Import the current version again with this board.

    Medal lines that competition.toml states give way: they follow from the board.

    Raises:
        NotFound: the competition was never imported.
        BadCompetition: the board does not fit the competition.
    """
    with context.database.read() as session:
        version = competitions.current_version(session, slug)
    if version is None:
        raise NotFound(f"There is no competition {slug!r}; import it first.")
    scratch = context.scratch()
    try:
        folder: Path = scratch / slug
        context.catalogue.files.copy_all(version, folder)
        (folder / FILE).write_text(board.csv_text, encoding="utf-8")
        (folder / TOML).write_text(_toml_with(version.toml, source), encoding="utf-8")
        return import_folder(context, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _toml_with(text: str, source: str) -> str:
    """The toml with a fresh date and without stated lines; everything else as it was written."""
    today = f"captured_at = {datetime.now(UTC).date().isoformat()}"
    kept: list[str] = []
    within = False
    found = False
    for line in text.splitlines():
        if SECTION.match(line):
            within = line.split("#")[0].strip() == "[leaderboard]"
        if within and STATED.match(line):
            continue
        kept.append(line)
        if within and SECTION.match(line):
            kept.append(today)
            found = True
    if not found:
        quoted = source.replace("\\", "\\\\").replace('"', '\\"')
        kept += ["", "[leaderboard]", f'source = "{quoted}"', today]
    return "\n".join(kept) + "\n"
