"""The guide for agents: the form of a file in words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.competition import Competition, parse_competition
from app.domain.feedback import Feedback
from app.domain.states import RunState
from app.reports.agent_guide import RunGuide, guide_for_run
from app.services.competitions.queries import SAMPLE
from app.services.submissions.quotas import Quota
from app.storage.database.records import RunRecord

IDS_TOML = 'id = "row"'
IDS = "Ids are those of the sample submission"
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


def competition(ids: str) -> Competition:
    toml = f"""
title = "Leaves"
version = 1
[metric]
name = "accuracy_score"
[submission]
{ids}
[submission.columns]
species = {{ kind = "integer", min = 0 }}
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
