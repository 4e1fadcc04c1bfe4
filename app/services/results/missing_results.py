"""Find the results that are missing from success rates, and make the errors that list them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.wording import first_few
from app.errors import AttemptsMissing, Conflict
from app.services.results.run_outcomes import ResultStatus, RunOutcome

ALL_LOST = "all its runs were lost to infrastructure"
NO_RUN = "no run"
SHOWN_MISSING = 3


class BaselinesMissing(Conflict):
    """Some runs are at competitions without a known baseline, so their success is unknown.

    Carries `missing_baseline`: a list of `{competition, runs}`.
    """


@dataclass(frozen=True, slots=True)
class Missing:
    """A competition without a counted run (`seed` is None), or a run without a result."""

    competition: str
    seed: int | None
    reason: str


def find_missing(runs: Sequence[RunOutcome], slugs_used: Sequence[str]) -> tuple[Missing, ...]:
    """Runs without a result, and those of `slugs_used` without a counted or pending run."""
    found = [
        Missing(each.competition, each.seed, each.reason)
        for each in runs
        if each.status is ResultStatus.PENDING
    ]
    standings: dict[str, set[ResultStatus]] = {slug: set() for slug in slugs_used}
    for each in runs:
        if each.competition in standings:
            standings[each.competition].add(each.status)
    for slug, seen in standings.items():
        if not seen or seen == {ResultStatus.LOST}:
            found.append(Missing(slug, None, ALL_LOST if seen else NO_RUN))
    return tuple(sorted(found, key=lambda each: (each.competition, each.seed or 0)))


def no_baseline(without: Mapping[str, int]) -> BaselinesMissing:
    """The error for runs at competitions without a baseline."""
    slugs = sorted(without)
    named = first_few(slugs, SHOWN_MISSING)
    return BaselinesMissing(
        f"No baseline is known for {named}. An admin can declare [baseline] in competition.toml "
        "before runs are made; starter=EXPERIMENT takes the mean score of runs of the starter "
        "code; baselines=known leaves these runs out and lists them.",
        missing_baseline=[{"competition": slug, "runs": without[slug]} for slug in slugs],
    )


def incomplete(missing: Sequence[Missing]) -> AttemptsMissing:
    """The error for a statistic with missing results."""
    each = [
        one.competition + ("" if one.seed is None else f" seed {one.seed}") + f": {one.reason}"
        for one in missing
    ]
    lost = ", but not those of competitions whose runs were all lost"
    but = lost if any(one.reason == ALL_LOST for one in missing) else ""
    return AttemptsMissing(
        f"Results are missing ({first_few(each, SHOWN_MISSING, '; ')}). With padding `fail` they "
        f"count as failures{but}; with padding `complete` they are left out; either way they are "
        "listed.",
        missing=[
            {"competition": one.competition, "seed": one.seed, "reason": one.reason}
            for one in missing
        ],
    )
