"""Results of MLAgentBench: its evaluations become runs with imported scores."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import ReportedScoreKind, RunState
from app.errors import Conflict, NotFound
from app.importers.grading_report import Mismatch
from app.importers.mlagentbench_results import EvaluatedRun, read_evaluation
from app.services.results.grading_reports import NOT_TOLD
from app.services.runtime.context import Context
from app.storage.database.records import (
    ExperimentRecord,
    ImportedRunRecord,
    ReportedScoreRecord,
    RunRecord,
    VersionRecord,
)
from app.storage.queries import (
    competitions,
    experiments,
    imported_grades,
    imported_runs,
    reported_scores,
    runs,
)
from app.storage.queries.ids import new_id


@dataclass(frozen=True, slots=True)
class EvaluationFile:
    """A file to take in: its bytes, what it is called, and the task it is of."""

    data: bytes
    name: str
    competition: str


@dataclass(frozen=True, slots=True)
class ImportedRuns:
    """What came of an import: runs that are new, and those that had been imported before.

    `scores` counts the scores of the new ones, `blank_steps` their steps that were evaluated
    without one, `failures` their failures by kind.
    """

    imported: int
    unchanged: int
    scores: int
    blank_steps: int
    failures: dict[str, int]
    seeds: tuple[int, ...]
    mismatches: tuple[Mismatch, ...]


def import_evaluation(
    context: Context, experiment: str, file: EvaluationFile, *, seed: int, create: bool = False
) -> ImportedRuns:
    """Import a task's evaluated runs as closed runs of the experiment; all of them, or none.

    Runs are taken in the order of their keys, the first with `seed`, the next with the next one.
    With `create`, an experiment that is new is made.

    Raises:
        NotFound: no such experiment or competition.
        BadEvaluation: the file is not what MLAgentBench's evaluation writes.
        Conflict: the experiment has another run or result of such a seed.
    """
    with context.database.read() as session:
        version = competitions.current_version(session, file.competition)
        if experiments.get(session, experiment) is None and not create:
            raise NotFound(f"There is no experiment {experiment!r}; create it first.")
    if version is None:
        raise NotFound(
            f"There is no competition {file.competition!r}: import its folder first "
            "(podium import folder); its data is not needed for that."
        )
    metric = context.catalogue.entry(version).competition.metric
    evaluation = read_evaluation(
        file.data, file.competition, higher_is_better=metric.higher_is_better
    )
    made = [
        _Made(experiment, version, file, one, seed + at) for at, one in enumerate(evaluation.runs)
    ]
    now = datetime.now(UTC)

    def record(session: Session) -> list[_Made]:
        _add_experiment(session, experiment, now)
        fresh = _new_ones(session, experiment, file.competition, made)
        for one in fresh:
            runs.add_run(session, one.run(now))
        imported_runs.add(session, [one.source(now) for one in fresh])
        reported_scores.add_all(session, [score for one in fresh for score in one.scores(now)])
        return fresh

    fresh = context.database.write(record)
    return ImportedRuns(
        imported=len(fresh),
        unchanged=len(made) - len(fresh),
        scores=sum(len(one.scores(now)) for one in fresh),
        blank_steps=sum(one.evaluated.blank_steps for one in fresh),
        failures=dict(Counter(one.evaluated.failure.value for one in fresh)),
        seeds=tuple(one.seed for one in made),
        mismatches=evaluation.mismatches,
    )


class _Made:
    """The rows that an evaluated run becomes."""

    def __init__(
        self,
        experiment: str,
        version: VersionRecord,
        file: EvaluationFile,
        evaluated: EvaluatedRun,
        seed: int,
    ) -> None:
        self.seed = seed
        self.evaluated = evaluated
        self.sha256 = hashlib.sha256(file.data).hexdigest()
        self._id = new_id("run")
        self._experiment = experiment
        self._version = version
        self._file = file

    def run(self, now: datetime) -> RunRecord:
        """A closed run without a key. What its agent was told is not known, and not counted."""
        seconds = self.evaluated.seconds
        return RunRecord(
            id=self._id,
            experiment=self._experiment,
            version_id=self._version.id,
            competition=self._version.slug,
            seed=self.seed,
            feedback=Feedback.NONE,
            state=RunState.CLOSED,
            usage=None if seconds is None else {"seconds": seconds},
            failure=self.evaluated.failure.value,
            created_at=now,
            closed_at=now,
        )

    def source(self, now: datetime) -> ImportedRunRecord:
        """Where the run is from."""
        return ImportedRunRecord(
            run_id=self._id,
            file=self._file.name,
            place=self.evaluated.place,
            sha256=self.sha256,
            document=self.evaluated.document,
            imported_at=now,
        )

    def scores(self, now: datetime) -> list[ReportedScoreRecord]:
        """The scores of its steps, then its final one."""
        told = [(at, score, False) for at, score in self.evaluated.steps]
        if self.evaluated.final is not None:
            told.append((None, self.evaluated.final, True))
        evidence: dict[str, Any] = {
            "file": self._file.name, "key": self.evaluated.place, "sha256": self.sha256,
            "harness": "MLAgentBench's evaluation",
        }  # fmt: skip
        return [
            ReportedScoreRecord(
                run_id=self._id,
                sort=ReportedScoreKind.IMPORTED,
                score=score,
                step=step,
                final=is_final,
                evidence=evidence,
                reported_at=now,
            )
            for step, score, is_final in told
        ]


def _add_experiment(session: Session, name: str, now: datetime) -> None:
    if experiments.get(session, name) is None:
        experiments.add(
            session,
            ExperimentRecord(
                name=name,
                agent=name,
                model=NOT_TOLD,
                notes="imported from MLAgentBench",
                created_at=now,
            ),
        )


def _new_ones(session: Session, experiment: str, slug: str, made: list[_Made]) -> list[_Made]:
    """Those that are not here yet."""
    known = imported_runs.of_competition(session, experiment, slug)
    taken = {seed for at, seed in imported_grades.run_keys(session, experiment) if at == slug}
    taken |= {
        one.seed for one in imported_grades.of_experiment(session, experiment)
        if one.competition == slug
    }  # fmt: skip
    fresh = []
    for one in made:
        before = known.get(one.seed)
        if before is not None and (before.place, before.document) == (
            one.evaluated.place,
            one.evaluated.document,
        ):
            continue
        if one.seed in taken:
            raise Conflict(
                f"The experiment {experiment!r} has another result of seed {one.seed} at {slug}. "
                f"Nothing was imported; choose another first seed or experiment."
            )
        fresh.append(one)
    return fresh
