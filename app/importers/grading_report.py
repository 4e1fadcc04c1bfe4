"""Read MLE-bench's `grading_report.json`, completely or not at all, and recompute its results.

There are four forms: the report with its totals, a bare list of competition reports (as summaries
have them), an object with such a list as `results` (as agentbeats writes it), and a single
competition report (as `mlebench grade-sample` prints it).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.competition import SLUG
from app.domain.leaderboard import Leaderboard, MedalLines
from app.domain.medals import Medal
from app.errors import Invalid
from app.importers.json_text import parse_json, quoted, shortened, storable

# Each may have seven differences, which together take fifty times its bytes.
MOST_ENTRIES = 10_000
THRESHOLDS = ("gold", "silver", "bronze", "median")
FLAGS = (
    "any_medal",
    "gold_medal",
    "silver_medal",
    "bronze_medal",
    "above_median",
    "submission_exists",
    "valid_submission",
)
TOTALS: Mapping[str, Callable[[ReportEntry], bool]] = {
    "total_runs": lambda one: True,
    "total_runs_with_submissions": lambda one: one.made,
    "total_valid_submissions": lambda one: one.valid,
    "total_medals": lambda one: one.medal is not None,
    "total_gold_medals": lambda one: one.medal is Medal.GOLD,
    "total_silver_medals": lambda one: one.medal is Medal.SILVER,
    "total_bronze_medals": lambda one: one.medal is Medal.BRONZE,
    "total_above_median": lambda one: one.above_median,
}


class BadReport(Invalid):
    """The file is not a grading report of MLE-bench.

    Carries the `place` of the first mistake and the `reason`.
    """


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A difference between a report and Podium's result; `place` is its place in the report."""

    place: str
    competition: str | None
    field: str
    file: Any
    ours: Any
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """A competition report: the original (`document`), and the results recomputed from it."""

    place: str
    competition: str
    made: bool
    valid: bool
    score: float | None
    medal: Medal | None
    above_median: bool
    lines: MedalLines | None
    higher_is_better: bool | None
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class GradingReport:
    """A grading report, recomputed, with every difference from the file."""

    entries: tuple[ReportEntry, ...]
    mismatches: tuple[Mismatch, ...]


def read_report(data: bytes) -> GradingReport:
    """Read a grading report and recompute its results.

    Raises:
        BadReport: the file is not a grading report; `place` is the place of the first error.
    """
    document = parse_json(data, _bad, pairs=_once)
    items, where, totals = _find_items(document)
    if not items:
        raise _bad(where, "there are no competition reports in it")
    if len(items) > MOST_ENTRIES:
        raise _bad(where, f"it has more than {MOST_ENTRIES:,} competition reports")
    mismatches: list[Mismatch] = []
    entries = []
    for at, item in enumerate(items):
        place = "the report" if item is document else f"{where}[{at}]"
        entry, found = _read_entry(place, item)
        entries.append(entry)
        mismatches += found
    for name, counts in TOTALS.items():
        ours = sum(counts(entry) for entry in entries)
        if totals is not None and totals.get(name) != ours:
            note = "" if name in totals else "the report has no such total"
            mismatches.append(Mismatch(name, None, name, shortened(totals.get(name)), ours, note))
    return GradingReport(tuple(entries), tuple(mismatches))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"an object has the key {quoted(name)} twice")
        found[name] = value
    return found


def _find_items(document: Any) -> tuple[list[Any], str, dict[str, Any] | None]:
    if isinstance(document, list):
        return document, "", None
    if not isinstance(document, dict):
        raise _bad("", "a report is an object with competition_reports, or a list of these")
    if "competition_reports" in document:
        items = document["competition_reports"]
        if not isinstance(items, list):
            raise _bad("competition_reports", "it is not a list")
        has_totals = any(name in document for name in TOTALS)
        return items, "competition_reports", document if has_totals else None
    if "competition_id" in document:
        return [document], "", None
    if isinstance(document.get("results"), list):
        return document["results"], "results", None
    keys = ", ".join(map(quoted, list(document)[:5]))
    raise _bad("", f"there are no competition_reports in it, but {keys or 'nothing'}")


