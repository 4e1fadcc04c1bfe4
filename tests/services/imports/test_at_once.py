"""An import, and what comes at the same moment: one waits for the other and then finds it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pytest

from app.domain.feedback import Feedback
from app.domain.result_choices import Padding
from app.domain.states import ArchivalKind
from app.errors import Conflict
from app.importers.submission_folder import SubmissionFolder, SubmittedFile
from app.services.experiments.archiving import archive
from app.services.experiments.create_run import NewRun, create
from app.services.imports.grading_reports import ReportSource, import_reports
from app.services.imports.mlagentbench_results import EvaluationFile, import_evaluation
from app.services.imports.submission_files import import_files
from app.services.receipts.freeze import ExperimentStarted, NewFreeze, freeze
from app.services.runtime.context import Context
from app.storage.queries import archive as archivals
from app.storage.queries import experiments, runs
from app.storage.queries.elsewhere import imported_grades
from tests.grading_reports import entry, medal_lines
from tests.importers.test_mlagentbench_results import PLACE
from tests.importers.test_mlagentbench_results import entry as evaluated
from tests.services.conftest import Meanwhile
from tests.services.submissions.conftest import readable_version
from tests.storage.make import make_experiment

LEAF = "leaf-classification"
PLAN = NewFreeze(None, ("bikes",), (1,), Feedback.NONE, "last", Padding.FAIL, {})
Servers = tuple[Context, Context]


@pytest.fixture
def planned(servers: Servers) -> Servers:
    """Two servers, and an experiment without runs."""
    one, _ = servers
    one.database.write(lambda session: experiments.add(session, make_experiment("planned")))
    readable_version(one, LEAF)
    return servers


def import_report(context: Context, name: str = "planned") -> int:
    report = json.dumps(entry(medal_lines()[LEAF], 0.1)).encode()
    return import_reports(
        context, name, [ReportSource(report)], seed=1, repeats=False, create=True
    ).imported


def import_runs(context: Context, name: str = "planned") -> int:
    file = EvaluationFile(json.dumps({PLACE: evaluated()}).encode(), "r.json", LEAF)
    return import_evaluation(context, name, file, seed=1, create=True).imported


def import_raw(context: Context, name: str = "planned") -> int:
    folder = SubmissionFolder([SubmittedFile("", "list:1", LEAF, 1, None, {})], [])
    return import_files(context, name, folder).imported


EACH_IMPORT = pytest.mark.parametrize(
    ("load", "stores"),
    [
        (import_report, (imported_grades, "add")),
        (import_runs, (runs, "add_run")),
        (import_raw, (runs, "add_run")),
    ],
)


@EACH_IMPORT
@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_freeze_waits_for_an_import_and_is_refused(
    planned: Servers,
    meanwhile: Meanwhile,
    load: Callable[..., int],
    stores: tuple[object, str],
) -> None:
    one, other = planned
    ended = meanwhile(*stores, partial(freeze, other, "planned", PLAN))
    assert load(one) == 1
    with pytest.raises(ExperimentStarted):
        ended()


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_run_waits_for_an_imported_result_of_its_seed_and_is_refused(
    planned: Servers, meanwhile: Meanwhile
) -> None:
    one, other = planned
    new = NewRun("planned", LEAF, 1, Feedback.NONE, {})
    ended = meanwhile(imported_grades, "add", partial(create, other, new))
    assert import_report(one) == 1
    with pytest.raises(Conflict, match="imported result"):
        ended()


@EACH_IMPORT
@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_the_same_import_at_once_changes_nothing(
    planned: Servers,
    meanwhile: Meanwhile,
    load: Callable[..., int],
    stores: tuple[object, str],
) -> None:
    one, other = planned
    ended = meanwhile(*stores, partial(load, other, "new"))
    assert (load(one, "new"), ended()) == (1, 0)


@pytest.mark.parametrize("database_kind", ["postgresql"])
@pytest.mark.parametrize("load", [import_runs, import_raw])
@pytest.mark.parametrize("kind", [ArchivalKind.EXPERIMENT, ArchivalKind.COMPETITION])
def test_runs_are_not_imported_where_an_archiving_came_first(
    planned: Servers, meanwhile: Meanwhile, load: Callable[..., int], kind: ArchivalKind
) -> None:
    one, other = planned
    name = "planned" if kind is ArchivalKind.EXPERIMENT else LEAF
    ended = meanwhile(archivals, "archive", partial(load, other))
    archive(one, kind, name, "over", by=None)
    with pytest.raises(Conflict, match="archived"):
        ended()
