"""Replace only the human leaderboard of a competition, as a new version."""

from __future__ import annotations

import re
import shutil
import tomllib
from datetime import UTC, datetime
from pathlib import Path

from app.domain.competition import BYTE_ORDER_MARK, TOML
from app.domain.read_leaderboard import FILE
from app.domain.wording import toml_value
from app.errors import NotFound
from app.importers.kaggle_leaderboard import KaggleLeaderboard
from app.services.competitions.import_folder import Imported, import_folder
from app.services.runtime.context import Context
from app.storage.queries import competitions

GENERATED_KEY = re.compile(r"\s*(teams|gold|silver|bronze|median|decimals|captured_at)\s*=")
SECTION = re.compile(r"\s*\[")
LEADERBOARD = re.compile(r"""\s*\[\s*(["']?)leaderboard\1\s*\]""")
WITHOUT_SECTION = re.compile(r"""\s*(["']?)leaderboard\1\s*[.=]""")  # dotted, or inline
KEPT_KEYS = ("source", "awards_medals", "rule")


def replace_leaderboard(
    context: Context, slug: str, board: KaggleLeaderboard, source: str
) -> Imported:
    """Import the current version again with this leaderboard.

    Medal thresholds in competition.toml are removed, because they follow from the leaderboard.

    Raises:
        NotFound: the competition was never imported.
        BadCompetition: the leaderboard does not fit the competition.
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
        (folder / TOML).write_text(
            _toml_with(version.toml.removeprefix(BYTE_ORDER_MARK), source), encoding="utf-8"
        )
        return import_folder(context, folder, is_stored=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _toml_with(text: str, source: str) -> str:
    """The toml with a new date and without thresholds. All other text stays unchanged."""
    today = f"captured_at = {datetime.now(UTC).date().isoformat()}"
    lines: list[str] = []
    in_leaderboard = False
    found = begun = False
    for line in text.removesuffix("\n").split("\n"):  # other line ends may be inside strings
        if SECTION.match(line):
            in_leaderboard, begun = bool(LEADERBOARD.match(line)), True
        if in_leaderboard and GENERATED_KEY.match(line):
            continue
        if not begun and WITHOUT_SECTION.match(line):
            continue
        lines.append(line)
        if in_leaderboard and SECTION.match(line):
            lines.append(today)
            found = True
    if not found:
        stated = {"source": source, **tomllib.loads(text).get("leaderboard", {})}
        kept = [f"{key} = {toml_value(stated[key])}" for key in KEPT_KEYS if key in stated]
        lines += ["", "[leaderboard]", *kept, today]
    return "\n".join(lines) + "\n"
