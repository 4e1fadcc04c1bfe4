"""`podium readiness`: which competitions of a suite can be downloaded and prepared."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.options import AsJson
from app.cli.output import out, print_json, print_note
from app.cli.tables import print_table

if TYPE_CHECKING:
    from app.services.competitions.suite_readiness import SuiteReadiness

UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def readiness(
    suite: Annotated[str, typer.Argument(help="a suite of suites.toml, as mle-bench-low")],
    as_json: AsJson = False,
) -> None:
    """Say which competitions of a suite Kaggle lets you download, with sizes, room and time.

    It downloads only the list of members of each archive, and some megabytes of one archive, to
    measure the speed. The status is 1 if a competition is neither ready nor prepared.
    """
    from app.cli.progress import step_progress
    from app.importers.kaggle_source import KaggleSource
    from app.read_settings import read_settings
    from app.services.competitions.folders import folders_in
    from app.services.competitions.suite_readiness import suite_readiness
    from app.services.competitions.suites import declared

    settings = read_settings()
    slugs = declared(settings.competitions_dir, suite)
    folders = folders_in(settings.competitions_dir, slugs)
    source = KaggleSource(print_note)
    with step_progress() as progress:
        found = suite_readiness(
            settings,
            source,
            folders,
            print_note,
            lambda _: progress("asking Kaggle", 1, len(folders)),
        )
    if as_json:
        print_json(asdict(found))
    else:
        _print(found)
    if any(one.state not in ("ready", "prepared") for one in found.competitions):
        raise typer.Exit(1)


def _print(found: SuiteReadiness) -> None:
    print_table(
        ("competition", "state", "archive", "to download", "unpacked", "for grading, at least"),
        [
            (one.slug, one.state.replace("_", " "), _size(one.archive), _size(one.missing),
             _size(one.unpacked), _size(one.tables))
            for one in found.competitions
        ],
        "the suite has no competitions",
    )  # fmt: skip
    for one in found.competitions:
        if one.detail:
            print_note(f"{one.slug}: {one.detail}")
    enough = "enough" if found.needed <= found.free else "too little"
    out.print(
        f"to download: {_size(found.missing)}; disk for archives and files: up to "
        f"{_size(found.needed)}, {_size(found.free)} are free: {enough}",
        highlight=False,
    )
    if found.speed is not None and found.seconds is not None:
        time = timedelta(seconds=round(found.seconds))
        out.print(f"time at {_size(found.speed)} a second: {time}", highlight=False)


def _size(count: float | None) -> str:
    if count is None:
        return ""
    for unit, name in UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count:.0f} B"
