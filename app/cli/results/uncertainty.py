"""`podium uncertainty`: the noise of the final scores of an experiment."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from app.cli.context import podium
from app.cli.options import AsJson, Key, Url
from app.cli.output import print_line, print_note
from app.cli.remote import Document, Remote, path_to, remote
from app.cli.results.options import Experiment, FormOption, Out
from app.cli.tables import print_table
from app.errors import PodiumError

SHOWN = ("competition", "seed", "score", "standard error", "95 % interval", "medal",
         "chance of a medal", "why not", "submission")  # fmt: skip
THIS_COMMAND = ""  # stands in place of a key's id


def uncertainty(
    experiment: Experiment,
    archived: Annotated[bool, typer.Option("--archived", help="also archived runs")] = False,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Estimate the noise of an experiment's final scores; print it with chances of medals."""
    if there := remote(url, key):
        with there:
            document = _elsewhere(there, experiment, archived=archived)
    else:
        document = _here(experiment, archived=archived)
    if as_json or form or to:
        from app.cli.results.forms import print_report
        from app.reports.uncertainty import noise_report_of

        print_report(noise_report_of(document), form=form, to=to, as_json=as_json)
        return
    print_table(
        SHOWN, [_cells(row) for row in document["items"]], f"{experiment} has no graded scores"
    )
    for note in _notes(document):
        print_line(note)


def _elsewhere(there: Remote, experiment: str, *, archived: bool) -> Document:
    from app.cli.progress import step_progress

    path = path_to("experiments", experiment, "uncertainty")
    items = there.get(path, archived=archived)["items"]
    waiting = [
        row["submission"] for row in items if row["estimated_at"] is None and row["reason"] is None
    ]
    with step_progress() as progress:
        for one in waiting:
            with _reported(one):
                there.get(f"/v1/submissions/{one}/uncertainty")
            progress(experiment, 1, len(waiting))
    return there.get(path, archived=archived).having("items")


def _here(experiment: str, *, archived: bool) -> dict[str, Any]:
    # Imported here: they load statistics, which a command with --url does not need.
    from app.cli.progress import step_progress
    from app.reports.uncertainty import noise_report
    from app.services.grading import uncertainty as estimates
    from app.services.results.noise.experiment_noise import final_scores

    with podium() as context:
        scores = final_scores(context, experiment, archived=archived)
        waiting = [one.submission for one in scores if one.kept is None and one.regrade is None]
        with step_progress() as progress:
            progress(experiment, 0, len(waiting))  # the first one takes time, too
            for submission in waiting:
                with _reported(submission):
                    found = estimates.find(context, submission)
                    estimates.start(context, found, THIS_COMMAND).result()
                progress(experiment, 1, len(waiting))
        known = final_scores(context, experiment, archived=archived)
    document: dict[str, Any] = noise_report(experiment, known).document
    return document


@contextlib.contextmanager
def _reported(submission: str) -> Iterator[None]:
    """Report an error with one submission, and continue with the others."""
    try:
        yield
    except PodiumError as error:
        print_note(f"{submission}: {error.detail}")


def _notes(document: dict[str, Any]) -> list[str]:
    from app.reports.uncertainty import MEANING, noise_notes
    from app.services.results.noise.experiment_noise import RateNoise

    rates = [RateNoise(**rate) for rate in document["rates"]]
    return [*noise_notes(rates), MEANING] if document["items"] else []


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    error, medals = row["standard_error"], row["medals"]
    return (
        row["competition"], row["seed"], row["score"],
        None if error is None else f"{error:.2g}",
        None if error is None else f"{row['low']:.5g} to {row['high']:.5g}",
        row["medal"], None if medals is None else f"{1.0 - medals['none']:.0%}", row["reason"],
        row["submission"],
    )  # fmt: skip
