"""`podium runs`: create, list and close many runs."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated

import typer

from app.cli.archive import add_archive_commands
from app.cli.context import podium
from app.cli.filters import refuse_unknown_here, refuse_unknown_there
from app.cli.lazy import Group
from app.cli.options import AsJson, Key, Url
from app.cli.output import print_json, print_line, print_new_key, print_note, report_at_the_end
from app.cli.remote import Document, Remote, path_to, remote
from app.cli.tables import moment, print_table
from app.domain.feedback import Feedback
from app.domain.states import ArchivalKind, Failure, RunState
from app.errors import Invalid

app = typer.Typer(cls=Group, help="Create, list, close and archive runs.", no_args_is_help=True)
add_archive_commands(app, ArchivalKind.RUN)
OneExperiment = Annotated[str, typer.Option(help="the experiment's name")]


@app.command()
def create(
    experiment: OneExperiment,
    suite: Annotated[str, typer.Option(help="a run for each competition of this suite")] = "",
    competition: Annotated[
        list[str], typer.Option(help="a run for this competition; may be repeated")
    ] = [],  # noqa: B006
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="runs at each competition")] = 1,
    first_seed: Annotated[int, typer.Option(min=-(2**31), max=2**30, help="the lowest seed")] = 0,
    feedback: Annotated[
        Feedback, typer.Option(help="the feedback policy of the runs")
    ] = Feedback.VALIDITY,
    hours: Annotated[
        float | None, typer.Option(min=0.0001, max=10**5, help="hours from the start of each run")
    ] = None,
    submissions_per_day: Annotated[
        int | None, typer.Option(min=1, max=10**6, help="submissions in any 24 hours of each run")
    ] = None,
    submissions_total: Annotated[
        int | None, typer.Option(min=1, max=10**6, help="submissions of each run in all")
    ] = None,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Make runs and print their ids and keys as CSV. Keys are shown only once.

    The clock of a run starts at the first request of its key, not now.
    """
    from app.cli.batch import (
        RunBatch,
        create_elsewhere,
        create_here,
        revoke_elsewhere,
        revoke_here,
    )

    if bool(suite) == bool(competition):
        raise Invalid("Name a suite (--suite) or competitions (--competition), not both.")
    limits: Document = {
        "hours": hours, "submissions_per_day": submissions_per_day,
        "submissions_total": submissions_total,
    }  # fmt: skip
    batch = RunBatch(
        experiment, suite, tuple(competition), range(first_seed, first_seed + seeds), feedback,
        {name: value for name, value in limits.items() if value is not None},
    )  # fmt: skip
    if there := remote(url, key):
        with there:
            made = create_elsewhere(there, batch)
            _make_and_print(made, as_json=as_json, revoke=partial(revoke_elsewhere, there))
    else:
        with podium() as context:
            made = create_here(context, batch)
            _make_and_print(made, as_json=as_json, revoke=partial(revoke_here, context))


@app.command("list")
def list_runs(
    experiment: Annotated[str, typer.Option(help="only runs of this experiment")] = "",
    competition: Annotated[str, typer.Option(help="only runs at this competition")] = "",
    state: Annotated[RunState | None, typer.Option(help="only open or closed runs")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="also archived runs")] = False,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """List runs: which have started, which are open, how many submissions each has."""
    query = {"experiment": experiment, "competition": competition, "archived": archived}
    if there := remote(url, key):
        with there:
            found = list(there.items("/v1/runs", state=state and state.value, **query))
            if not found:
                refuse_unknown_there(there, experiment, competition)
    else:
        from app.services.experiments.runs import listed_runs

        with podium() as context:
            found = listed_runs(
                context, experiment or None, competition or None, state, archived=archived
            )
            if not found:
                refuse_unknown_here(context, experiment, competition)
    if as_json:
        print_json(found)
        return
    print_table(
        ("run", "experiment", "competition", "seed", "state", "started", "submissions", "failure"),
        [
            (one["id"], one["experiment"], one["competition"], one["seed"], one["state"],
             moment(one["started_at"]), _counts(one["submissions"] or {}), one["failure"])
            for one in found
        ],
        "no runs",
    )  # fmt: skip


