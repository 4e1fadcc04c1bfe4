"""`podium reviews`: runs with signals, and decisions about them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from app.cli.context import ALL, podium
from app.cli.filters import refuse_unknown_here, refuse_unknown_there
from app.cli.lazy import Group
from app.cli.options import AsJson, Key, Url
from app.cli.output import print_json, print_line
from app.cli.remote import path_to, remote
from app.cli.tables import print_table
from app.domain.states import QueueState, ReviewDecision
from app.domain.wording import counted
from app.errors import Invalid
from app.review.signals import Level, Signal

app = typer.Typer(
    cls=Group, no_args_is_help=True, help="Look at runs with signals, and decide about them."
)
RunId = Annotated[str, typer.Argument(metavar="RUN", help="the id of the run")]
Reason = Annotated[str, typer.Option(help="why; it goes to the public log")]


@app.command("list")
def list_reviews(
    state: Annotated[QueueState, typer.Option(help="which runs")] = QueueState.OPEN,
    level: Annotated[
        Level | None, typer.Option(help="only runs with a signal of this level")
    ] = None,
    signal: Annotated[
        Signal | None, typer.Option(help="only runs with a signal of this kind")
    ] = None,
    experiment: Annotated[str, typer.Option(help="only runs of this experiment")] = "",
    competition: Annotated[str, typer.Option(help="only runs at this competition")] = "",
    as_json: AsJson = False,
    url: Url = "",
    key: Key = "",
) -> None:
    """List runs with signals, latest signal first. A signal is a reason to look, not a verdict."""
    if there := remote(url, key):
        query = {
            "state": state.value, "level": level and level.value, "signal": signal and signal.value,
            "experiment": experiment, "competition": competition,
        }  # fmt: skip
        with there:
            found = list(there.items("/v1/reviews", **query))
            if not found:
                refuse_unknown_there(there, experiment, competition)
    else:
        from app.reports.reviews import queued_document
        from app.services.reviews import show

        wanted = show.QueueFilter(state, level, signal, experiment or None, competition or None)
        with podium() as context:
            items, _ = show.page(context, wanted, None, ALL)
            if not items:
                refuse_unknown_here(context, experiment, competition)
        found = [queued_document(one) for one in items]
    if as_json:
        print_json(found)
        return
    print_table(
        ("run", "experiment", "competition", "seed", "level", "signals", "decision"),
        [
            (one["run"], one["experiment"], one["competition"], str(one["seed"]),
             str(one["level"]), ", ".join(dict.fromkeys(str(s["signal"]) for s in one["signals"])),
             str(one["decision"] or ""))
            for one in found
        ],
        "no runs",
    )  # fmt: skip


@app.command("show")
def show_review(run: RunId, url: Url = "", key: Key = "") -> None:
    """Print a run's signals with the numbers behind them, and the decisions, as JSON."""
    if there := remote(url, key):
        with there:
            print_json(there.get(path_to("runs", run, "review")).having("signals"))
        return
    from app.reports.reviews import review_document
    from app.services.reviews import show

    with podium() as context:
        print_json(review_document(show.of_run(context, run)))


@app.command("accept")
def accept(run: RunId, reason: Reason, url: Url = "", key: Key = "") -> None:
    """Accept a run: it counts, and leaves the queue until it gets another signal."""
    _decide(run, ReviewDecision.ACCEPT, reason, url, key)


@app.command("exclude")
def exclude(run: RunId, reason: Reason, url: Url = "", key: Key = "") -> None:
    """Exclude a run from rates. Reports say so, and show the rate with it too."""
    _decide(run, ReviewDecision.EXCLUDE, reason, url, key)


@app.command("annotate")
def annotate(run: RunId, reason: Reason, url: Url = "", key: Key = "") -> None:
    """Keep a remark on a run, which counts and leaves the queue."""
    _decide(run, ReviewDecision.ANNOTATE, reason, url, key)


@app.command("known-leak")
def known_leak(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="the competition")],
    sha256: Annotated[str, typer.Argument(metavar="SHA256", help="of the leaked file's bytes")],
    note: Annotated[str, typer.Option(help="where the file is found")],
    url: Url = "",
    key: Key = "",
) -> None:
    """List a file as leaked answers. Runs that sent these bytes get a signal, past ones too."""
    if there := remote(url, key):
        with there:
            path = path_to("competitions", slug, "known-leaks")
            count = there.post(path, {"sha256": sha256, "note": note})["submissions"]
    else:
        from app.services.reviews.decide import add_known_leak

        with podium() as context:
            _, count = add_known_leak(context, slug, sha256, note, by=None)
    print_line(
        f"listed; {counted(count, 'submission')} {'has' if count == 1 else 'have'} these bytes"
    )


def _decide(run: str, decision: ReviewDecision, reason: str, url: str, key: str) -> None:
    if not (reason := reason.strip()):
        raise Invalid("--reason: say why, for later readers.")
    if there := remote(url, key):
        body: dict[str, Any] = {"decision": decision.value, "reason": reason}
        with there:
            run = there.post(path_to("runs", run, "review"), body)["run"]
    else:
        from app.services.reviews.decide import decide

        with podium() as context:
            decide(context, run, decision, reason, by=None)
    done = {"accept": "accepted", "exclude": "excluded", "annotate": "annotated"}
    print_line(f"{done[decision.value]} {run}")
