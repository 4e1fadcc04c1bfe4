"""`podium import submissions`: raw outputs of agents, graded and stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.context import podium
from app.cli.options import AsJson
from app.cli.output import print_json, print_line, print_note
from app.domain.wording import counted, first_lines

if TYPE_CHECKING:
    from app.cli.progress import Progress
    from app.services.imports.submission_files import ImportedFiles
    from app.services.runtime.context import Context

SHOWN_PROBLEMS = 20


def import_submissions(
    experiment: Annotated[str, typer.Argument(help="the experiment's name; made if it is new")],
    folder: Annotated[
        Path,
        typer.Argument(
            help="a folder with submission.jsonl, or with folders that have one: each a run group",
            exists=True,
            file_okay=False,
        ),
    ],
    first_seed: Annotated[
        int, typer.Option(min=0, max=2**30, help="the seed of the first attempt at a competition")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Grade a folder of MLE-bench's raw outputs (submission.jsonl, CSV files) and store it.

    Each line becomes a closed run; the i-th attempt at a competition has seed i. If the command is
    interrupted, run it again: it continues, and nothing is stored twice. The status is 1 if a line
    names a file that is not in the folder, or a file could not be graded. The run of a missing file
    stays open, and statistics name it as missing: add the file and run the command again, or close
    the run, which then counts as a failure.
    """  # fmt: skip
    from app.cli.progress import step_progress
    from app.importers.submission_folder import read_submission_folder
    from app.services.imports.submission_files import import_files, outcomes

    found = read_submission_folder(folder, first_seed)
    with podium(creates=True, grades=True) as context:
        with step_progress() as progress:
            seen = 0

            def stored(done: int, total: int) -> None:
                nonlocal seen
                progress("stored", done - seen, total)
                seen = done

            taken = import_files(context, experiment, found, stored)
            _grade(context, taken, progress)
        states = outcomes(context, taken.runs)
    document = {
        "experiment": experiment, "imported": taken.imported, "unchanged": taken.unchanged,
        "without_file": len(taken.runs) - taken.files - len(taken.problems),
        "submissions": states, "problems": taken.problems,
    }  # fmt: skip
    if as_json:
        print_json(document)
    else:
        counts = ", ".join(f"{count} {state}" for state, count in states.items()) or "no file"
        print_line(
            f"{experiment}: {counted(taken.imported, 'attempt')} imported, "
            f"{taken.unchanged} before; {counts}; {document['without_file']} without a file; "
            f"problems: {len(taken.problems)}"
        )
        for line in first_lines(taken.problems, SHOWN_PROBLEMS, "--json lists all"):
            print_note(line)
    if taken.problems or states.get("failed"):
        raise typer.Exit(1)


def _grade(context: Context, taken: ImportedFiles, progress: Progress) -> None:
    """Return once all files are graded, by this process if no server grades here."""
    from app.cli.operation.grading_work import grade_or_wait
    from app.services.grading import recovery
    from app.services.imports.submission_files import ungraded
    from app.worker.loop import Worker

    left = ungraded(context, taken.runs)

    def is_done() -> bool:
        nonlocal left
        now = ungraded(context, taken.runs)
        progress("graded", left - now, taken.files)
        left = now
        return now == 0

    progress("graded", taken.files - left, taken.files)
    if left == 0:
        return

    def grade(stop: Callable[[bool], bool]) -> None:
        recovery.requeue_left_behind(context)
        Worker(context).run(stop)

    grade_or_wait(context, is_done, grade)
