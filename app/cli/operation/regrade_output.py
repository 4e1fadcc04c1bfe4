"""The output of `podium regrade`: the difference, or the comparison with first grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.cli.output import print_line
from app.cli.tables import print_table
from app.domain.wording import counted, first_few
from app.services.regrades.difference import LISTED_UNCHANGED

SHOWN = 50  # lines of a table; --json has the first 1,000
NAMED = 10  # experiments without rates
RATES = ("any_medal", "gold", "silver", "bronze", "above_median", "valid_submission")


def print_difference(document: Mapping[str, Any]) -> None:
    """Print a regrade: its counts, final submissions, rates and submissions."""
    difference = document["difference"]
    counts = difference["submissions"]
    under = "its own version" if document["version"] is None else f"version {document['version']}"
    print_line(
        f"{document['id']}: {counted(counts['submissions'], 'submission')} of "
        f"{document['competition']}, each graded anew under {under}"
    )
    print_line(
        f"equal {counts['equal']}, other score {counts['scores']}, other place {counts['places']}, "
        f"other medal {counts['medals']} (won {counts['medals_won']}, lost "
        f"{counts['medals_lost']}), graded now {counts['newly_graded']}, rejected now "
        f"{counts['newly_rejected']}, failed now {counts['newly_failed']}"
    )
    finals = difference["finals"]
    if finals:
        print_line("")
        print_table(
            ["RUN", "EXPERIMENT", "SEED", "FINAL", "SCORE", "BETTER", "MEDAL", "FINAL AFTER",
             "SCORE AFTER", "BETTER AFTER", "MEDAL AFTER"],
            [
                [one["run"], one["experiment"], one["seed"], *_final(one["before"]),
                 *_final(one["after"])]
                for one in finals[:SHOWN]
            ],
            "",
        )  # fmt: skip
        _more(difference["finals_changed"], len(finals), "run")
    _print_rates(difference)
    _print_changes(document["changes"], counts["submissions"] - counts["equal"])


def _print_rates(difference: Mapping[str, Any]) -> None:
    moved = [one for one in difference["experiments"] if one["before"] != one["after"]]
    if moved:
        print_line("")
        print_table(
            ["EXPERIMENT", "RATE", "BEFORE %", "AFTER %"],
            [
                [one["experiment"], rate, *(_rate(one[side], rate) for side in ("before", "after"))]
                for one in moved[:SHOWN]
                for rate in RATES
                if _rate(one["before"], rate) != _rate(one["after"], rate)
            ],
            "",
        )
    others = [one for one in difference["experiments"] if one["before"] == one["after"]]
    without = [one["experiment"] for one in others if one["before"]["rates"] is None]
    not_listed = max(0, difference.get("experiments_unchanged", 0) - LISTED_UNCHANGED)
    same = len(others) - len(without) + not_listed
    print_line(f"{counted(same, 'experiment')} with the same rates")
    if without:
        names = first_few(without, NAMED)
        print_line(f"{counted(len(without), 'experiment')} without rates before and after: {names}")


def print_verification(document: Mapping[str, Any]) -> None:
    """Print whether the first grades could be made again."""
    found = document["verification"]
    print_line(
        f"{document['competition']}: {counted(found['compared'], 'submission')} graded again, "
        f"{found['equal']} equal to the last bit, {found['different']} different"
    )
    if found["other_environment"]:
        print_line(
            f"{counted(found['other_environment'], 'first grade')} made by another environment "
            f"than {document['podium_version']}, {document['environment']}"
        )
    _print_changes(found["submissions"], found["different"])


def _print_changes(changes: Sequence[Mapping[str, Any]], total: int) -> None:
    if not changes:
        return
    print_line("")
    print_table(
        ["SUBMISSION", "EXPERIMENT", "SEED", "STATE", "SCORE", "BETTER", "MEDAL", "STATE AFTER",
         "SCORE AFTER", "BETTER AFTER", "MEDAL AFTER"],
        [
            [one["submission"], one["experiment"], one["seed"], one["state_before"].value,
             *_numbers(one["before"]), one["state_after"].value, *_numbers(one["after"])]
            for one in changes[:SHOWN]
        ],
        "",
    )  # fmt: skip
    _more(total, len(changes), "submission")


def _final(final: Mapping[str, Any] | None) -> list[Any]:
    return [final[name] if final else None for name in ("submission", "score", "better", "medal")]


def _numbers(numbers: Mapping[str, Any]) -> list[Any]:
    score = numbers["score"]
    return [None if score is None else repr(score), numbers["better"], numbers["medal"]]


def _rate(side: Mapping[str, Any], rate: str) -> str | None:
    return None if side["rates"] is None else f"{side['rates'][rate]:.2f}"


def _more(total: int, listed: int, what: str) -> None:
    """Print how many there are in addition to the table, and how many of them `--json` lists."""
    if total > min(listed, SHOWN):
        where = "lists them" if listed == total else f"lists the first {listed:,}"
        print_line(f"and {counted(total - min(listed, SHOWN), f'more {what}')}; --json {where}")
