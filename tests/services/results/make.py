"""Rows of results: those made elsewhere are the shortest way to an experiment with medals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert

from app.domain.states import ArchivalKind, ReviewDecision, RunState, SubmissionState
from app.services.reviews.decide import decide
from app.services.runtime.context import Context
from app.storage.database.models import Experiment
from app.storage.database.records import RunRecord, VersionRecord
from app.storage.database.tables.results_elsewhere import ImportedGrade
from app.storage.queries import archive
from app.storage.queries.archive import ArchivalRecord
from tests.storage.make import (
    add_grade,
    add_run,
    add_submission,
    make_grade,
    make_submission,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def import_medals(context: Context, name: str, medals: Mapping[str, Sequence[str | None]]) -> None:
    """Store an experiment with the medals of seeds 0, 1, ... at each competition."""
    experiment = {"name": name, "agent": "a", "model": "m", "notes": "", "created_at": NOON}
    context.database.write(
        lambda session: session.execute(insert(Experiment.__table__), [experiment])
    )
    add_imports(context, name, {slug: dict(enumerate(found)) for slug, found in medals.items()})


def add_imports(
    context: Context, name: str, medals: Mapping[str, Mapping[int, str | None]], **over: Any
) -> None:
    """Store imported results of an experiment: the medal of each seed at each competition."""
    rows = [
        {
            "experiment": name, "competition": slug, "seed": seed, "made": True, "valid": True,
            "score": 0.5, "medal": medal, "above_median": medal is not None, "source": "x",
            "document": {}, "imported_at": NOON, **over,
        }
        for slug, found in medals.items()
        for seed, medal in found.items()
    ]  # fmt: skip
    if rows:
        context.database.write(
            lambda session: session.execute(insert(ImportedGrade.__table__), rows)
        )


def closed_run(
    context: Context, version: VersionRecord, seed: int, *grades: Mapping[str, Any], **over: Any
) -> tuple[RunRecord, list[str]]:
    """Store a closed run of the experiment `first`; its graded files came an hour apart."""
    fields = {"seed": seed, "state": RunState.CLOSED, "created_at": NOON, "closed_at": NOON}
    run = add_run(context.database, version, "first", **{**fields, **over})
    return run, [send(context, run, hour, **each) for hour, each in enumerate(grades, start=1)]


def send(context: Context, run: RunRecord, hour: float, **grade: Any) -> str:
    """Store a graded file of a run."""
    at = NOON + timedelta(hours=hour)
    sent = make_submission(
        run, state=SubmissionState.GRADED, received_at=at, settled_at=at, run_seconds=3600.0 * hour
    )
    row = make_grade(sent, **{"graded_at": at, **grade})
    context.database.write(lambda session: add_submission(session, sent))
    context.database.write(lambda session: add_grade(session, row))
    return sent.id


def exclude(context: Context, run: RunRecord) -> None:
    """Let a review exclude a run."""
    decide(context, run.id, ReviewDecision.EXCLUDE, "copied", by=None)


def archive_it(context: Context, kind: ArchivalKind, name: str) -> None:
    """Archive a competition, an experiment or a run."""
    record = ArchivalRecord(kind=kind, name=name, archived_at=NOON, reason="a mistake")
    context.database.write(lambda session: archive.archive(session, record))
