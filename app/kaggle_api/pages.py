"""A competition's pages: the task, how it is graded, the rules of this service, its files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.domain import wording
from app.domain.feedback import Feedback
from app.services.runtime.catalogue import CatalogueEntry
from app.storage.database.records import RunRecord

LISTED = 200  # files

POLICY_RULES = {
    Feedback.NONE: "You see that a file arrived, and nothing else: every submission is listed as "
    "COMPLETE without scores, also invalid ones.",
    Feedback.VALIDITY: "You see whether a file is a valid submission and, if not, its mistakes. "
    "You see no score.",
    Feedback.SEARCH: "You see whether a file is valid. Its score on the rows to search on is in "
    "Podium's own answers; Kaggle's clients do not show it.",
    Feedback.PUBLIC: "You see whether a file is valid, and its score on the public part of the "
    "test rows. You do not see the score on the private part, which decides.",
    Feedback.FULL: "You see everything: both scores and the human leaderboard.",
}


def pages_of(
    entry: CatalogueEntry, run: RunRecord | None, files: Sequence[dict[str, Any]]
) -> dict[str, str]:
    """The pages by name, in Markdown. `files` are the public files as `{name, bytes, sha256}`."""
    return {
        "description": entry.description or entry.competition.title,
        "evaluation": _evaluation(entry),
        "rules": _rules(run),
        "data-description": _data(files),
    }


def _evaluation(entry: CatalogueEntry) -> str:
    declared = entry.competition
    metric, form = declared.metric, declared.submission
    direction = "higher" if metric.higher_is_better else "lower"
    lines = [f"Metric: `{metric.name}`; {direction} is better."]
    if metric.parameters:
        lines.append("Parameters: " + ", ".join(f"`{k}={v}`" for k, v in metric.parameters.items()))
    if form is None:
        lines += ["", "There are no submissions here: a harness measures and reports the result."]
        return "\n".join(lines) + "\n"
    rows = f", {wording.counted(entry.version.rows, 'row')}" if entry.version.rows else ""
    lines += ["", f"A submission is a CSV file with one header line{rows}, as in", ""]
    lines += ["`sample_submission.csv`:", ""]
    lines += [f"- `{name}`: id" for name in form.id]
    if not form.id:
        lines.append("- no id: rows must be in the order of `sample_submission.csv`")
    lines += [f"- `{name}`: {column.kind}" for name, column in form.columns.items()]
    if form.rows_sum_to_one:
        lines += ["", "The probabilities of a row must add up to 1."]
    return "\n".join(lines) + "\n"


def _rules(run: RunRecord | None) -> str:
    lines = ["This competition is served by Podium. There is nothing to accept.", ""]
    if run is None:
        lines.append("- This is not a run's key: it can list and download, but not submit.")
        return "\n".join(lines) + "\n"
    limits = run.limits or {}
    per_day, total, hours = (
        limits.get(name) for name in ("submissions_per_day", "submissions_total", "hours")
    )
    lines.append(f"- {POLICY_RULES[run.feedback]}")
    # Under `none` a quota that does not count invalid files would reveal which they are.
    counted = "valid submissions" if run.feedback.shows_state else "submissions"
    if per_day is not None:
        lines.append(f"- At most {per_day} {counted} in any 24 hours.")
    if total is not None:
        lines.append(f"- At most {total} {counted} in all.")
    if hours is not None:
        since = f"{run.started_at:%Y-%m-%d %H:%M} UTC" if run.started_at else "its first request"
        lines.append(f"- The run ends {hours:g} {'hour' if hours == 1 else 'hours'} after {since}.")
    if per_day is None and total is None:
        lines.append("- The number of submissions is not limited.")
    spared = "Invalid files do not count." if run.feedback.shows_state else "Every file counts."
    lines.append(f"- {spared}")
    lines.append("- The last valid submission is final unless another one is selected.")
    return "\n".join(lines) + "\n"


def _data(files: Sequence[dict[str, Any]]) -> str:
    lines = [f"- `{file['name']}` ({file['bytes']:,} bytes)" for file in files[:LISTED]]
    more = len(files) - len(lines)  # not `first_lines`: there may be 200,000 others
    if more:
        lines.append(f"and {more} more; kaggle competitions files lists all")
    return "\n".join(["The files, also by `kaggle competitions files`:", "", *lines]) + "\n"
