"""The groups of rates, and the words for resources, by which experiments are grouped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.bundled import bundled
from app.domain.feedback import Feedback
from app.domain.result_choices import Baselines, GroupBy, Padding, SuccessGroupBy
from app.domain.states import ReportedScoreKind
from app.errors import AttemptsMissing
from app.reports.medal_rates import medal_rates_report
from app.reports.success_rates import success_report
from app.services.competitions.import_folder import import_folder
from app.services.results.experiment_results import describe, medal_rates
from app.services.results.inputs.scope import ResultFilter
from app.services.results.success_rates import SuccessScope, success
from app.services.runtime.context import Context
from app.storage.queries.elsewhere import reported_scores
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from tests.factories import write_competition
from tests.services.regrades.make import graded
from tests.storage.make import NOON, World, add_run, add_version

BASELINE = '[baseline]\nscore = 0.5\nsource = "starter code"\n'


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        (None, "not told"),
        ({}, "not told"),
        ({"hours": 24.0}, "24 hours"),
        ({"hours": 0.5, "cpus": 8}, "0.5 hours, 8 cpus"),
        ({"gpus": 2, "gpu_kind": "A100"}, "2 gpus A100"),
        ({"memory_gb": 64.0}, "64 GB"),
        ({"internet": False}, "no internet"),
        ({"hours": 24, "internet": True}, "24 hours, internet"),
        ({"hours": None, "gpus": None}, "not told"),
    ],
)
def test_resources_are_described_in_a_few_words(
    resources: dict[str, object] | None, words: str
) -> None:
    assert describe(resources) == words


def test_a_group_called_all_is_shown_beside_that_of_all_competitions(
    context: Context, here: World
) -> None:
    """It was left out."""
    graded(here)
    tags = {"tags": ["all", "tag all", "All", "text"], "category": "all"}
    other = context.database.write(lambda session: add_version(session, "boats", document=tags))
    add_run(context.database, other, "first", state="closed")

    found, rates = medal_rates(context, "first", ResultFilter(), GroupBy.TAG)
    assert {name: group.members for name, group in rates.items()} == {
        "all": ("bikes", "boats"),
        "tag All": ("boats",),
        "tag tag all": ("boats",),
        "tag all": ("boats",),
        "tabular": ("bikes",),
        "text": ("boats",),
    }
    assert medal_rates_report(found, rates, GroupBy.TAG, []).markdown().count("| All (%)") == 1
    (_, by_category) = medal_rates(context, "first", ResultFilter(), GroupBy.CATEGORY)
    assert by_category["category all"].members == ("boats",)


def test_a_document_does_not_depend_on_the_order_of_the_runs(context: Context, here: World) -> None:
    """The policies and failures stood in the order in which the database gave the runs."""
    made = [(Feedback.VALIDITY, "crash"), (Feedback.FULL, "connection"), (Feedback.NONE, "crash")]
    for name, runs in {"one": made, "two": made[::-1]}.items():
        for seed, (feedback, failure) in enumerate(runs):
            add_run(
                context.database, here.version, name,
                seed=seed, feedback=feedback, failure=failure, state="closed",
            )  # fmt: skip

    def documents(name: str) -> tuple[str, str]:
        document = medal_rates_report(
            *medal_rates(context, name, ResultFilter(), GroupBy.TAG), GroupBy.TAG, []
        ).document
        return json.dumps(document["exposure"]), json.dumps(document["failures"])

    assert documents("one") == documents("two")


def test_only_a_complexity_has_the_headings_of_mle_bench(context: Context, here: World) -> None:
    """A tag `low` was shown as `Low == Lite`."""
    graded(here)
    tags = {"tags": ["low", "seeds"], "complexity": "low"}
    other = context.database.write(lambda session: add_version(session, "boats", document=tags))
    add_run(context.database, other, "first", state="closed")
    heads = {GroupBy.TAG: "| low (%) | seeds (%) |", GroupBy.COMPLEXITY: "| Low == Lite (%) |"}

    for by, heading in heads.items():
        found = medal_rates(context, "first", ResultFilter(), by)
        assert heading in medal_rates_report(*found, by, []).markdown()


def test_success_at_a_competition_called_all_is_shown_beside_that_at_all(
    context: Context, tmp_path: Path
) -> None:
    """It was left out."""
    for slug in ("all", "other"):
        imported = import_folder(context, write_competition(tmp_path / slug, toml=BASELINE))
        add_run(context.database, imported.version, "first")  # open, and so without a result
    asked = SuccessScope(ResultFilter(padding=Padding.FAIL))

    found = success(context, "first", asked, SuccessGroupBy.COMPETITION)
    assert {name: group.runs for name, group in found.groups.items()} == {
        "all": 2, "competition all": 1, "other": 1,
    }  # fmt: skip
    assert found.lost.keys() == found.groups.keys()


def test_a_run_without_a_result_at_a_competition_without_a_baseline_is_left_out_too(
    context: Context, tmp_path: Path
) -> None:
    """With padding=fail it counted as a failure, and the finished runs there did not count."""
    for slug, toml in (("known", BASELINE), ("other", "")):
        imported = import_folder(context, write_competition(tmp_path / slug, toml=toml))
        for seed, state in enumerate(("open", "closed")):
            add_run(context.database, imported.version, "first", seed=seed, state=state)
    asked = SuccessScope(ResultFilter(padding=Padding.FAIL), baselines=Baselines.KNOWN)

    found = success(context, "first", asked, SuccessGroupBy.COMPETITION)
    assert {name: group.runs for name, group in found.groups.items()} == {"all": 2, "known": 2}
    assert found.missing_baseline == {"other": 2}
    assert [(one.competition, one.seed) for one in found.missing] == [("known", 0)]


def test_a_competition_without_a_run_that_declares_a_baseline_is_missing(context: Context) -> None:
    declares, without = "mlagentbench-vectorization", "mlagentbench-clrs"
    folders = [bundled("competitions") / slug for slug in (declares, without)]
    versions = [import_folder(context, folder).version for folder in folders]
    add_run(context.database, versions[1], "first", state="closed")
    filters = ResultFilter(suite="mlagentbench", padding=Padding.FAIL)

    found = success(context, "first", SuccessScope(filters, baselines=Baselines.KNOWN), None)

    assert found.missing_baseline == {without: 1}
    assert declares in {one.competition for one in found.missing}


def test_a_competition_without_a_run_and_without_a_baseline_is_left_out_too(
    context: Context,
) -> None:
    """With padding=fail it counted as a failure; with a run that failed it was left out."""
    at, without = "mlagentbench-vectorization", "mlagentbench-clrs"
    folders = [bundled("competitions") / slug for slug in (at, without)]
    imported = [import_folder(context, folder) for folder in folders]
    add_run(context.database, imported[0].version, "first", state="closed")
    filters = ResultFilter(suite="mlagentbench", padding=Padding.FAIL)

    found = success(context, "first", SuccessScope(filters, baselines=Baselines.KNOWN), None)
    assert found.missing_baseline == {without: 0}
    assert {at, without}.isdisjoint(one.competition for one in found.missing)
    assert found.groups["all"].competitions == len(found.competitions) - 1 == 12

    # Nor is a result missing where all runs were lost: padding=none was refused.
    add_run(context.database, imported[0].version, "lost", state="closed")
    add_run(context.database, imported[1].version, "lost", state="closed", failure="out_of_memory")
    left = success(context, "lost", SuccessScope(ResultFilter(), baselines=Baselines.KNOWN), None)
    assert (left.missing, left.missing_baseline) == ((), {without: 0})
    assert left.lost["all"] == {"out_of_memory": 1}
    with pytest.raises(AttemptsMissing, match="but not those of competitions whose runs were all"):
        success(context, "lost", SuccessScope(ResultFilter()), None)

    starter = add_run(context.database, imported[1].version, "starter", state="closed")
    measured = ReportedScoreRecord(
        run_id=starter.id, kind=ReportedScoreKind.REPORTED, score=0.5, final=True, evidence={},
        reported_at=NOON,
    )  # fmt: skip
    context.database.write(lambda session: reported_scores.add(session, measured))
    asked = SuccessScope(filters, baselines=Baselines.KNOWN, starter="starter")
    assert success(context, "first", asked, None).groups["all"].competitions == 13


def test_each_group_with_missing_results_is_marked_with_how_they_count(
    context: Context, tmp_path: Path
) -> None:
    """Only `all` was marked, and results that were left out were said to leave their seed out,
    or with padding=fail to count as failures.
    """
    for slug in ("done", "lost", "open"):
        imported = import_folder(context, write_competition(tmp_path / slug, toml=BASELINE))
        for seed, state in enumerate(("closed", "open" if slug == "open" else "closed")):
            failure = "connection" if slug == "lost" else None
            add_run(context.database, imported.version, "first", seed=seed, state=state,
                    failure=failure)  # fmt: skip

    def marked(padding: Padding) -> tuple[dict[str, str], str]:
        asked = SuccessScope(ResultFilter(padding=padding))
        found = success(context, "first", asked, SuccessGroupBy.COMPETITION)
        text = success_report(found).markdown()
        rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
        return {row[0].strip("| "): row[3].partition(" [")[2].rstrip("]") for row in rows}, text

    marks, text = marked(Padding.COMPLETE)
    assert marks == {"done": "", "open": "a", "all": "b"}
    assert "- [a] 1 missing: such results are left out (padding=complete)" in text
    marks, text = marked(Padding.FAIL)
    assert marks == {"done": "", "open": "a", "all": "b,a"}
    assert "- [a] 1 missing: such results count as failures (padding=fail)" in text
    assert "- [b] 1 missing: such results are left out (padding=fail)" in text
    assert "Missing results are left out: lost (all its runs were lost to infrastructure)." in text
