"""The tables of pages as flat rows: unrounded, with the names of the API.

Only tables that no report has are here; the others are the rows of `app.reports`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from app.reports.document.report import NamedRows, Row
from app.services.experiments.disclosures import Disclosures
from app.services.results.cells import HeatMap
from app.services.results.experiment_summary import ExperimentSummary
from app.services.reviews.show import QueueItem
from app.services.runtime.catalogue import CatalogueEntry
from app.services.submissions.disclose import Disclosed

RATES = ("any_medal", "gold", "silver", "bronze", "above_median", "valid")
GRADE = ("score", "public_score", "search_score", "medal", "better", "equal", "teams", "percentile")
EXPERIMENT = (
    "experiment", "agent", "model", *RATES, "runs95_low", "runs95_high", "percentile",
    "competitions", "runs", "pending", "seconds", "cost_usd", "priced", "near_lines", "feedback",
    "imported", "told_validation", "told_search_score", "told_public_score", "told_private_score",
    "told_failure", "flags", "created_at",
)  # fmt: skip
CELL = ("competition", "complexity", "seed", "state", "run", "score", "better", "near_line")
SUBMISSION = (
    "submission", "run_seconds", "received_at", "settled_at", "state", "final", *GRADE, "near_line",
    "violations", "told", "told_to_harness", "message",
)  # fmt: skip
VIOLATION = ("code", "column", "row", "message", "examples")
COMPETITION = (
    "competition", "version", "title", "complexity", "category", "metric", "teams", "gold",
    "status", "flags",
)  # fmt: skip
QUEUED = ("run", "experiment", "competition", "seed", "signals", "last_at", "decision")
SIGNAL = ("signal", "level", "submission", "other_run", "numbers", "at")


def experiment_rows(found: Sequence[ExperimentSummary]) -> list[Row]:
    """The list of experiments. `cost_usd` is the sum over the runs that reported a cost."""
    rows: list[Row] = []
    for one in found:
        low, high = one.interval or (None, None)
        about = one.experiment
        rows.append(
            {"experiment": about.name, "agent": about.agent, "model": about.model,
             **{name: (one.rates or {}).get(name) for name in RATES},
             "runs95_low": low, "runs95_high": high, "percentile": one.percentile,
             "competitions": one.competitions, "runs": one.runs, "pending": one.pending,
             "seconds": one.seconds, "cost_usd": one.cost_usd, "priced": one.priced,
             "near_lines": one.near_lines,
             "feedback": " ".join(one.policies), "imported": one.imported,
             **{f"told_{name}": one.disclosed[name] for name in one.disclosed},
             "flags": " ".join(one.flags), "created_at": about.created_at}
        )  # fmt: skip
    return NamedRows(EXPERIMENT, rows)


def heat_map_rows(found: HeatMap) -> list[Row]:
    """The cells of a heat map, one in each row; `better` is the number of better teams."""
    return NamedRows(CELL, [
        {"competition": row.competition, "complexity": row.complexity, "seed": cell.seed,
         "state": cell.state.value, "run": cell.run, "score": cell.score, "better": cell.better,
         "near_line": cell.is_near}
        for row in found.rows
        for cell in row.cells
    ])  # fmt: skip


def submission_rows(
    found: Sequence[Disclosed],
    to_agent: Disclosures,
    to_harness: Disclosures,
    final: str | None,
    near: frozenset[str],
) -> list[Row]:
    """The submissions of a run, each with its disclosures to the agent and to harnesses."""
    return NamedRows(SUBMISSION, [
        {"submission": one.submission.id, "run_seconds": one.submission.run_seconds,
         "received_at": one.submission.received_at, "settled_at": one.settled_at,
         "state": one.state, "final": one.submission.id == final,
         **{name: (one.grade or {}).get(name) for name in GRADE},
         "near_line": one.submission.id in near,
         "violations": (one.problem or {}).get("violation_count"),
         "told": " ".join(to_agent.by_submission.get(one.submission.id, ())),
         "told_to_harness": " ".join(to_harness.by_submission.get(one.submission.id, ())),
         "message": one.submission.message}
        for one in found
    ])  # fmt: skip


def violation_rows(one: Disclosed) -> list[Row]:
    """The violations of a file. Rows count from 1, without the header."""
    found: list[dict[str, Any]] = (one.problem or {}).get("violations") or []
    return NamedRows(VIOLATION, [
        {"code": v["code"], "column": v.get("column"), "row": v.get("row"),
         "message": v["message"], "examples": " ".join(map(str, v.get("examples") or ()))}
        for v in found
    ])  # fmt: skip


def catalogue_rows(found: Sequence[CatalogueEntry]) -> list[Row]:
    """The list of competitions."""
    return NamedRows(COMPETITION, [
        {"competition": entry.version.slug, "version": entry.version.number,
         "title": entry.competition.title, "complexity": entry.competition.complexity,
         "category": entry.competition.category, "metric": entry.competition.metric.name,
         "teams": entry.leaderboard.teams if entry.leaderboard else None,
         "gold": entry.leaderboard.lines.gold if entry.leaderboard else None,
         "status": entry.version.status.value,
         "flags": " ".join(flag.code for flag in entry.competition.flags)}
        for entry in found
    ])  # fmt: skip


def queue_rows(found: Sequence[QueueItem]) -> list[Row]:
    """Runs with signals, with the codes of their signals."""
    return NamedRows(QUEUED, [
        {"run": one.run.run, "experiment": one.run.experiment,
         "competition": one.run.competition, "seed": one.run.seed,
         "signals": " ".join(each.signal for each in one.signals),
         "last_at": one.run.last_at, "decision": one.run.decision}
        for one in found
    ])  # fmt: skip


def signal_rows(found: Sequence[Any]) -> list[Row]:
    """The signals of a run; `numbers` are the numbers behind each, as JSON."""
    return NamedRows(SIGNAL, [
        {"signal": one.signal, "level": one.level, "submission": one.submission_id,
         "other_run": one.other_run, "numbers": json.dumps(one.detail), "at": one.at}
        for one in found
    ])  # fmt: skip


def fields_of(items: Sequence[Any], *names: str) -> list[Row]:
    """These fields of each item."""
    return NamedRows(names, [{name: getattr(one, name) for name in names} for one in items])
