"""One experiment, competition by competition and seed by seed: the cells of its heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.domain.states import RunState
from app.errors import Invalid
from app.services.results.experiment_summary import ExperimentSummary, summarize
from app.services.results.inputs.attempts import (
    GRADING_FAILED,
    ONLY_REPORTED,
    attempt_of_import,
    attempt_of_run,
)
from app.services.results.inputs.competition_info import COMPLEXITIES
from app.services.results.noise.experiment_noise import is_near
from app.services.results.overview import listed
from app.services.runtime.archival import suite_slugs
from app.services.runtime.context import Context
from app.statistics.attempt_columns import Attempt
from app.storage.queries import archive, competitions, results
from app.storage.queries.archive import ArchivalRecord
from app.storage.queries.noise import uncertainties
from app.storage.queries.overview.competition_counts import CompetitionCounts
from app.storage.queries.regrades.counted_runs import RunResult

NO_COMPLEXITY = "other"
MOST_CELLS = 200_000  # a page of so many cells has 9 MB, and making it takes 70 MB


class CellState(StrEnum):
    """The outcome of one run: a medal, or the reason for none."""

    GOLD = "gold"
    SILVER = "silver"
    BRONZE = "bronze"
    ABOVE_MEDIAN = "above_median"
    VALID = "valid"  # graded, no medal, not above the median
    REPORTED = "reported"  # a harness measured its score; nothing was sent to be graded
    REJECTED = "rejected"  # files were sent, and none was valid
    NOTHING = "nothing"  # the run ended without a file
    FAILED = "failed"  # Podium's or the competition's fault
    PENDING = "pending"  # open, or being graded
    MISSING = "missing"  # there is no run


WITHOUT_ATTEMPT = {GRADING_FAILED: CellState.FAILED, ONLY_REPORTED: CellState.REPORTED}


@dataclass(frozen=True, slots=True)
class Cell:
    """One competition and seed. `run` is None for an imported result and for no run.

    With `is_near` the score is closer to a medal line than its noise.
    """

    state: CellState
    seed: int
    run: str | None = None
    score: float | None = None
    better: int | None = None
    is_near: bool = False


@dataclass(frozen=True, slots=True)
class CompetitionRow:
    """A competition's cells, by seed.

    `title`, `complexity`, `flags`, `has_board` (a human leaderboard) and `has_baseline` are those
    of its current version, as in rates. If it was not imported, `title` and `flags` are empty, and
    its results are those of reports, which know medals.
    """

    competition: str
    title: str
    complexity: str
    flags: tuple[str, ...]
    cells: tuple[Cell, ...]
    has_board: bool = True
    has_baseline: bool = False

    @property
    def medals(self) -> int:
        """The number of cells with a medal."""
        return sum(cell.state in (CellState.GOLD, CellState.SILVER, CellState.BRONZE)
                   for cell in self.cells)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HeatMap:
    """An experiment's cells, by complexity and competition.

    `archived` has the archivings of the experiment and its competitions.
    """

    summary: ExperimentSummary
    seeds: tuple[int, ...]
    rows: tuple[CompetitionRow, ...]
    archived: tuple[ArchivalRecord, ...]

    @property
    def groups(self) -> list[tuple[str, list[CompetitionRow]]]:
        """The rows by complexity, the easiest first."""
        levels = dict.fromkeys(row.complexity for row in self.rows)
        return [(each, [row for row in self.rows if row.complexity == each]) for each in levels]

    @property
    def near(self) -> int:
        """The number of cells that are closer to a medal line than their noise."""
        return sum(cell.is_near for row in self.rows for cell in row.cells)

    @property
    def has_medians(self) -> frozenset[bool]:
        """Whether there is a median at the competitions with a cell in the state `valid`."""
        valid = (row for row in self.rows if any(one.state == "valid" for one in row.cells))
        return frozenset(row.has_board for row in valid)

    @property
    def counts(self) -> dict[CellState, int]:
        """The number of cells in each state, in the order of the states; zeros are absent."""
        states = [cell.state for row in self.rows for cell in row.cells]
        return {state: states.count(state) for state in CellState if state in states}


def heat_map(context: Context, name: str, suite: str | None = None) -> HeatMap:
    """The cells of an experiment at its own competitions, or at those of a suite.

    Raises:
        NotFound: the experiment or the suite does not exist.
        Invalid: there are more than MOST_CELLS.
    """
    about = listed(context, name)
    wanted = suite_slugs(context, suite)
    found: dict[tuple[str, int], Cell] = {}
    counts: dict[tuple[str, int], CompetitionCounts] = {}
    with context.database.read() as session:
        runs = list(results.run_results(session, experiments=[name], is_regraded=about.is_regraded))
        finals = [run.final for run in runs if run.final is not None] if about.has_noise else []
        noises = uncertainties.of_submissions(session, finals)
        for run in (each.shown for each in runs):
            attempt, key = attempt_of_run(run), (run.competition, run.seed)
            state = _state(attempt, sent=run.sent)
            noise = noises.get(run.final) if run.final else None
            may_be = run.regrade is None and not run.excluded
            near = noise is not None and may_be and is_near(run.medal, noise.medals)
            found[key] = Cell(state, run.seed, run.run, run.score, run.better, near)
            counts[key] = _count(name, run.competition, attempt, run)
        imported = results.imported_results(session, experiments=[name]) if about.imported else []
        archived = archive.currents_of_experiments(session, [name]) if about.has_archived else []
    for one in imported:
        attempt, key = attempt_of_import(one), (one.competition, one.seed)
        found[key] = Cell(_state(attempt, sent=int(one.made)), one.seed, None, one.score)
        counts[key] = _count(name, one.competition, attempt, None)
    slugs = {slug for slug, _ in found} if wanted is None else wanted
    found = {key: cell for key, cell in found.items() if key[0] in slugs}
    seeds = tuple(sorted({seed for _, seed in found}))
    if len(slugs) * len(seeds) > MOST_CELLS:  # n seeds and m competitions: n * m
        raise Invalid(
            f"{name} has {len(seeds):,} seeds at these {len(slugs):,} competitions, and at most "
            f"{MOST_CELLS:,} cells are shown. Name a suite of fewer competitions, or read its runs "
            "from /v1/runs and its rates from /v1/experiments/NAME/medal-rates."
        )
    levels = _complexities(context)
    with context.database.read() as session:
        versions = competitions.current_ids(session, slugs)
    rows = [
        _row(context, slug, versions.get(slug), levels.get(slug, NO_COMPLEXITY), [
            found.get((slug, seed), Cell(CellState.MISSING, seed)) for seed in seeds
        ])
        for slug in sorted(slugs)
    ]  # fmt: skip
    order = (*COMPLEXITIES, NO_COMPLEXITY)
    rows.sort(key=lambda row: (order.index(row.complexity), row.competition))
    here = [count for (slug, _), count in counts.items() if slug in slugs]
    (summary,) = summarize(context, [(about, here, len(seeds))])
    return HeatMap(summary, seeds, tuple(rows), tuple(archived))


def _count(
    experiment: str, slug: str, attempt: Attempt | str, run: RunResult | None
) -> CompetitionCounts:
    """The counts of `overview.competition_counts` for one run, without its usage."""
    rest = [0] * (len(CompetitionCounts._fields) - 4)
    zeros = CompetitionCounts(experiment, slug, run.version_id if run else None, 1, *rest)
    known: dict[str, float] = {}
    if isinstance(attempt, Attempt):
        _, gold, silver, bronze, above, valid, _ = (int(each) for each in attempt.outcomes)
        known |= {"counted": 1, "gold": gold, "silver": silver, "bronze": bronze}
        known |= {"above_median": above, "valid": valid}
    if run is not None:
        known |= {"open": int(run.state == RunState.OPEN)}
        known |= {} if run.imported else {f"policy_{run.feedback.value}": 1}
        better, equal, worse = run.better, run.equal, run.worse
        if better is not None and equal is not None and worse is not None:
            teams = better + equal + worse
            known |= {"placed": 1, "percentiles": 100.0 * (teams - better) / teams}
    return zeros._replace(**known)  # type: ignore[arg-type]


def _complexities(context: Context) -> dict[str, str]:
    suites = context.catalogue.suites()
    return {slug: level for level in COMPLEXITIES for slug in suites.get(f"mle-bench-{level}", ())}


def _row(
    context: Context, slug: str, version_id: int | None, level: str, cells: Sequence[Cell]
) -> CompetitionRow:
    if version_id is None:
        return CompetitionRow(slug, "", level, (), tuple(cells))
    version = context.catalogue.version(version_id)
    complexity = version.document.get("complexity") or level
    flags = tuple(flag["code"] for flag in version.document.get("flags") or ())
    return CompetitionRow(
        slug, version.title, complexity, flags, tuple(cells),
        has_board=version.leaderboard is not None,
        has_baseline=bool(version.document.get("baseline")),
    )  # fmt: skip


def _state(attempt: Attempt | str, *, sent: int) -> CellState:
    if isinstance(attempt, str):
        return WITHOUT_ATTEMPT.get(attempt, CellState.PENDING)
    if attempt.medal is not None:
        return CellState(attempt.medal.value)
    if attempt.valid:
        return CellState.ABOVE_MEDIAN if attempt.above_median else CellState.VALID
    return CellState.REJECTED if sent else CellState.NOTHING
