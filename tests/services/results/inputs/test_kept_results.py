"""What is kept of results is what a new reading would find, whatever happens in between."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select, update

from app.domain.states import ArchivalKind, RunState, SubmissionState
from app.services.experiments import archiving
from app.services.results import overview
from app.services.results.inputs.attempts import ExperimentResults, gather
from app.services.results.inputs.kept_results import disclosures_of_all, gather_many
from app.services.runtime import archival
from app.services.runtime.context import Context, open_context
from app.services.runtime.kept_values import KeptValues
from app.settings import Settings
from app.storage.database.models import Disclosure, Run, Submission
from app.storage.database.records import GradeRecord
from app.storage.database.tables.results_elsewhere import ImportedGrade, ReportedScore
from app.storage.queries import experiments, exposure
from app.storage.queries.elsewhere import imported_runs
from app.storage.queries.elsewhere.imported_runs import ImportedRunRecord
from app.worker import background
from app.worker.background import ResultReader, run_result_reader
from tests.storage.make import (
    NOON,
    add_grade,
    add_run,
    add_submission,
    add_version,
    make_experiment,
    make_grade,
    make_submission,
)
from tests.storage.statements import each_statement

EXPERIMENTS = ("first", "second", "third")
STEPS = 30  # of each history: all kinds of things happen, in several orders
RUN, SUBMISSION = Run.__table__, Submission.__table__


@pytest.fixture
def context(database_url: str, tmp_path: Path) -> Iterator[Context]:
    opened = open_context(
        Settings(data_dir=tmp_path / "data", database_url=database_url),
        grades=False, validates=False,
    )  # fmt: skip
    yield opened
    opened.close()


class History:
    """Things that happen to three experiments, at random."""

    def __init__(self, context: Context, seed: int) -> None:
        self.context, self.chance = context, random.Random(seed)
        write = context.database.write
        self.versions = [write(lambda s, n=n: add_version(s, n)) for n in ("bikes", "leaves")]
        self.runs = []
        self.seed = 0
        for name in EXPERIMENTS:
            write(lambda s, n=name: experiments.add(s, make_experiment(n)))

    def new_run(self) -> None:
        self.seed += 1
        version, name = self.chance.choice(self.versions), self.chance.choice(EXPERIMENTS)
        run = add_run(self.context.database, version, name, seed=self.seed)
        self.runs.append(run)
        if self.chance.random() < 0.2:  # as a raw submission is: its run has a grade of Podium's
            of = ImportedRunRecord(
                run_id=run.id, file="f", place="1", sha256="", document={}, imported_at=NOON
            )
            self.context.database.write(lambda session: imported_runs.add(session, [of]))

    def submit(self) -> None:
        run = self.chance.choice(self.runs)
        with self.context.database.read() as session:
            state = session.execute(select(RUN.c.state).where(RUN.c.id == run.id)).scalar()
        if state == RunState.CLOSED:
            return
        outcome = self.chance.choice(list(SubmissionState))
        sent = make_submission(run, state=outcome)
        graded = outcome is SubmissionState.GRADED
        medal = self.chance.choice(("gold", "bronze", None))
        grade = make_grade(sent, medal=medal, above_median=medal is not None)

        def write(session):
            add_submission(session, sent)
            if graded:
                stored = add_grade(session, grade)
                session.execute(insert(Disclosure.__table__), {
                    "run_id": run.id, "kind": "validation", "submission_id": sent.id,
                    "grade_id": stored.id,
                    "at": datetime.now(UTC) - timedelta(hours=self.chance.choice((0, 5))),
                })  # fmt: skip
            if self.chance.random() < 0.3:
                session.execute(update(RUN).where(RUN.c.id == run.id).values(selected_id=sent.id))

        self.context.database.write(write)

    def settle(self) -> None:
        """The first queued submission is graded, or rejected, or fails."""
        state = self.chance.choice([one for one in SubmissionState if one.is_settled])
        first = select(func.min(SUBMISSION.c.id)).where(SUBMISSION.c.state == "queued")
        with self.context.database.read() as session:
            found = session.execute(first).scalar()
            row = session.execute(select(SUBMISSION).where(SUBMISSION.c.id == found)).one_or_none()
        if row is not None:
            self.change(SUBMISSION, row.id, state=state)
            if state is SubmissionState.GRADED:
                grade = GradeRecord(submission_id=row.id, version_id=row.version_id, score=1.0,
                                    medal="gold", grader={}, graded_at=NOON)  # fmt: skip
                self.context.database.write(lambda s: add_grade(s, grade))

    def close(self) -> None:
        self.change(RUN, self.chance.choice(self.runs).id, state=RunState.CLOSED, closed_at=NOON)

    def note_failure(self) -> None:
        self.change(RUN, self.chance.choice(self.runs).id, failure="crash")

    def note_usage(self) -> None:
        usage = {"seconds": float(self.chance.randrange(100)), "cost_usd": 0.5}
        self.change(RUN, self.chance.choice(self.runs).id, usage=usage)

    def report(self) -> None:
        row = {
            "run_id": self.chance.choice(self.runs).id, "sort": "reported", "score": 1.0,
            "final": True, "evidence": {"file": "x"}, "reported_at": NOON,
        }  # fmt: skip
        self.context.database.write(lambda s: s.execute(insert(ReportedScore.__table__), row))

    def import_result(self) -> None:
        self.seed += 1
        row = {
            "experiment": self.chance.choice(EXPERIMENTS), "competition": "bikes",
            "seed": self.seed, "made": True, "valid": True, "score": 1.0, "medal": "gold",
            "above_median": True, "source": "", "document": {}, "imported_at": NOON,
        }  # fmt: skip
        self.context.database.write(lambda s: s.execute(insert(ImportedGrade.__table__), row))

    def archive(self) -> None:
        kind = self.chance.choice((ArchivalKind.RUN, ArchivalKind.EXPERIMENT))
        name = self.chance.choice(self.runs).id if kind is ArchivalKind.RUN else "third"
        if archival.archived(self.context, kind, [name]):
            archiving.restore(self.context, kind, name, "again", by=None)
        else:
            archiving.archive(self.context, kind, name, "a mistake", by=None)

    def change(self, table, key, **changes) -> None:
        query = update(table).where(table.c.id == key).values(**changes)
        self.context.database.write(lambda s: s.execute(query))


def comparable(own: ExperimentResults):
    return (
        sorted(own.attempts), own.pending, own.open, own.imported, own.policies, own.failures
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_agrees_with_a_new_reading(context: Context, seed: int) -> None:
    history = History(context, seed)
    history.new_run()
    steps = [
        history.new_run, history.submit, history.submit, history.settle, history.close,
        history.note_failure, history.report, history.import_result, history.archive,
    ]  # fmt: skip
    reused = 0
    for _ in range(STEPS):
        history.chance.choice(steps)()
        for archived in (False, True):
            # What `get` finds depends on the versions of the rows, which the functions compute.
            before = {n: context.kept._values.get(("results", n, archived)) for n in EXPERIMENTS}  # noqa: SLF001
            found = gather_many(context, None, archived=archived)
            fresh = gather(context, archived=archived)
            assert {n: comparable(one.results) for n, one in found.items()
                    if comparable(one.results) != comparable(ExperimentResults())} == {
                n: comparable(one) for n, one in fresh.items()
            }  # fmt: skip
            named = gather_many(context, ["third"], archived=archived)["third"].results
            assert comparable(named) == comparable(
                gather(context, ["third"], archived=archived)["third"]
            )
            with context.database.read() as session:
                disclosed = exposure.by_experiment(session, EXPERIMENTS, archived=archived)
            assert disclosures_of_all(context, archived=archived) == disclosed
            after = {n: context.kept._values.get(("results", n, archived)) for n in EXPERIMENTS}  # noqa: SLF001
            reused += sum(before[n] is not None and before[n] is after[n] for n in EXPERIMENTS)
    assert reused > STEPS


@contextmanager
def queries_for_results() -> Iterator[list[str]]:
    """The queries that read settled results, as they are sent."""
    queries: list[str] = []

    def note(query: str) -> None:
        if "group_concat" in query or "string_agg" in query:
            queries.append(query)

    with each_statement(note):
        yield queries


def many_things(context: Context) -> History:
    history = History(context, 3)
    for act in (history.new_run, history.submit, history.settle, history.close) * 40:
        act()
    return history


def test_what_was_read_ahead_is_not_read_again(context: Context) -> None:
    many_things(context)
    assert ResultReader(context).look() == len(EXPERIMENTS)
    with queries_for_results() as queries:
        gather_many(context, None, archived=False)
        assert not queries
        gather_many(context, None, archived=True)
        assert len(queries) == 1


def test_what_changes_is_read_ahead_when_it_rests(context: Context) -> None:
    history = many_things(context)
    reader = ResultReader(context)
    reader.look()
    assert reader.look() == 0

    run = next(one for one in history.runs if one.experiment == "second")
    history.change(RUN, run.id, failure="oom", state=RunState.CLOSED, closed_at=NOON)
    assert reader.look() == 0  # it may change again at once
    history.import_result()
    changed = reader.look()  # the imported result may be another experiment's
    assert changed + reader.look() in (1, 2)
    assert reader.look() == 0
    with queries_for_results() as queries:
        gather_many(context, None, archived=False)
    assert not queries

    archiving.archive(context, ArchivalKind.RUN, run.id, "a mistake", by=None)
    reader.look()
    assert reader.look() == len(EXPERIMENTS)  # what all share has changed


def test_an_experiment_that_cannot_be_read_keeps_no_other_from_being_read(
    context: Context,
) -> None:
    many_things(context)
    reader = ResultReader(context)
    context.database.write(
        lambda s: s.execute(
            insert(ImportedGrade.__table__),
            {
                "experiment": "first", "competition": "bikes", "seed": 999, "made": True,
                "valid": True, "score": 1.0, "medal": "wood", "above_median": True, "source": "",
                "document": {}, "imported_at": NOON,
            },
        ).close()
    )  # fmt: skip

    for _ in range(6):
        with contextlib.suppress(KeyError):
            reader.look()

    with queries_for_results() as queries:
        gather_many(context, ["second", "third"], archived=False)
    assert not queries
    assert reader.look() == 0


def test_the_thread_reads_and_ends(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise a machine that is busy while it first looks, looks again half a minute later.
    monkeypatch.setattr(background, "RESULT_SHARE", 1)
    history = many_things(context)
    stopping = threading.Event()
    thread = threading.Thread(target=run_result_reader, args=(context, stopping, 0.05))
    with queries_for_results() as queries:
        thread.start()
        wait_for(lambda: len(queries) == 1)
        history.close()
        history.import_result()
        wait_for(lambda: len(queries) >= 2)
        stopping.set()
        thread.join(10)
    assert not thread.is_alive()


def wait_for(is_true: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_equal_versions_mean_equal_results(context: Context) -> None:
    history = History(context, 7)
    history.new_run()
    history.submit()
    one = gather_many(context, None, archived=False)
    assert gather_many(context, None, archived=False) == one
    name = history.runs[0].experiment
    history.change(RUN, history.runs[0].id, state=RunState.CLOSED, closed_at=NOON)
    other = gather_many(context, None, archived=False)
    assert one[name].version != other[name].version


@pytest.mark.parametrize("seed", range(2))
def test_the_list_of_experiments_agrees_with_a_new_reading(context: Context, seed: int) -> None:
    """What it keeps is as fresh: also usage that is noted after a run was closed."""
    history = History(context, seed)
    history.new_run()
    steps = [
        history.new_run, history.submit, history.settle, history.close, history.report,
        history.import_result, history.archive, history.note_usage,
    ]  # fmt: skip
    kept = 0
    for _ in range(STEPS):
        history.chance.choice(steps)()
        before = {n: context.kept._values.get(("summary", n)) for n in EXPERIMENTS}  # noqa: SLF001
        found, total = overview.page(
            context, q="", sort="name", descending=False, limit=10, offset=0
        )
        after = {n: context.kept._values.get(("summary", n)) for n in EXPERIMENTS}  # noqa: SLF001
        kept += sum(before[n] is not None and before[n] is after[n] for n in EXPERIMENTS)
        context_now = replace(context, kept=KeptValues())
        assert (found, total) == overview.page(
            context_now, q="", sort="name", descending=False, limit=10, offset=0
        )
    assert kept > STEPS // 2