def _read_entry(place: str, item: Any) -> tuple[ReportEntry, list[Mismatch]]:
    if not isinstance(item, dict):
        raise _bad(place, "a competition report is an object")
    slug = item.get("competition_id")
    if not isinstance(slug, str) or not SLUG.fullmatch(slug):
        raise _bad(f"{place}.competition_id", f"{quoted(slug)} is not the id of a competition")
    if "score" not in item:
        raise _bad(f"{place}.score", "it is not there; a run without a score has null")
    score = _number(place, item, "score")
    thresholds = {name: _number(place, item, f"{name}_threshold") for name in THRESHOLDS}
    for name in ("is_lower_better", *FLAGS):
        if not isinstance(item.get(name), bool | None):
            raise _bad(f"{place}.{name}", f"{quoted(item[name])} is not true, false or null")
    found: list[Mismatch] = []
    if score is not None and not math.isfinite(score):
        note = "a score that is not finite makes no valid submission"
        found.append(Mismatch(f"{place}.score", slug, "score", str(score), None, note))
        score = None
    lower = item.get("is_lower_better")
    lines = MedalLines(**thresholds) if _are_all_finite(thresholds) else None
    valid = score is not None
    made = valid or bool(item.get("submission_exists"))
    medal, above = None, False
    if score is not None and lines is not None and lower is not None:
        standing = Leaderboard.from_lines(lines, teams=None, higher_is_better=not lower).standing(
            score
        )
        medal, above = standing.medal, bool(standing.above_median)
    elif score is not None:
        medal, above = _as_stated(item)
        note = "it cannot be recomputed without thresholds and direction: the file decides"
        stated = medal.value if medal else None
        found.append(Mismatch(place, slug, "any_medal", stated, None, note))
    entry = ReportEntry(
        place=place,
        competition=slug,
        made=made,
        valid=valid,
        score=score,
        medal=medal,
        above_median=above,
        lines=lines,
        higher_is_better=None if lower is None else not lower,
        document=storable(item),
    )
    ours = flags_of(entry.made, entry.valid, entry.medal, entry.above_median)
    for name, value in ours.items():
        if item.get(name) is not value:
            note = "" if item.get(name) is not None else "the report does not say"
            found.append(
                Mismatch(f"{place}.{name}", slug, name, shortened(item.get(name)), value, note)
            )
    return entry, found


def flags_of(made: bool, valid: bool, medal: Medal | None, above_median: bool) -> dict[str, bool]:
    """The flags of a competition report, with the names and meaning of MLE-bench."""
    return {
        "any_medal": medal is not None,
        "gold_medal": medal is Medal.GOLD,
        "silver_medal": medal is Medal.SILVER,
        "bronze_medal": medal is Medal.BRONZE,
        "above_median": above_median,
        "submission_exists": made,
        "valid_submission": valid,
    }


def _as_stated(item: Mapping[str, Any]) -> tuple[Medal | None, bool]:
    medal = next((each for each in Medal if item.get(f"{each.value}_medal")), None)
    return medal, bool(item.get("above_median"))


def _number(place: str, item: Mapping[str, Any], name: str) -> float | None:
    value = item.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _bad(f"{place}.{name}", f"{quoted(value)} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise _bad(f"{place}.{name}", "the number is too large") from None


def _are_all_finite(thresholds: Mapping[str, float | None]) -> bool:
    return all(value is not None and math.isfinite(value) for value in thresholds.values())


def _bad(place: str, reason: str) -> BadReport:
    where = f" at {place}" if place else ""
    return BadReport(f"The grading report is refused{where}: {reason}.", place=place, reason=reason)
