"""Make the attempts for statistics from runs and from imported results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from app.domain.medals import Medal
from app.domain.states import Failure, RunState, SubmissionState
from app.services.runtime.context import Context
from app.statistics.attempt_columns import Attempt, Attempts
from app.storage.queries import results
from app.storage.queries.brief_results import GradedRuns
from app.storage.queries.regrades.brief_runs import BriefResult
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.regrades.in_force import NOW, Basis
from app.storage.queries.results import ImportedOutcome, ImportedResult

MEDALS: dict[str | None, Medal | None] = {None: None, **{each.value: each for each in Medal}}
OPEN = "the run is open"
WITHOUT_TIMES = "its result was imported, without times"
ONLY_REPORTED = "its scores are reported, not graded"
EXCLUDED = "excluded by a review"
GRADING_FAILED = "grading failed"


@dataclass
class ExperimentResults:
    """One experiment's attempts, and the reasons for pending ones by (competition, seed).

    `excluded` are the pending ones that reviews exclude, with the attempt that would count without
    the review (None if there is none). `open` are the competitions and seeds of open runs with a
    valid submission. `graded_by` are the versions that graded the final submissions of the runs
    that count, `excluded_by` those of the excluded ones.
    """

    attempts: Attempts = field(default_factory=Attempts)
    pending: dict[tuple[str, int], str] = field(default_factory=dict)
    excluded: dict[tuple[str, int], Attempt | None] = field(default_factory=dict)
    open: set[tuple[str, int]] = field(default_factory=set)
    imported: int = 0
    policies: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    graded_by: set[int] = field(default_factory=set)
    excluded_by: set[int] = field(default_factory=set)

    @cached_property
    def competitions(self) -> set[str]:
        """The competitions of the experiment's runs and imported results, after all were added."""
        return {*self.attempts.competitions, *(slug for slug, _ in self.pending)}

    def copy(self) -> ExperimentResults:
        """A copy to which results can be added."""
        return ExperimentResults(
            self.attempts.copy(), dict(self.pending), dict(self.excluded), set(self.open),
            self.imported, dict(self.policies), dict(self.failures), set(self.graded_by),
            set(self.excluded_by),
        )  # fmt: skip

    def seeds_at(self, slugs: Sequence[str]) -> set[int]:
        """The seeds of its attempts at these competitions, finished or pending."""
        wanted = set(slugs)
        return self.attempts.seeds_at(wanted) | {
            seed for slug, seed in self.pending if slug in wanted
        }


def gather(
    context: Context,
    experiments: Sequence[str] | None = None,
    *,
    archived: bool = False,
    with_imports: bool = True,
    basis: Basis = NOW,
    note: Callable[[RunResult], None] | None = None,
) -> dict[str, ExperimentResults]:
    """The results of these experiments (None: of all that have results), by experiment.

    Archived runs, and those at archived competitions, count only with `archived`. Without
    `with_imports`, imported results are pending: they have no times. `basis` says which grades
    count, and for which time. Each run is given to `note` as well.
    """
    found: dict[str, ExperimentResults] = {name: ExperimentResults() for name in experiments or ()}
    with context.database.read() as session:
        runs = results.run_results(session, experiments=experiments, archived=archived, basis=basis)
        for run in runs:
            own = found.setdefault(run.experiment, ExperimentResults())
            add_run(own, run, with_times=not with_imports)
            if note is not None:
                note(run)
        imported = results.imported_outcomes(
            session, experiments=experiments, archived=archived, as_of=basis.as_of
        )
        for outcome in imported:
            own = found.setdefault(outcome[0], ExperimentResults())
            add_import(own, outcome, with_times=not with_imports)
    return found


def add_run(
    own: ExperimentResults, run: RunResult | BriefResult, *, with_times: bool = False
) -> None:
    """Add a run to the results of its experiment; with `with_times` an imported one is pending."""
    if run.imported:
        own.imported += 1
    else:
        policy = str(run.feedback)
        own.policies[policy] = own.policies.get(policy, 0) + 1
    if run.final_state == SubmissionState.GRADED:
        (own.excluded_by if run.excluded else own.graded_by).add(run.version_id)
    if run.failure not in (None, Failure.NONE):
        own.failures[run.failure] = own.failures.get(run.failure, 0) + 1
    attempt = WITHOUT_TIMES if run.imported and with_times else attempt_of_run(run)
    if isinstance(attempt, Attempt):
        own.attempts.append(attempt)
    else:
        own.pending[run.competition, run.seed] = attempt
    counts = attempt
    if run.excluded:
        counts = attempt_of_run(run._replace(excluded=False))
        own.excluded[run.competition, run.seed] = counts if isinstance(counts, Attempt) else None
    if run.state == RunState.OPEN and isinstance(counts, Attempt):
        own.open.add((run.competition, run.seed))


def add_graded(own: ExperimentResults, runs: GradedRuns) -> None:
    """Add the runs of an experiment whose final submissions are graded: `add_run` for very many."""
    own.attempts.extend(runs.attempts)
    own.graded_by |= runs.versions
    for policy, count in runs.policies.items():
        own.policies[policy] = own.policies.get(policy, 0) + count
    for failure, count in runs.failures.items():
        if failure != Failure.NONE:
            own.failures[failure] = own.failures.get(failure, 0) + count


def add_import(
    own: ExperimentResults, outcome: ImportedOutcome, *, with_times: bool = False
) -> None:
    """Add an imported result; where times are needed (`with_times`) it is pending."""
    name, slug, seed, made, valid, medal, above_median = outcome
    if with_times:
        own.pending[slug, seed] = WITHOUT_TIMES
    else:
        own.attempts.append(Attempt(name, slug, seed, made, valid, MEDALS[medal], above_median))
    own.imported += 1


def attempt_of_run(run: RunResult | BriefResult) -> Attempt | str:
    """The attempt of a run, or the reason why it is pending.

    The final submission decides: the selected one, or else the last valid one. Without either, a
    closed run has no valid submission, and an open run is pending. Reported scores are not graded:
    a run that has no other scores has no attempt. Neither has one that a review excludes.
    """
    key = (run.experiment, run.competition, run.seed)
    if run.excluded:
        return EXCLUDED
    if run.final_state == SubmissionState.GRADED:
        return Attempt(*key, True, True, MEDALS[run.medal], bool(run.above_median))
    if run.final_state == SubmissionState.FAILED or (run.final is None and run.failed):
        return GRADING_FAILED
    if run.final_state in (SubmissionState.QUEUED, SubmissionState.GRADING):
        return "being graded"
    if run.waiting:
        return "being graded"
    if run.state == RunState.OPEN:
        return OPEN
    if run.reported and not run.sent:
        return ONLY_REPORTED
    return Attempt(*key, made=run.sent > 0)


def attempt_of_import(one: ImportedResult) -> Attempt:
    """The attempt of an imported result."""
    medal = None if one.medal is None else Medal(one.medal)
    return Attempt(
        one.experiment, one.competition, one.seed, one.made, one.valid, medal, one.above_median
    )  # fmt: skip