@app.command()
def close(
    experiment: OneExperiment,
    failure: Annotated[
        Failure | None, typer.Option(help="the reason why runs without a submission have none")
    ] = None,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Close all open runs of an experiment. One without a submission counts as a failure."""
    closed: list[str] = []

    def report() -> None:
        if as_json:
            print_json({"closed": closed})
        else:
            print_line("1 run closed" if len(closed) == 1 else f"{len(closed)} runs closed")

    with report_at_the_end(closed, report):
        if there := remote(url, key):
            with there:
                for run in _closed_elsewhere(there, experiment, failure):
                    closed.append(run)  # noqa: PERF402 (after an error it has what came before)
        else:
            from app.services.experiments import runs

            with podium() as context:
                closed += runs.close_all(context, experiment, failure)


def _closed_elsewhere(there: Remote, experiment: str, failure: Failure | None) -> Iterator[str]:
    """Close the runs one by one, as their ids are asked for."""
    there.get(path_to("experiments", experiment))  # otherwise a name with a typo would have no runs
    query = {"experiment": experiment, "state": "open", "archived": True}
    for one in list(there.items("/v1/runs", **query)):
        body: Document = {"state": "closed"}
        if failure is not None and not one["submissions"]:
            body["failure"] = failure.value
        there.patch(f"/v1/runs/{one['id']}", body)
        yield one["id"]


@app.command("new-key")
def new_key(
    run: Annotated[str, typer.Argument(help="the run's id")],
    revoke_others: Annotated[
        bool, typer.Option("--revoke-others", help="revoke the keys that the run has")
    ] = False,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Make another key of a run and print it. It is shown only once."""
    if there := remote(url, key):
        with there:
            made = there.post(
                path_to("runs", run, "keys"), {"revoke_others": revoke_others}
            ).having("key")
            print_new_key(
                made, as_json=as_json, revoke=lambda: there.delete(path_to("keys", made["id"]))
            )
    else:
        from app.services.operations import keys

        with podium() as context:
            new = keys.create_for_run(context, run, revoke_others=revoke_others)
            made = {"id": new.record.id, "run": run, "key": new.key, "revoked": list(new.revoked)}
            print_new_key(made, as_json=as_json, revoke=lambda: keys.revoke(context, new.record.id))


def _make_and_print(
    runs: Iterator[Document], *, as_json: bool, revoke: Callable[[list[Document]], int]
) -> None:
    """Make runs and print their keys, also if a later run cannot be made."""
    made: list[Document] = []
    try:
        for run in runs:
            made.append(run)  # noqa: PERF402 (after an error it has what came before)
    except BaseException:  # Ctrl-C too
        if made:
            _print_keys(made, as_json=as_json, revoke=revoke)
            count = "1 run was" if len(made) == 1 else f"{len(made)} runs were"
            keys = "its key is" if len(made) == 1 else "their keys are"
            print_note(f"{count} made before this, and {keys} printed.")
        raise
    _print_keys(made, as_json=as_json, revoke=revoke)


def _print_keys(
    made: list[Document], *, as_json: bool, revoke: Callable[[list[Document]], int]
) -> None:
    """Print new runs with their keys, which are shown once.

    Raises:
        OSError: standard output cannot be written. The keys were revoked.
    """
    try:
        if as_json:
            print_json(made)
        else:
            names = ["run", "competition", "seed", "key"]
            writer = csv.DictWriter(sys.stdout, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(made)
        sys.stdout.flush()
    except OSError:
        count = revoke(made)
        print_note(
            f"{count} of the keys of {len(made)} new runs were revoked, because they could not be "
            "printed. The runs stay: `podium runs new-key RUN --revoke-others` makes another key."
        )
        raise


def _counts(by_state: dict[str, int]) -> str:
    """The submissions of a run by state.

    >>> _counts({"graded": 3, "rejected": 1}), _counts({})
    ('3 graded, 1 rejected', 'none')
    """
    return ", ".join(f"{count} {state}" for state, count in by_state.items()) or "none"
