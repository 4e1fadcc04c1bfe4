"""Records as bodies of responses."""

from __future__ import annotations

from typing import Any

from app.api.schemas.competitions import CompetitionOut
from app.domain.columns import Column
from app.domain.competition import Competition
from app.domain.feedback import visible_flags
from app.domain.form import SubmissionForm
from app.domain.leaderboard import Leaderboard
from app.domain.metric_choice import MeasuredMetric
from app.domain.verdict import LISTED_VIOLATIONS, Verdict
from app.reports.mle_bench_report import flags_of_submission
from app.services.competitions import queries
from app.services.experiments.reported_scores import ExternalInfo
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.services.submissions.disclose import Disclosed
from app.storage.database.records import ExperimentRecord, RunRecord
from app.storage.queries.archive import ArchivalRecord


def submission(shown: Disclosed) -> dict[str, Any]:
    """A submission with the fields that its caller may see."""
    record = shown.submission
    problem = shown.problem and {**shown.problem, "instance": f"/v1/submissions/{record.id}"}
    return {
        "id": record.id,
        "run": record.run_id,
        "competition": shown.run.competition,
        "competition_version": shown.competition_version,
        "state": shown.state,
        "message": record.message,
        "bytes": record.bytes,
        "sha256": record.sha256,
        "received_at": record.received_at,
        "settled_at": shown.settled_at,
        "run_seconds": record.run_seconds,
        "selected": shown.run.selected_id == record.id,
        "problem": problem,
        "warnings": shown.warnings,
        "grade": shown.grade,
        **({} if shown.regrade is None else {"regrade": shown.regrade}),
    }


def grade_report(shown: Disclosed) -> dict[str, Any]:
    """A submission with its grade in brief, for the one call of harnesses."""
    grade, problem = shown.grade or {}, shown.problem or {}
    is_settled = shown.submission.state.is_settled
    flags: dict[str, bool | None] = dict(flags_of_submission(shown))
    return {
        **submission(shown),
        "experiment": shown.run.experiment,
        "seed": shown.run.seed,
        **flags,
        "valid_submission": flags["valid_submission"] if is_settled else None,
        **{name: grade.get(name) for name in ("score", "percentile", "medal")},
        "violations": problem.get("violations", []),
        "violation_count": problem.get("violation_count", 0),
    }


def verdict(found: Verdict) -> dict[str, Any]:
    """The outcome of a validation. Not all violations may be listed, but all are counted."""
    return {
        "valid": found.is_valid,
        "violations": [v.as_dict() for v in found.violations[:LISTED_VIOLATIONS]],
        "violation_count": len(found.violations),
        "warnings": [w.as_dict() for w in found.warnings],
    }


def exposure_totals(totals: dict[str, int]) -> dict[str, int]:
    """Counts of disclosures by kind."""
    return {f"{kind}s": count for kind, count in totals.items()}


def archival(found: ArchivalRecord | None) -> dict[str, Any] | None:
    """When, why and by which key something was archived; None if it is not."""
    if found is None:
        return None
    return {"at": found.archived_at, "reason": found.reason, "by": found.archived_by}


def experiment(record: ExperimentRecord, archived: ArchivalRecord | None = None) -> dict[str, Any]:
    """An experiment."""
    return {
        "name": record.name,
        "agent": record.agent,
        "model": record.model,
        "notes": record.notes,
        "resources": record.resources,
        "created_at": record.created_at,
        "archived": archival(archived),
    }


def run(context: Context, record: RunRecord, info: ExternalInfo) -> dict[str, Any]:
    """A run."""
    return {
        "id": record.id,
        "experiment": record.experiment,
        "competition": record.competition,
        "competition_version": context.catalogue.version(record.version_id).number,
        "seed": record.seed,
        "feedback": record.feedback,
        "limits": record.limits or {},
        "state": record.state,
        "usage": record.usage,
        "failure": record.failure,
        "selected": record.selected_id,
        "final": "selected" if record.selected_id else "last",
        "reported_scores": info.reported,
        "imported_from": info.imported_from,
        "created_at": record.created_at,
        "started_at": record.started_at,
        "closed_at": record.closed_at,
        "archived": archival(info.archived),
        "submissions": info.submissions,
    }


