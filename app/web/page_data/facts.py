"""The facts of pages in addition to their tables, for JSON.

They contain only what a page shows: records have more, which is of no use to a reader. Records of
the database have the type Any, because pages do not import the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from app.domain.leaderboard import Leaderboard
from app.services.competitions.import_jobs import ImportJob
from app.services.experiments.disclosures import Disclosures
from app.services.experiments.reported_scores import Reported
from app.services.regrades.show import ShownRegrade
from app.services.results.cells import HeatMap
from app.services.results.medals_over_time import Curves
from app.services.results.success_rates import SuccessResults
from app.services.runtime.catalogue import CatalogueEntry
from app.services.submissions.disclose import Disclosed
from app.statistics.success import all_last
from app.web.page_data.paging import Paging, Shown

NOISE = ("standard_error", "low", "high", "resamples", "medals", "reason")


def paging_facts(paging: Paging) -> dict[str, Any]:
    """Which part of a list is shown."""
    return {"page": paging.number, "pages": paging.pages, "total": paging.total}


def shown_facts(shown: Shown, next_cursor: str | None) -> dict[str, Any]:
    """Which part of a list with a cursor is shown."""
    return {"before": shown.before, "total": shown.total, "next_cursor": next_cursor}


def archived_facts(found: Sequence[Any]) -> list[dict[str, Any]]:
    """The archive entries of a page's subject, with their times and reasons."""
    return [
        {"kind": one.kind, "name": one.name, "at": one.archived_at, "reason": one.reason}
        for one in found
    ]


def experiment_facts(found: HeatMap) -> dict[str, Any]:
    """An experiment with its rates, over the cells of its heat map."""
    about = found.summary
    return {
        **asdict(about.experiment), "rates": about.rates, "runs95": about.interval,
        "competitions": about.competitions, "runs": about.runs, "pending": about.pending,
        "feedback": about.policies, "imported": about.imported, "told": about.disclosed,
        "flags": about.flags, "seeds": found.seeds, "counts": found.counts,
    }  # fmt: skip


def success_facts(found: SuccessResults) -> list[dict[str, Any]]:
    """The success rates of each competition, and of all."""
    return [
        {
            "group": name, "competitions": list(found.members[name]), "runs": group.runs,
            "success_rate": group.success_rate and asdict(group.success_rate),
            "ever_success_rate": group.ever_success_rate and asdict(group.ever_success_rate),
            "average_improvement": asdict(group.average_improvement),
        }
        for name, group in all_last(found.groups)
    ]  # fmt: skip


def run_facts(
    run: Any,
    entry: CatalogueEntry,
    to_agent: Disclosures,
    to_harness: Disclosures,
    final: str | None,
    origin: str | None,
) -> dict[str, Any]:
    """A run, and the totals of its disclosures, which are unknown for imported runs."""
    names = ("id", "experiment", "competition", "seed", "feedback", "limits", "state", "usage",
             "failure", "created_at", "started_at", "closed_at")  # fmt: skip
    metric = entry.competition.metric
    return {
        **_of(run, names), "version": entry.version.number, "metric": metric.name,
        "higher_is_better": metric.higher_is_better, "final": final,
        "selected": run.selected_id, "told": to_agent.totals, "told_to_harness": to_harness.totals,
        "imported_from": origin, **({"feedback": None, "told": None} if origin else {}),
    }  # fmt: skip


def receipt_facts(found: Sequence[Any]) -> list[dict[str, Any]]:
    """The receipts, oldest first."""
    return [_of(one, ("id", "number", "supersedes", "created_at")) for one in found]


def reported_facts(found: Sequence[Reported]) -> list[dict[str, Any]]:
    """The first scores that were reported for a run, oldest first."""
    names = ("score", "step", "run_seconds", "final", "reported_at")
    return [
        {**_of(one.record, names), "improvement": one.improvement, "success": one.success}
        for one in found
    ]


def submission_facts(one: Disclosed, noise: object) -> dict[str, Any]:
    """A submission with its grade or its problem, and the noise of its score."""
    names = ("id", "received_at", "run_seconds", "bytes", "sha256", "message")
    return {
        **_of(one.submission, names), "run": one.run.id, "experiment": one.run.experiment,
        "competition": one.run.competition, "version": one.competition_version,
        "state": one.state, "settled_at": one.settled_at, "grade": one.grade,
        "problem": one.problem, "warnings": one.warnings, "regrade": one.regrade,
        "noise": noise and _of(noise, NOISE),
    }  # fmt: skip


def competition_facts(
    entry: CatalogueEntry,
    suites: Sequence[str],
    versions: Sequence[Any],
    regrades: Sequence[ShownRegrade],
) -> dict[str, Any]:
    """A competition with its board, its versions and its regrades."""
    about, version = entry.competition, entry.version
    return {
        "competition": version.slug, "version": version.number, "status": version.status,
        "rows_of_a_submission": version.rows, "metric": about.metric.name,
        "higher_is_better": about.metric.higher_is_better, "complexity": about.complexity,
        "category": about.category, "suites": suites, "baseline": about.baseline,
        "flags": [{"code": flag.code, "note": flag.note} for flag in about.flags],
        "leaderboard": _board_facts(entry.leaderboard), "description": entry.description,
        "versions": [
            {"number": one.number, "imported_at": one.imported_at, "status": one.status,
             "flags": [flag["code"] for flag in one.document.get("flags") or ()],
             "sha256": one.content_hash}
            for one in versions
        ],
        "regrades": [
            {"id": one.record.id, "started_at": one.record.created_at, "state": one.record.state,
             "applied_at": one.record.applied_at, "superseded_at": one.record.superseded_at,
             "version": one.version, "done": one.done, "total": one.total, "failed": one.failed,
             "reason": one.record.reason}
            for one in regrades
        ],
    }  # fmt: skip


def _board_facts(board: Leaderboard | None) -> dict[str, Any] | None:
    if board is None:
        return None
    return {"teams": board.teams, "is_complete": board.is_complete, "lines": board.lines}


def over_time_facts(found: Curves) -> dict[str, Any]:
    """The numbers of runs behind medals over time, and the regret of each choice."""
    return {
        "axis": found.axis, "padding": found.padding, "runs": found.runs,
        "left_out": found.left_out, "missing": found.missing,
        "regret": {choice: asdict(regret) for choice, regret in found.regret.items()},
    }  # fmt: skip


IMPORT = ("id", "archive_bytes", "started_at", "state", "files", "bytes", "ended_at", "detail",
          "competition", "version", "warnings")  # fmt: skip


def import_facts(job: ImportJob) -> dict[str, Any]:
    """An import of an archive: its progress, and how it ended."""
    facts = _of(job, IMPORT[:-3]) | {"competition": None, "version": None, "warnings": []}
    if job.result is not None:
        version = job.result.version
        facts |= {
            "competition": version.slug, "version": version.number, "warnings": version.lint,
        }  # fmt: skip
    return facts


def _of(record: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}
