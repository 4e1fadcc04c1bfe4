"""The cost of an experiment's choices of final submissions, in medals and in percentiles."""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import Conflict
from app.services.results.choice.histories import histories_of
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.services.runtime.context import Context
from app.statistics.medals_over_time import Choice
from app.statistics.percentiles import DEFAULT_CONVENTION
from app.statistics.selection import (
    Difference,
    Regret,
    ShakeUp,
    percentile_regret,
    selection_regret,
    shake_up,
)


@dataclass(frozen=True, slots=True)
class ChoiceCost:
    """The regret of one rule, in medals and in percentiles (None where no place is known)."""

    choice: Choice
    medals: Regret
    percentiles: Difference | None


@dataclass(frozen=True, slots=True)
class ChoiceCosts:
    """The regrets of an experiment's choices, and its shake-up.

    `with_choice` of the `runs` have two or more valid submissions; the regret of the others is 0.
    `unplaced` competitions have a submission whose place among the human teams is not known: they
    are not in the percentiles, which are over `placed` competitions.
    """

    context: ResultContext
    convention: str
    runs: int
    with_choice: int
    placed: int
    unplaced: list[str]
    costs: list[ChoiceCost]
    shake_up: ShakeUp | None


def selection(
    context: Context, name: str, filters: ResultFilter, convention: str = DEFAULT_CONVENTION
) -> ChoiceCosts:
    """The regret of each rule to choose the final submission, and the shake-up of public scores.

    Raises:
        NotFound: the experiment or the suite does not exist.
        AttemptsMissing: results are missing and the padding does not allow it.
        LeaderboardsMissing: a competition has no medals to win.
        Conflict: no run is here, because all results were imported.
    """
    found = histories_of(context, name, filters, convention=convention)
    runs = found.runs
    if not any(run.sent for run in runs):
        raise Conflict(f"No counted run of {name!r} has a valid submission, so nothing was chosen.")
    unplaced = {run.competition for run in runs if any(one.percentile is None for one in run.sent)}
    placed = [run for run in runs if run.competition not in unplaced]
    return ChoiceCosts(
        context=found.context,
        convention=convention,
        runs=len(runs),
        with_choice=sum(len(run.sent) > 1 for run in runs),
        placed=len({run.competition for run in placed}),
        unplaced=sorted(unplaced),
        costs=[
            ChoiceCost(
                choice,
                selection_regret(runs, choice),
                percentile_regret(placed, choice) if placed else None,
            )
            for choice in Choice
            if choice is not Choice.ORACLE
        ],
        shake_up=shake_up(runs),
    )
