"""Import MLAgentBench's evaluations as runs with imported scores."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import ArchivalKind, ReportedScoreKind, RunState
from app.errors import Conflict, NotFound
from app.importers.grading_report import Mismatch
from app.importers.mlagentbench_results import EvaluatedRun, read_evaluation
from app.services.experiments.experiments import refuse_confusing_name
from app.services.imports.grading_reports import UNKNOWN_MODEL, refuse_seeds
from app.services.runtime.archival import refuse_archived
from app.services.runtime.context import Context
from app.storage.database.records import ExperimentRecord, RunRecord, VersionRecord
from app.storage.queries import competitions, experiments, runs
from app.storage.queries.elsewhere import imported_grades, imported_runs, reported_scores
from app.storage.queries.elsewhere.imported_runs import ImportedRunRecord
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from app.storage.queries.ids import new_id


@dataclass(frozen=True, slots=True)
class EvaluationFile:
    """A file to import: its bytes, its name, and the competition of its task."""

    data: bytes
    name: str
    competition: str


@dataclass(frozen=True, slots=True)
class ImportedRuns:
    """The result of an import: the numbers of new runs and of those imported before.

    For the new runs, `scores` is the number of scores, `blank_steps` the number of evaluated steps
    without a score, and `failures` the number of failures by kind.
    """

    imported: int
    unchanged: int
    seeds: tuple[int, ...]
    mismatches: tuple[Mismatch, ...]
    scores: int
    blank_steps: int
    failures: dict[str, int]


def import_evaluation(
    context: Context, experiment: str, file: EvaluationFile, *, seed: int, create: bool = False
) -> ImportedRuns:
    """Import a task's evaluated runs as closed runs of the experiment, either all or none.

    Runs are numbered in the order of their keys: the first gets `seed`, the next one `seed + 1`.
    With `create`, a missing experiment is created.

    Raises:
        NotFound: the experiment or the competition does not exist.
        Invalid: no experiment can have this name, or no run one of these seeds.
        BadEvaluation: the file is not an output of MLAgentBench's evaluation.
        Conflict: the experiment has another run or result with one of these seeds, or it or the
            competition is archived.
    """
    with context.database.read() as session:
        version = competitions.current_version(session, file.competition)
        is_new = experiments.get(session, experiment) is None
    if is_new and not create:
        raise NotFound(f"There is no experiment {experiment!r}; create it first.")
    if is_new:
        refuse_confusing_name(experiment)
    if version is None:
        raise NotFound(
            f"There is no competition {file.competition!r}: import its folder first "
            "(podium import folder); its data is not needed for that."
        )
    metric = context.catalogue.declaration(version.id).metric
    evaluation = read_evaluation(
        file.data, file.competition, higher_is_better=metric.higher_is_better
    )
    converted = [
        _ImportedRows(experiment, version, file, one, seed + at)
        for at, one in enumerate(evaluation.runs)
    ]
    refuse_seeds(one.seed for one in converted)
    now = datetime.now(UTC)

    def record(session: Session) -> list[_ImportedRows]:
        _add_experiment(session, experiment, now)
        experiments.lock(session, experiment)  # against other changes of its results, and a freeze
        competitions.lock(session, file.competition, shared=True)  # see archive
        refuse_archived(session, ArchivalKind.EXPERIMENT, experiment)
        refuse_archived(session, ArchivalKind.COMPETITION, file.competition)
        new = _not_imported(session, experiment, file.competition, converted)
        for one in new:
            runs.add_run(session, one.run(now))
        imported_runs.add(session, [one.source(now) for one in new])
        reported_scores.add_all(session, [score for one in new for score in one.scores(now)])
        return new

    new = context.database.write_new(record)
    return ImportedRuns(
        imported=len(new),
        unchanged=len(converted) - len(new),
        scores=sum(len(one.scores(now)) for one in new),
        blank_steps=sum(one.evaluated.blank_steps for one in new),
        failures=dict(Counter(one.evaluated.failure.value for one in new)),
        seeds=tuple(one.seed for one in converted),
        mismatches=evaluation.mismatches,
    )


class _ImportedRows:
    """The rows for one evaluated run."""

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
        """A closed run without a key. The feedback to its agent is not known."""
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
        """The origin of the run."""
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
        scores = [(at, score, False) for at, score in self.evaluated.steps]
        if self.evaluated.final is not None:
            scores.append((None, self.evaluated.final, True))
        evidence: dict[str, Any] = {
            "file": self._file.name, "key": self.evaluated.place, "sha256": self.sha256,
            "harness": "MLAgentBench's evaluation",
        }  # fmt: skip
        return [
            ReportedScoreRecord(
                run_id=self._id,
                kind=ReportedScoreKind.IMPORTED,
                score=score,
                step=step,
                final=is_final,
                evidence=evidence,
                reported_at=now,
            )
            for step, score, is_final in scores
        ]


def _add_experiment(session: Session, name: str, now: datetime) -> None:
    if experiments.get(session, name) is None:
        experiments.add(
            session,
            ExperimentRecord(
                name=name,
                agent=name,
                model=UNKNOWN_MODEL,
                notes="imported from MLAgentBench",
                created_at=now,
            ),
        )


def _not_imported(
    session: Session, experiment: str, slug: str, converted: list[_ImportedRows]
) -> list[_ImportedRows]:
    """The runs that were not imported before.

    Raises:
        Conflict: the experiment has another result with one of these seeds.
    """
    known = imported_runs.of_competition(session, experiment, slug)
    used_seeds = {seed for at, seed in imported_grades.run_keys(session, experiment) if at == slug}
    used_seeds |= {
        one.seed for one in imported_grades.of_experiment(session, experiment)
        if one.competition == slug
    }  # fmt: skip
    new = []
    for one in converted:
        before = known.get(one.seed)
        if before is not None and (before.place, before.document) == (
            one.evaluated.place,
            one.evaluated.document,
        ):
            continue
        if one.seed in used_seeds:
            raise Conflict(
                f"The experiment {experiment!r} has another result of seed {one.seed} at {slug}. "
                f"Nothing was imported; choose another first seed or experiment."
            )
        new.append(one)
    return new
