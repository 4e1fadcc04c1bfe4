"""What is missing from success rates, and the refusals that list it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.wording import first_few
from app.errors import AttemptsMissing, BaselinesMissing
from app.services.results.run_outcomes import ResultStatus, RunOutcome

ALL_LOST = "all its runs were lost to infrastructure"
NO_RUN = "no run"
NAMED = 3


@dataclass(frozen=True, slots=True)
class Missing:
    """A competition without a counted run (`seed` is None), or a run without a result; and why."""

    competition: str
    seed: int | None
    reason: str


def find_missing(runs: Sequence[RunOutcome], kept: Sequence[str]) -> tuple[Missing, ...]:
    """Runs without a result, and competitions where nothing was counted nor is to be."""
    found = [
        Missing(each.competition, each.seed, each.why)
        for each in runs
        if each.standing is ResultStatus.PENDING
    ]
    standings: dict[str, set[ResultStatus]] = {slug: set() for slug in kept}
    for each in runs:
        standings[each.competition].add(each.standing)
    for slug, seen in standings.items():
        if not seen or seen == {ResultStatus.LOST}:
            found.append(Missing(slug, None, ALL_LOST if seen else NO_RUN))
    return tuple(sorted(found, key=lambda each: (each.competition, each.seed or 0)))


def no_baseline(without: Mapping[str, int]) -> BaselinesMissing:
    """The refusal of runs that nothing is known of to hold them against."""
    slugs = sorted(without)
    named = first_few(slugs, NAMED)
    return BaselinesMissing(
        f"No baseline is known of {named}. An admin can declare [baseline] in competition.toml "
        "before runs are made; starter=EXPERIMENT takes the mean score of runs of the starter "
        "code; baselines=known leaves these runs out and lists them.",
        missing_baseline=[{"competition": slug, "runs": without[slug]} for slug in slugs],
    )


def incomplete(missing: Sequence[Missing]) -> AttemptsMissing:
    """The refusal of a statistic from which results are missing."""
    each = [
        one.competition + ("" if one.seed is None else f" seed {one.seed}") + f": {one.reason}"
        for one in missing
    ]
    return AttemptsMissing(
        f"Results are missing ({first_few(each, NAMED, '; ')}). With padding=fail they count as "
        "failures, with padding=complete they are left out; either way they are listed.",
        missing=[
            {"competition": one.competition, "seed": one.seed, "reason": one.reason}
            for one in missing
        ],
    )
