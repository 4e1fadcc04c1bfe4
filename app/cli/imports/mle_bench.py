"""`podium import mle-bench` and `mle-dojo`: import the data that they prepared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.context import podium
from app.cli.imports.archived_note import note_archived
from app.cli.options import AsJson
from app.cli.output import err, json_at_the_end, out
from app.domain.states import ArchivalKind

if TYPE_CHECKING:
    from app.importers.mle_bench import Sources
    from app.services.competitions.import_mle_bench import ImportOutcome

Slugs = Annotated[list[str] | None, typer.Argument(help="competitions")]
Data = Annotated[
    Path, typer.Option(help="MLE-bench's data directory", exists=True, file_okay=False)
]
SampleOnly = Annotated[
    bool, typer.Option(help="import only the sample submission of the public files")
]


def mle_bench(
    data_dir: Data,
    slugs: Slugs = None,
    suite: Annotated[
        str, typer.Option(help="all competitions of this suite, as mle-bench-low")
    ] = "",
    every: Annotated[
        bool, typer.Option("--all", help="all competitions with prepared data")
    ] = False,
    repo: Annotated[
        Path | None,
        typer.Option(
            help="a checkout of MLE-bench: its leaderboards and checksums",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    leaderboards: Annotated[
        Path | None,
        typer.Option(help="a folder of SLUG.csv with a column score", exists=True, file_okay=False),
    ] = None,
    sample_only: SampleOnly = False,
    as_json: AsJson = False,
) -> None:
    """Import competitions from MLE-bench's prepared data; none of its code is run.

    The status is 1 if an import failed, or a competition that you named was skipped.
    """
    if sum([bool(slugs), bool(suite), every]) != 1:
        raise typer.BadParameter("name competitions, or give --suite, or --all")
    from app.importers.mle_bench import Sources

    sources = Sources(data_dir, repo, leaderboards, "sample" if sample_only else "all")
    _import(sources, slugs or [], suite, as_json)


def mle_dojo(
    checkout: Annotated[
        Path, typer.Argument(help="a checkout of MLE-Dojo", exists=True, file_okay=False)
    ],
    slugs: Slugs = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="where MLE-Dojo prepared its data (default: CHECKOUT/data/prepared)",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    sample_only: SampleOnly = False,
    as_json: AsJson = False,
) -> None:
    """Import competitions from MLE-Dojo's prepared data and its leaderboards.

    Without names it imports all that are prepared. It runs none of MLE-Dojo's code. The status is 1
    if an import failed, or a competition that you named was skipped.
    """
    data = data_dir or checkout / "data" / "prepared"
    if not data.is_dir():
        raise typer.BadParameter(f"there is no {data}: name the prepared data by --data-dir")
    from app.importers.mle_bench import DOJO_PREPARED, PublicFiles, Sources

    public: PublicFiles = "sample" if sample_only else "all"
    _import(
        Sources(data, checkout, public=public, prepared=DOJO_PREPARED), slugs or [], "", as_json
    )


def _import(sources: Sources, slugs: list[str], suite: str, as_json: bool) -> None:
    """Import the named competitions, a suite's, or all that are prepared; print each outcome."""
    from app.cli.progress import file_progress
    from app.services.competitions.import_mle_bench import choose, import_prepared

    done: list[ImportOutcome] = []
    printed = json_at_the_end(
        done, lambda: [_document(outcome) for outcome in done], as_json=as_json
    )
    with printed, podium(creates=True) as context:
        wanted = choose(context, sources, slugs, suite)
        for slug in wanted:
            with file_progress(slug) as progress:
                done += import_prepared(context, sources, [slug], progress)
            if not as_json:
                _print_result(done[-1])
            if done[-1].version is not None:
                note_archived(context, ArchivalKind.COMPETITION, slug)
    if not as_json:
        counts = {state: sum(o.state == state for o in done) for state in _STATES}
        out.print(", ".join(f"{count} {_STATES[state]}" for state, count in counts.items()))
    if any(outcome.state == "wrong" or (slugs and outcome.state == "skipped") for outcome in done):
        raise typer.Exit(1)


_STATES = {
    "imported": "imported",
    "present": "imported before",
    "skipped": "skipped",
    "wrong": "failed",
}


def _document(outcome: ImportOutcome) -> dict[str, object]:
    return {
        "slug": outcome.slug,
        "state": outcome.state,
        "version": outcome.version.number if outcome.version else None,
        "notes": list(outcome.notes),
        "problems": list(outcome.problems),
    }


def _print_result(outcome: ImportOutcome) -> None:
    version = f" as version {outcome.version.number}" if outcome.version else ""
    out.print(f"{outcome.slug}: {_STATES[outcome.state]}{version}", markup=False)
    for note in outcome.notes:
        out.print(f"  {note}", markup=False)
    for problem in outcome.problems:
        where = " ".join(part for part in (problem["file"], problem["key"]) if part)
        err.print(f"  {where}: {problem['message']}", markup=False)
