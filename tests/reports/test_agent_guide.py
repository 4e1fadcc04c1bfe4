"""The guide for agents: the form of a file in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.domain.competition import Competition, parse_competition
from app.domain.feedback import Feedback
from app.domain.states import RunState
from app.reports.agent_guide import RunGuide, guide_for_harness, guide_for_run
from app.services.competitions.queries import SAMPLE
from app.services.submissions.quotas import Quota
from app.storage.database.records import RunRecord
from tests.domain.test_measured import SPEED

IDS_TOML = 'id = "row"'
IDS = "Ids are those of the sample submission"
LABELS = [f"l{number}" for number in range(21)]
COLUMNS = f"""species = {{ kind = "integer", min = 0 }}
kind = {{ kind = "label", labels = {LABELS} }}"""
CHANCES = """a = { kind = "probability" }
b = { kind = "probability" }"""
SUM_TO_ONE = "rows_sum_to_one = true"
POSITIONS = "There is no id column: rows are in the order of the sample submission."


@pytest.mark.parametrize(
    ("ids", "told", "other"),
    [('id = "row"', IDS, POSITIONS), ('id_kind = "position"', POSITIONS, IDS)],
)
def test_ids_are_told_only_where_a_file_has_them(ids: str, told: str, other: str) -> None:
    text = guide_for_run("http://podium:7777", RunGuide(run(), competition(ids), 3, (), quota()))

    assert told in text
    assert other not in text


def test_rows_and_a_public_file_are_told_where_they_are_known() -> None:
    files = (SAMPLE, "train.csv", "test.csv")
    full = guide_for_run(
        "http://podium:7777", RunGuide(run(), competition(IDS_TOML), 3, files, quota())
    )
    bare = guide_for_run(
        "http://podium:7777", RunGuide(run(), competition(IDS_TOML), None, (SAMPLE,), quota())
    )

    assert "with a header, 3 rows. Its" in full
    assert "files/train.csv" in full
    assert "with a header. Its" in bare
    assert "files/train.csv" not in bare


def test_limits_are_told_where_there_are_any() -> None:
    limits = {"submissions_total": 7, "submissions_per_day": 1, "hours": 2.5}
    limited = replace(run(), limits=limits, started_at=datetime(2026, 5, 1, 12, tzinfo=UTC))
    used = Quota(today=1, total=3, allowed_now=0, is_limited_by_total=False)

    bounds = lines(RunGuide(limited, competition(IDS_TOML), 3, (), used))
    free = lines(RunGuide(run(), competition(IDS_TOML), 3, (), quota()))
    waits = lines(RunGuide(replace(limited, started_at=None), competition(IDS_TOML), 3, (), used))

    since = "- Hours: 2.5 from the first request of your key"
    told = [
        "- At most 7 submissions; used: 3.", "- At most 1 submission in 24 hours; used: 1.",
        "- Submissions that you may send now: 0.",
        f"{since}, which was 2026-05-01T12:00:00+00:00.",
    ]  # fmt: skip
    unlimited = "- The number of submissions is not limited."
    assert [line for line in bounds if line in (*told, unlimited)] == told
    assert [line for line in free if line in (*told, unlimited)] == [unlimited]
    assert not any(line.startswith("- Hours") for line in free)
    assert f"{since}." in waits


def test_the_metric_and_the_columns_are_told() -> None:
    text = lines(RunGuide(run(), competition(IDS_TOML), 3, (), quota()))
    labels = " ".join(f"l{number}" for number in range(20))

    assert "- Metric: accuracy_score; higher is better." in text
    assert "- `row`: the id, as in the sample submission" in text
    assert "- `species`: integer, min 0" in text
    assert any(line.startswith(f"- `kind`: label, labels {labels} and 1 more") for line in text)
    sums = "The probabilities of a row sum to 1."
    assert sums not in text
    chances = competition(IDS_TOML, metric="log_loss", columns=CHANCES, more=SUM_TO_ONE)
    text = lines(RunGuide(run(), chances, 3, (), quota()))
    assert sums in text
    assert "- Metric: log_loss; lower is better." in text


def test_a_measured_competition_takes_no_files() -> None:
    measured = parse_competition("leaves", SPEED)
    text = lines(RunGuide(run(), measured, None, (), quota()))
    assert "This competition takes no files: a harness measures its results." in text
    assert not any("/validate" in line for line in text)
    text = lines(RunGuide(run(), competition(IDS_TOML), 3, (), quota()))
    assert sum("/runs/run_1/validate" in line for line in text) == 1


def test_a_file_whose_name_a_shell_reads_otherwise_is_fetched_by_its_own_name() -> None:
    files = ("images/a b.csv",)
    text = lines(RunGuide(run(), competition(IDS_TOML), 3, files, quota()))
    (line,) = [line for line in text if "/files/images" in line]
    assert line.endswith("""/files/images/a%20b.csv" -H "$H" -o 'a b.csv'""")


def test_a_harness_is_told_how_it_grades_a_file() -> None:
    text = guide_for_harness("http://podium:7777", "first")
    assert text.startswith("---\nname: podium")
    assert "files of the experiment first." in text
    assert text.index("/grade?seed=0") < text.index("## Rules of the protocol")


def lines(about: RunGuide) -> list[str]:
    return guide_for_run("http://podium:7777", about).splitlines()


def competition(
    ids: str, metric: str = "accuracy_score", columns: str = COLUMNS, more: str = ""
) -> Competition:
    toml = f"""
title = "Leaves"
version = 1
[metric]
name = "{metric}"
[submission]
{more}
{ids}
[submission.columns]
{columns}
"""
    return parse_competition("leaves", toml)


def run() -> RunRecord:
    return RunRecord(
        id="run_1", experiment="one", version_id=1, competition="leaves", seed=0,
        feedback=Feedback.VALIDITY, limits={}, state=RunState.OPEN, usage=None, failure=None,
        selected_id=None, created_at=datetime.now(UTC), closed_at=None,
    )  # fmt: skip


def quota() -> Quota:
    return Quota(today=0, total=0, allowed_now=None, is_limited_by_total=False)
