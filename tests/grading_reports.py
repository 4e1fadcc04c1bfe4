"""Grading reports as MLE-bench writes them, made from medal lines."""

from __future__ import annotations

import csv
import random
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LINES = Path(__file__).parent / "domain" / "medal_lines.csv"
MEDALS = ("gold", "silver", "bronze")


def suites() -> dict[str, list[str]]:
    """The suites that come with Podium."""
    document = tomllib.loads((ROOT / "competitions" / "suites.toml").read_text())
    return {name: suite["competitions"] for name, suite in document["suites"].items()}


def medal_lines() -> dict[str, dict[str, str]]:
    """Medal lines of MLE-bench's competitions, by id."""
    with LINES.open(newline="") as file:
        return {row["slug"]: row for row in csv.DictReader(file)}


def entry(row: dict[str, str], score: float | None, made: bool | None = None) -> dict[str, Any]:
    """A competition report, its flags computed in the way of MLE-bench's grade helpers."""
    lower = row["direction"] == "minimize"
    lines = {name: float(row[name]) for name in (*MEDALS, "median")}
    won = []
    if score is not None:
        score = round(score, 5)
        won = [m for m in MEDALS if (score <= lines[m] if lower else score >= lines[m])]
    above = score is not None and (score < lines["median"] if lower else score > lines["median"])
    return {
        "competition_id": row["slug"],
        "score": score,
        **{f"{name}_threshold": line for name, line in lines.items()},
        "any_medal": bool(won),
        "gold_medal": won[:1] == ["gold"],
        "silver_medal": won[:1] == ["silver"],
        "bronze_medal": won[:1] == ["bronze"],
        "above_median": above,
        "submission_exists": score is not None if made is None else made,
        "valid_submission": score is not None,
        "is_lower_better": lower,
        "created_at": "2025-05-07T14:59:41.765720",
        "submission_path": f"runs/{row['slug']}/submission.csv",
    }


def report(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The report over these entries, with its totals."""

    def total(name: str) -> int:
        return sum(each[name] for each in entries)

    return {
        "total_runs": len(entries),
        "total_runs_with_submissions": total("submission_exists"),
        "total_valid_submissions": total("valid_submission"),
        "total_medals": total("any_medal"),
        "total_gold_medals": total("gold_medal"),
        "total_silver_medals": total("silver_medal"),
        "total_bronze_medals": total("bronze_medal"),
        "total_above_median": total("above_median"),
        "competition_reports": entries,
    }


def random_report(slugs: list[str], chance: random.Random) -> dict[str, Any]:
    """A report with a result of any kind for each competition."""
    known = medal_lines()
    return report([random_entry(known[slug], chance) for slug in slugs])


def random_entry(row: dict[str, str], chance: random.Random) -> dict[str, Any]:
    kind = chance.choice(["gold", "silver", "bronze", "median", "bad", "invalid", "none"])
    if kind == "invalid":
        return entry(row, None, made=True)
    if kind == "none":
        return entry(row, None)
    if kind == "bad":
        gold, median = float(row["gold"]), float(row["median"])
        return entry(row, median + (median - gold) + (-1 if row["direction"] != "minimize" else 1))
    return entry(row, float(row[kind]))
