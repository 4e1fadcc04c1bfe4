"""Reviews as documents, for HTTP and for commands."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.review.signals import Level
from app.services.reviews.show import QueueItem, ReviewedRun
from app.storage.queries.reviews.decisions import ReviewRecord
from app.storage.queries.reviews.signals import SignalRecord


def queued_document(item: QueueItem) -> dict[str, Any]:
    """A run of the queue."""
    run = item.run
    return {
        "run": run.run,
        "experiment": run.experiment,
        "competition": run.competition,
        "seed": run.seed,
        "level": Level.REVIEW if run.to_review else Level.ANNOTATE,
        "decision": run.decision,
        "decided_at": run.decided_at,
        "signals": [signal_document(one) for one in item.signals],
    }


def review_document(found: ReviewedRun) -> dict[str, Any]:
    """A run with its signals and decisions."""
    return {
        "run": found.run.id,
        "experiment": found.run.experiment,
        "competition": found.run.competition,
        "seed": found.run.seed,
        "signals": [signal_document(one) for one in found.signals],
        "decisions": [decision_document(one) for one in found.decisions],
    }


def signal_document(one: SignalRecord) -> dict[str, Any]:
    """A signal."""
    return {
        "submission": one.submission_id,
        "signal": one.signal,
        "level": one.level,
        "other_run": one.other_run,
        "detail": one.detail,
        "at": one.at,
    }


def decision_document(one: ReviewRecord) -> dict[str, Any]:
    """A decision."""
    document = asdict(one)
    del document["id"], document["run_id"]
    return document
