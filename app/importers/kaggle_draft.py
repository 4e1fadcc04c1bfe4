"""Draft a competition folder from Kaggle's pages, with a list of the parts to fill in by hand."""

from __future__ import annotations

import csv
import zipfile
from datetime import date
from pathlib import Path

from app.domain.competition import TOML
from app.domain.wording import first_few, toml_value
from app.importers.kaggle_leaderboard import ZIP_ERRORS
from app.importers.kaggle_source import KaggleCompetition

DESCRIPTION_PAGES = ("description", "abstract", "overview", "evaluation", "data-description")
FILL_IN = "FILL IN"
KINDS = "number, probability, integer, boolean, label, text, list, mask or boxes"


def description_of(title: str, pages: dict[str, str]) -> str:
    """The task in Kaggle's text: description, evaluation and data pages, one after another."""
    parts = [pages[name].strip() for name in DESCRIPTION_PAGES if pages.get(name, "").strip()]
    return "\n\n".join(parts or [f"# {title}"]) + "\n"


def write_draft(
    folder: Path, about: KaggleCompetition, pages: dict[str, str], archive: Path
) -> list[str]:
    """Write the folder. Returns the list of things left to do, which is also in its README."""
    header = _sample_header(archive)
    folder.mkdir(parents=True)
    ids, columns = header[:1] or ["id"], header[1:] or ["target"]
    lines = [
        f"title = {toml_value(about.title)}",
        "version = 1",
        *([f"category = {toml_value(about.category)}"] if about.category else []),
        f"tags = [{', '.join(toml_value(tag) for tag in about.tags)}]",
        "",
        "[metric]",
        f"# Kaggle calls it {about.metric or 'nothing'!r}; the names here: docs/metrics.md",
        f'name = "{FILL_IN}"',
        "",
        "[submission]",
        f"id = {toml_value(ids[0])}",
        "",
        "[submission.columns]",
        f"# kind is {KINDS}",
        *(f'{toml_value(name)} = {{ kind = "{FILL_IN}" }}' for name in columns),
        "",
        "[leaderboard]",
        f"source = {toml_value('kaggle:' + about.slug)}",
        f"captured_at = {date.today().isoformat()}",  # noqa: DTZ011 (the local date)
    ]
    (folder / TOML).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "description.md").write_text(description_of(about.title, pages), encoding="utf-8")
    todo = [
        (
            f"metric: Kaggle calls it {about.metric!r}; write the name of ours in {TOML}, or a "
            "metric.py. Its ending tells the direction."
        ),
        f"columns: say the kind of {first_few(columns, 10)} in {TOML}"
        + ("" if header else "; no sample submission was found, so the names are guesses")
        + ".",
        (
            "split: Kaggle never gives its answers out. Write prepare.py with prepare(raw, public, "
            "private), which makes test rows and private/answers.csv of the training data."
        ),
        (
            f"then run `podium check {about.slug}` and `podium import kaggle {about.slug}` again; "
            "what was downloaded is still there."
        ),
    ]
    (folder / "README.md").write_text(
        f"# {about.title}\n\nDrafted from {about.url or about.slug}. What a person must still do:\n"
        "\n" + "".join(f"- {line}\n" for line in todo),
        encoding="utf-8",
    )
    return todo


def _sample_header(archive: Path) -> list[str]:
    """The columns of the sample submission in the archive; none if it cannot be read."""
    if not zipfile.is_zipfile(archive):
        return []
    try:
        return _header_in(archive)
    except (csv.Error, *ZIP_ERRORS):  # the person fills in the columns
        return []


def _header_in(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        names = [
            name
            for name in opened.namelist()
            if "sample" in name.lower() and "submission" in name.lower() and name.endswith(".csv")
        ]
        if not names:
            return []
        with opened.open(sorted(names, key=len)[0]) as file:
            first = file.readline(1 << 16).decode("utf-8-sig", errors="replace")
    return next(csv.reader([first]), [])
