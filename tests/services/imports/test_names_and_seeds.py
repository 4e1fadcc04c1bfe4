"""An import makes no experiment that has no address, and no result of a seed that none can have."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from app.errors import Invalid
from app.services.imports.grading_reports import ReportSource, import_reports
from app.services.imports.mlagentbench_results import EvaluationFile, import_evaluation
from app.services.runtime.context import Context
from app.storage.queries import experiments
from tests.grading_reports import entry, medal_lines
from tests.importers.test_mlagentbench_results import PLACE
from tests.importers.test_mlagentbench_results import entry as evaluated
from tests.services.imports.test_at_once import LEAF, import_raw, import_report, import_runs
from tests.services.submissions.conftest import readable_version


@pytest.mark.parametrize("name", ["a/b", "..", "a\u200bb"])
@pytest.mark.parametrize("load", [import_report, import_runs, import_raw])
def test_no_import_makes_an_experiment_with_a_name_that_none_can_have(
    context: Context, load: Callable[..., int], name: str
) -> None:
    readable_version(context, LEAF)

    with pytest.raises(Invalid, match="name: "):
        load(context, name)

    with context.database.read() as session:
        assert experiments.get(session, name) is None


def import_two_results(context: Context, seed: int) -> None:
    reports = json.dumps([entry(medal_lines()[LEAF], 0.1)] * 2).encode()
    import_reports(context, "new", [ReportSource(reports)], seed=seed, repeats=True, create=True)


def import_two_runs(context: Context, seed: int) -> None:
    both = json.dumps({PLACE: evaluated(), PLACE.replace("/", "/2", 1): evaluated()}).encode()
    file = EvaluationFile(both, "r.json", LEAF)
    import_evaluation(context, "new", file, seed=seed, create=True)


@pytest.mark.parametrize("load", [import_two_results, import_two_runs])
def test_no_import_makes_a_result_of_a_seed_that_no_run_can_have(
    context: Context, load: Callable[..., None]
) -> None:
    readable_version(context, LEAF)

    for seed, refused in ((-(2**31) - 1, -(2**31) - 1), (2**31 - 1, 2**31), (10**20, 10**20)):
        with pytest.raises(Invalid, match=f"seed: .* {refused}[;,.]"):
            load(context, seed)

    with context.database.read() as session:
        assert experiments.get(session, "new") is None
    load(context, 2**31 - 2)