def competition(
    context: Context,
    entry: CatalogueEntry,
    for_run: RunRecord | None,
    archived: ArchivalRecord | None = None,
) -> dict[str, Any]:
    """A competition. A run sees medal lines, baseline and codes of flags only under `full`.

    It never sees texts that an admin wrote for readers of results (notes of flags, suites, tags),
    nor the hash of the content, with which guesses of the answers could be checked.
    """
    declared, version = entry.competition, entry.version
    medals = baseline = None
    if queries.shows_medals(for_run) and declared.baseline is not None:
        baseline = declared.baseline.model_dump()
    if queries.shows_medals(for_run) and entry.leaderboard is not None:
        medals = board_summary(declared, entry.leaderboard)
    return {
        "slug": version.slug,
        "title": declared.title,
        "version": version.number,
        "content_hash": None if for_run else version.content_hash,
        "category": declared.category,
        "complexity": None if for_run else declared.complexity,
        "metric": {
            "name": declared.metric.name,
            "parameters": declared.metric.parameters,
            "higher_is_better": declared.metric.higher_is_better,
        },
        "measured": _measured(declared),
        "submission": _form(declared.submission, version.rows),
        "medals": medals,
        "baseline": baseline,
        "flags": visible_flags(declared.flags, for_run.feedback if for_run else None),
        "suites": [] if for_run else queries.suites_of(context, version.slug),
        "tags": [] if for_run else list(declared.tags),
        "files": context.catalogue.public_files.of(version.id),
        "status": version.status,
        "archived": None if for_run else archival(archived),
    }


def competition_json(
    context: Context,
    entry: CatalogueEntry,
    for_run: RunRecord | None,
    archived: ArchivalRecord | None,
) -> list[bytes]:
    """The same as JSON, in parts. The list of files, which may be long, comes from the cache."""
    document = competition(context, entry, for_run, archived)
    rest = CompetitionOut.model_validate({**document, "files": []})
    names = list(CompetitionOut.model_fields)
    at = names.index("files")
    before = rest.model_dump_json(include=set(names[:at])).encode()
    after = rest.model_dump_json(include=set(names[at + 1 :])).encode()
    files = context.catalogue.public_files.of(entry.version.id).json
    return [before[:-1] + b',"files":', files, b"," + after[1:]]


def board_summary(declared: Competition, board: Leaderboard) -> dict[str, Any]:
    """The human leaderboard's summary."""
    source = declared.leaderboard
    captured_at = source.captured_at if source else None
    return {
        "rule": board.rule.value,
        "teams": board.teams,
        "gold": board.lines.gold,
        "silver": board.lines.silver,
        "bronze": board.lines.bronze,
        "median": board.lines.median,
        "decimals": board.decimals,
        "source": source.source if source else None,
        "captured_at": captured_at.isoformat() if captured_at else None,
        "complete": board.is_complete,
        "awards_medals": source.awards_medals if source else True,
    }


def _measured(declared: Competition) -> dict[str, str] | None:
    metric = declared.metric
    if not isinstance(metric, MeasuredMetric):
        return None
    return {"unit": metric.unit, "harness": metric.harness}


def _form(form: SubmissionForm | None, rows: int | None) -> dict[str, Any] | None:
    if form is None:
        return None
    return {
        "id": list(form.id),
        "columns": [{"name": name, **_options(column)} for name, column in form.columns.items()],
        "rows": rows,
        "rows_sum_to_one": form.rows_sum_to_one,
    }


def _options(column: Column) -> dict[str, Any]:
    unused = None if column.aliases else {"aliases"}
    return column.model_dump(mode="json", exclude_none=True, exclude=unused)
