"""All attempts at one competition, of all experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from app.domain.medals import Medal
from app.errors import NotFound
from app.services.results.inputs.attempts import attempt_of_import, attempt_of_run
from app.services.results.inputs.competition_info import CompetitionInfo, competition_info
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.statistics.attempt_columns import Attempt
from app.statistics.percentiles import percentile_if_known
from app.storage.queries import competitions, results
from app.storage.queries import experiments as stored_experiments
from app.storage.queries.elsewhere import reported_scores
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord, final_of


@dataclass(frozen=True, slots=True)
class CompetitionResult:
    """One attempt. `made`, `valid`, `medal` and `above_median` are None while it is pending.

    `improvement` and `success` refer to the baseline of the version that graded it, or of the
    current version for an imported result. They are None without a baseline.

    `score` is from a grade or an imported grading report. `reported_score` is from a harness, and
    `reported_sort` is its kind. The three times are None for an imported result; `started_at` is
    when the run's clock started. `regrade` is the regrade that graded it; None for the first grade.
    A run that a review excludes has no numbers: its `state` says so.
    """

    experiment: str
    agent: str
    model: str
    seed: int
    source: str
    run: str | None
    submission: str | None
    state: str
    made: bool | None
    valid: bool | None
    score: float | None
    medal: str | None
    above_median: bool | None
    better: int | None
    equal: int | None
    worse: int | None
    percentile: float | None
    improvement: float | None
    success: bool | None
    failure: str | None
    reported_score: float | None
    reported_sort: str | None
    created_at: datetime | None
    started_at: datetime | None
    closed_at: datetime | None
    regrade: str | None


def at_competition(
    context: Context, slug: str, convention: str, *, archived: bool = False
) -> tuple[CompetitionInfo, list[CompetitionResult]]:
    """The attempts at a competition, by experiment and seed; archived ones only with `archived`.

    Raises:
        NotFound: the competition was not imported, and neither was a result for it.
    """
    # Read no file within this session, because the store may be slow.
    with context.database.snapshot(), context.database.read() as session:
        version = competitions.current_version(session, slug)
        runs = list(results.run_results(session, competition=slug, archived=archived))
        imported = results.imported_results(session, competition=slug, archived=archived)
        reported = reported_scores.of_runs_in(session, competition=slug)
        named = {run.experiment for run in runs} | {one.experiment for one in imported}
        records = {name: stored_experiments.get(session, name) for name in named}
        info = competition_info(context, {slug})[slug]
    if version is None and not imported:
        raise NotFound(f"There is no competition {slug!r}.")

    def result(
        experiment: str, attempt: Attempt | str, seed: int, **more: object
    ) -> CompetitionResult:
        record = records[experiment]
        settled = attempt if isinstance(attempt, Attempt) else None
        fields: dict[str, object] = {
            "run": None, "submission": None, "score": None, "better": None, "equal": None,
            "worse": None, "percentile": None, "failure": None, "improvement": None,
            "success": None, "reported_score": None, "reported_sort": None, "created_at": None,
            "started_at": None, "closed_at": None, "regrade": None, **more,
        }  # fmt: skip
        return CompetitionResult(
            experiment=experiment,
            agent=record.agent if record else "",
            model=record.model if record else "",
            seed=seed,
            state="settled" if settled else str(attempt),
            made=settled.made if settled else None,
            valid=settled.valid if settled else None,
            medal=_medal_name(settled.medal) if settled else None,
            above_median=settled.above_median if settled else None,
            **fields,  # type: ignore[arg-type]
        )

    rows = [
        result(
            run.experiment, attempt_of_run(run), run.seed, source="run", run=run.run,
            submission=run.final, score=run.score, better=run.better, equal=run.equal,
            worse=run.worse, failure=run.failure,
            percentile=percentile_if_known(convention, run.better, run.equal, run.worse),
            created_at=run.created_at, started_at=run.started_at, closed_at=run.closed_at,
            regrade=run.regrade,
            **_against_baseline(context.catalogue.of_version(run.version_id), run.score),
            **_reported([] if run.excluded else reported.get(run.run, [])),
        )
        for run in (each.shown for each in runs)
    ]  # fmt: skip
    current = None if version is None else context.catalogue.entry(version)
    rows += [
        result(
            one.experiment, attempt_of_import(one), one.seed, source="imported", score=one.score,
            **_against_baseline(current, one.score),
        )
        for one in imported
    ]  # fmt: skip
    rows.sort(key=lambda each: (each.experiment, each.seed))
    return info, rows


def _against_baseline(
    entry: CatalogueEntry | None, score: float | None
) -> dict[str, float | bool | None]:
    if entry is None or score is None:
        return {}
    comparison = entry.competition.against_baseline(score)
    return {} if comparison is None else asdict(comparison)


def _reported(found: Sequence[ReportedScoreRecord]) -> dict[str, object]:
    last = final_of(found)
    return {
        "reported_score": last.score if last else None,
        "reported_sort": last.kind.value if last else None,
    }


def _medal_name(medal: Medal | None) -> str | None:
    return None if medal is None else medal.value
