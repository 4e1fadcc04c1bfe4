"""The changes by a regrade: submissions, final submissions, and every experiment's rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from app.domain.result_choices import RATES, Padding
from app.domain.states import SubmissionState
from app.errors import Conflict
from app.services.results.inputs.attempts import attempt_of_run
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.runtime.context import Context
from app.services.runtime.pages import page_of
from app.statistics.attempt_columns import Attempt
from app.statistics.estimates import means_in_percent
from app.storage.queries import results
from app.storage.queries.regrades import differences, regrades
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.regrades.differences import OutcomeDifference
from app.storage.queries.regrades.in_force import NOW, Basis
from app.storage.queries.regrades.regrades import RegradeRecord

LISTED_FINALS = 1000
LISTED_UNCHANGED = 200  # experiments; the rates of more that do not change are not computed


@dataclass(frozen=True, slots=True)
class Final:
    """A run's final submission; the numbers are None if it has no graded one."""

    submission: str | None
    state: SubmissionState | None
    score: float | None
    medal: str | None
    above_median: bool | None
    better: int | None
    equal: int | None
    worse: int | None


def summary(context: Context, regrade: RegradeRecord) -> dict[str, Any]:
    """A summary of the difference from the results that count now, or counted when it was applied.

    `submissions` counts differences. `finals` lists the runs with another final submission, or with
    another grade for it. `experiments` has the rates (padding=available, in percent) before and
    after. A regrade of one submission has only `submissions`.
    """
    if regrade.summary is not None:
        return regrade.summary
    before, proposed = before_of(context, regrade), Basis(proposed=regrade.id)
    with context.database.read() as session:
        counts = differences.count_differences(session, regrade.id, before)
        if regrade.submission_id is not None:
            return {
                "submissions": asdict(counts),
                "finals_changed": 0,
                "finals": [],
                "experiments": [],
                "experiments_unchanged": 0,
            }
        was = dict(_finals(results.run_results(session, competition=regrade.competition)))
        now = dict(
            _finals(results.run_results(session, competition=regrade.competition, basis=proposed))
        )
    changed = [run for run, found in now.items() if run not in was or was[run].final != found.final]
    touched = {found.experiment for run, found in now.items() if was.get(run) != found}
    names = sorted({found.experiment for found in now.values()})
    unchanged = [name for name in names if name not in touched]
    return {
        "submissions": asdict(counts),
        "finals_changed": len(changed),
        "finals": [_final(run, was.get(run), now[run]) for run in changed[:LISTED_FINALS]],
        "experiments": [
            _experiment(context, name, proposed if name in touched else None)
            for name in names
            if name in touched or name in unchanged[:LISTED_UNCHANGED]
        ],
        "experiments_unchanged": len(unchanged),
    }


def before_of(context: Context, regrade: RegradeRecord) -> str | None:
    """The regrade that counted before this one, or counts now; None: first grades."""
    if regrade.applied_at is not None:
        return regrade.replaces
    with context.database.read() as session:
        found = regrades.in_force_at(session, regrade.competition)
    return found.id if found else None


def changes(
    context: Context, regrade: RegradeRecord, after: str | None, limit: int
) -> tuple[list[OutcomeDifference], str | None]:
    """A page of the submissions that differ, in the order of their ids; the next cursor."""
    before = before_of(context, regrade)
    with context.database.read() as session:
        found = differences.differences(session, regrade.id, before, after=after, limit=limit + 1)
    return page_of(found, limit, lambda one: one.submission)


@dataclass(frozen=True, slots=True)
class Found:
    """A run's final submission, and its attempt, or the reason why it has none.

    The attempt may change even for a run without a final submission: if the grading of a file
    failed, the result is missing; if the file is rejected, the attempt counts as not valid.
    """

    experiment: str
    seed: int
    final: Final
    attempt: Attempt | str


def _finals(runs: Iterator[RunResult]) -> Iterator[tuple[str, Found]]:
    for run in runs:
        final = Final(
            run.final, run.final_state, run.score, run.medal, run.above_median, run.better,
            run.equal, run.worse,
        )  # fmt: skip
        yield run.run, Found(run.experiment, run.seed, final, attempt_of_run(run))


def _final(run: str, was: Found | None, now: Found) -> dict[str, Any]:
    return {
        "run": run,
        "experiment": now.experiment,
        "seed": now.seed,
        "before": None if was is None else _document(was.final),
        "after": _document(now.final),
    }


def _document(final: Final) -> dict[str, Any]:
    return {
        "submission": final.submission,
        "state": None if final.state is None else final.state.value,
        "score": final.score,
        "medal": final.medal,
        "better": final.better,
    }


def _experiment(context: Context, name: str, proposed: Basis | None) -> dict[str, Any]:
    """An experiment's rates now and on the proposed basis; None if they are equal."""
    before = _rates(context, name, NOW)
    after = before if proposed is None else _rates(context, name, proposed)
    return {"experiment": name, "before": before, "after": after}


def _rates(context: Context, name: str, basis: Basis) -> dict[str, Any]:
    try:
        found, _ = result_context(
            context, name, ResultFilter(padding=Padding.AVAILABLE, basis=basis)
        )
    except Conflict as refusal:
        return {"rates": None, "attempts": 0, "reason": refusal.detail}
    means = means_in_percent(found.grid.shares)
    return {
        "rates": dict(zip(RATES, means, strict=True)),
        "attempts": int(found.grid.attempts.sum()),
        "reason": None,
    }
