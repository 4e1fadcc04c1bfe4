"""Attempts as statistics take them: from runs and from imported results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.medals import Medal
from app.domain.states import Failure, RunState, SubmissionState
from app.domain.wording import first_few
from app.errors import LeaderboardsMissing
from app.services.runtime.context import Context
from app.statistics.attempts import Attempt
from app.storage.queries import competitions, results
from app.storage.queries.results import ImportedResult, RunResult

NAMED = 10  # of competitions in a message
COMPLEXITIES = ("low", "medium", "high")
OPEN = "the run is open"
ONLY_REPORTED = "its scores are reported, not graded"


@dataclass
class ExperimentResults:
    """One experiment's results: attempts, and why others are not there yet, by their key."""

    attempts: list[Attempt] = field(default_factory=list)
    pending: dict[tuple[str, int], str] = field(default_factory=dict)
    open: int = 0
    imported: int = 0
    policies: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def competitions(self) -> set[str]:
        """The competitions that the experiment was set up for."""
        return {each.competition for each in self.attempts} | {slug for slug, _ in self.pending}

    def seeds_at(self, slugs: Sequence[str]) -> set[int]:
        """The seeds it has, finished or not, at these competitions."""
        wanted = set(slugs)
        done = {each.seed for each in self.attempts if each.competition in wanted}
        return done | {seed for slug, seed in self.pending if slug in wanted}


@dataclass(frozen=True, slots=True)
class CompetitionInfo:
    """What groups and footnotes are made of: what is known of a competition today.

    `has_board` is None of a competition that is not here.
    """

    complexity: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    flags: tuple[tuple[str, str], ...] = ()
    has_board: bool | None = None


def refuse_without_board(slugs: Iterable[str]) -> None:
    """Refuse to count medals where there are none to win.

    Raises:
        LeaderboardsMissing: `slugs` names such competitions.
    """
    without = sorted(set(slugs))
    if without:
        raise LeaderboardsMissing(
            f"There is no human leaderboard of {first_few(without, NAMED)}, so no medal can "
            "be won there, and none is counted as not won. Ask for a suite without them, or for "
            "success-rates, which judge by a baseline.",
            no_leaderboard=without,
        )


def gather(
    context: Context, experiments: Sequence[str] | None = None
) -> dict[str, ExperimentResults]:
    """The results of these experiments (None: of all that have any), by experiment."""
    found: dict[str, ExperimentResults] = {name: ExperimentResults() for name in experiments or ()}
    with context.database.read() as session:
        for run in results.run_results(session, experiments=experiments):
            mine = found.setdefault(run.experiment, ExperimentResults())
            if run.imported:
                mine.imported += 1
            else:
                policy = run.feedback.value
                mine.policies[policy] = mine.policies.get(policy, 0) + 1
            if run.failure not in (None, Failure.NONE):
                mine.failures[run.failure] = mine.failures.get(run.failure, 0) + 1
            attempt = attempt_of_run(run)
            if isinstance(attempt, Attempt):
                mine.attempts.append(attempt)
                mine.open += run.state == RunState.OPEN
            else:
                mine.pending[run.competition, run.seed] = attempt
        for one in results.imported_results(session, experiments=experiments):
            mine = found.setdefault(one.experiment, ExperimentResults())
            mine.attempts.append(attempt_of_import(one))
            mine.imported += 1
    return found


def attempt_of_run(run: RunResult) -> Attempt | str:
    """What a run came to; or why nothing can be said yet.

    Its final submission decides: the selected one, else the last valid one. Without any, a closed
    run made no valid submission, and an open one is not over. Scores that were reported win no
    medal, nor do they count as none: a run with nothing else has no result here.
    """
    key = (run.experiment, run.competition, run.seed)
    if run.final_state == SubmissionState.GRADED:
        medal = None if run.medal is None else Medal(run.medal)
        return Attempt(*key, True, True, medal, bool(run.above_median))
    if run.final_state == SubmissionState.FAILED or (run.final is None and run.failed):
        return "grading failed"
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
    """The attempt that an imported result is."""
    medal = None if one.medal is None else Medal(one.medal)
    return Attempt(
        one.experiment, one.competition, one.seed, one.made, one.valid, medal, one.above_median
    )  # fmt: skip


def competition_info(context: Context, slugs: set[str]) -> dict[str, CompetitionInfo]:
    """What is known of each competition. Of those not imported, the suites tell the complexity."""
    with context.database.read() as session:
        versions = competitions.list_current(session, slugs=slugs, limit=len(slugs))
    documents: dict[str, dict[str, Any]] = {each.slug: each.document for each in versions}
    boards = {each.slug: each.leaderboard is not None for each in versions}
    suites = context.catalogue.suites()
    by_suite = {
        slug: level for level in COMPLEXITIES for slug in suites.get(f"mle-bench-{level}", ())
    }
    found = {}
    for slug in slugs:
        document = documents.get(slug, {})
        flags = tuple((flag["code"], flag["note"]) for flag in document.get("flags") or ())
        found[slug] = CompetitionInfo(
            complexity=document.get("complexity") or by_suite.get(slug),
            category=document.get("category"),
            tags=tuple(document.get("tags") or ()),
            flags=flags,
            has_board=boards.get(slug),
        )
    return found
