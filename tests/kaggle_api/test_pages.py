"""A competition's pages in words: what a run may send, and what a file looks like."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.competition import parse_competition
from app.domain.feedback import Feedback
from app.kaggle_api.pages import POLICY_RULES, pages_of
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord
from tests.domain.test_measured import SPEED
from tests.reports.test_agent_guide import (
    CHANCES,
    IDS_TOML,
    SUM_TO_ONE,
    competition,
    run,
)
from tests.services.conftest import context
from tests.services.submissions.conftest import readable_version

__all__ = ["context"]
FREE = "- The number of submissions is not limited."


@pytest.fixture
def entry(context: Context) -> CatalogueEntry:
    return context.catalogue.of_version(readable_version(context, "leaves").id)


def rules(entry: CatalogueEntry, of: RunRecord | None) -> list[str]:
    return pages_of(entry, of, [])["rules"].splitlines()[2:]


def test_rules_are_those_of_the_run(entry: CatalogueEntry) -> None:
    limits = {"submissions_per_day": 5, "submissions_total": 7, "hours": 1}
    limited = replace(run(), limits=limits)
    last = "- The last valid submission is final unless another one is selected."
    assert rules(entry, limited) == [
        f"- {POLICY_RULES[Feedback.VALIDITY]}", "- At most 5 valid submissions in any 24 hours.",
        "- At most 7 valid submissions in all.", "- The run ends 1 hour after its first request.",
        "- Invalid files do not count.", last,
    ]  # fmt: skip
    none = replace(limited, feedback=Feedback.NONE, limits={"submissions_total": 7, "hours": 2.5},
                   started_at=run().created_at.replace(2026, 5, 1, 12, 30))  # fmt: skip
    assert rules(entry, none) == [
        f"- {POLICY_RULES[Feedback.NONE]}", "- At most 7 submissions in all.",
        "- The run ends 2.5 hours after 2026-05-01 12:30 UTC.", "- Every file counts.", last,
    ]  # fmt: skip
    for each, is_free in (({}, True), ({"hours": 1}, True), ({"submissions_per_day": 5}, False)):
        assert (FREE in rules(entry, replace(run(), limits=each))) is is_free
    assert rules(entry, None) == [
        "- This is not a run's key: it can list and download, but not submit."
    ]


def test_the_form_of_a_file_and_the_metric_are_told(entry: CatalogueEntry) -> None:
    def evaluation(**over: str) -> list[str]:
        declared = competition(over.pop("ids", IDS_TOML), **over)
        about = replace(entry, competition=declared, version=replace(entry.version, rows=3))
        return pages_of(about, None, [])["evaluation"].splitlines()

    found = evaluation()
    assert found[0] == "Metric: `accuracy_score`; higher is better."
    assert "A submission is a CSV file with one header line, 3 rows, as in" in found
    assert found[-3:] == ["- `row`: id", "- `species`: integer", "- `kind`: label"]
    found = evaluation(metric="log_loss", columns=CHANCES, more=SUM_TO_ONE)
    assert found[0] == "Metric: `log_loss`; lower is better."
    assert found[-1] == "The probabilities of a row must add up to 1."
    place = "- no id: rows must be in the order of `sample_submission.csv`"
    assert place in evaluation(ids='id_kind = "position"')


def test_parameters_and_a_harness_that_measures_are_told(entry: CatalogueEntry) -> None:
    declared = competition(IDS_TOML)
    metric = declared.metric.model_copy(update={"parameters": {"beta": 2.0}})
    weighted = replace(entry, competition=declared.model_copy(update={"metric": metric}))
    measured = replace(entry, competition=parse_competition("speed", SPEED), description=None)
    pages = pages_of(measured, None, [])

    assert "Parameters: `beta=2.0`" in pages_of(weighted, None, [])["evaluation"].splitlines()
    assert pages["evaluation"].splitlines() == [
        "Metric: `seconds_per_token`; lower is better.", "",
        "There are no submissions here: a harness measures and reports the result.",
    ]  # fmt: skip
    assert pages["description"] == "Speed"
    described = replace(measured, description="# Words")
    assert pages_of(described, None, [])["description"] == "# Words"


def test_only_so_many_files_are_listed(entry: CatalogueEntry) -> None:
    files = [{"name": f"{number}.png", "bytes": 1234} for number in range(201)]
    for count, last in ((200, "- `199.png` (1,234 bytes)"), (201, "and 1 more; kaggle")):
        lines = pages_of(entry, None, files[:count])["data-description"].splitlines()
        assert lines[2] == "- `0.png` (1,234 bytes)"
        assert lines[-1].startswith(last)
