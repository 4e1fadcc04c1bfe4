"""What a run's key is told of its competition: its bounds, and under `full` the human board."""

from __future__ import annotations

import io
import shutil
import zipfile
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import Podium

DAY = "2020-05-17T00:00:00+00:00"
TITLE = "Tiny"
LINES_KNOWN = (
    "Only the medal lines of {slug}'s leaderboard of 12 teams are known: gold 0.05, bronze 0.2."
)
HEADER = "Rank,TeamId,TeamName,LastSubmissionDate,Score,SubmissionCount,TeamMemberUserNames"
SERVICE = "/api/v1/competitions.CompetitionApiService"


def of(client: httpx.Client, slug: str, *names: str) -> list[Any]:
    """These fields of the competition, as the holder of a key reads them."""
    found = client.post(f"{SERVICE}/GetCompetition", json={"competitionName": slug}).json()
    return [found[name] for name in names]


def test_a_runs_key_reads_its_own_bounds_and_a_researchers_key_the_tags(podium: Podium) -> None:
    folder = podium.folder()
    described = folder / "competition.toml"
    described.write_text('tags = ["a-tag"]\ncategory = "images"\n' + described.read_text())
    assert podium.send_folder(folder).status_code == 201
    limits = {"submissions_per_day": 5, "hours": 3}
    run = podium.run(folder, "full", limits=limits)
    told = of(run.client, folder.name, "deadline", "maxDailySubmissions", "tags", "teamCount")
    started = podium.admin.get(f"/v1/runs/{run.id}").json()["started_at"]
    assert datetime.fromisoformat(told[0]) == datetime.fromisoformat(started) + timedelta(hours=3)
    assert told[1:] == [5, [], 12]
    told = of(run.client, folder.name, "category", "title", "evaluationMetric", "userHasEntered")
    assert told == ["images", TITLE, "root_mean_squared_error", True]

    other = podium.run(folder, "public")
    names = "maxDailySubmissions", "teamCount", "submissionsDisabled"
    assert of(other.client, folder.name, *names) == [0, 0, False]
    podium.admin.patch(f"/v1/runs/{other.id}", json={"state": "closed"})
    assert of(other.client, folder.name, *names) == [0, 0, True]

    researcher = podium.client(podium.researcher_key())
    body = {"competitionName": "not-here"}
    assert researcher.post(f"{SERVICE}/GetCompetition", json=body).status_code == 404
    told = of(researcher, folder.name, "tags", "teamCount", "submissionsDisabled", "deadline")
    assert told[:3] == [[{"ref": "a-tag", "name": "a-tag"}], 12, False]
    assert told[3].startswith("2999-12-31")


def test_teams_of_the_human_board_sent_their_last_file_on_the_day_of_its_capture(
    podium: Podium,
) -> None:
    folder = podium.competition(leaderboard=[0.1, 0.1, 0.2], toml="captured_at = 2020-05-17\n")
    run = podium.run(folder, "full")

    def page(size: int, token: str = "") -> tuple[list[str], str]:
        body = {"competitionName": folder.name, "pageSize": size, "pageToken": token}
        found = run.client.post(f"{SERVICE}/GetLeaderboard", json=body).json()
        assert {one["submissionDate"] for one in found["submissions"]} == {DAY}
        return [one["teamName"] for one in found["submissions"]], found["nextPageToken"]

    assert page(2) == (["team 1", "team 2"], "2")
    assert page(2, "2") == (["team 3"], "")
    assert page(3) == (["team 1", "team 2", "team 3"], "")
    body = {"competitionName": folder.name}
    packed = run.client.post(f"{SERVICE}/DownloadLeaderboard", json=body)
    assert packed.headers["Last-Modified"] == "Sun, 17 May 2020 00:00:00 GMT"
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert archive.namelist() == [f"{folder.name}-privateleaderboard.csv"]
        text = archive.read(archive.namelist()[0]).decode()
    bom, *rows = text[0], *text[1:].splitlines()
    assert bom == "\ufeff"  # as in Kaggle's
    assert [row.split(",")[:5] for row in rows[1:]] == [
        ["1", "1", "team 1", "2020-05-17 00:00:00", "0.1"],
        ["1", "2", "team 2", "2020-05-17 00:00:00", "0.1"],
        ["3", "3", "team 3", "2020-05-17 00:00:00", "0.2"],
    ]


def test_competitions_and_pages_are_listed_as_far_as_they_are_asked_for(podium: Podium) -> None:
    folders = sorted(podium.competition().name for _ in range(3))
    researcher = podium.client(podium.researcher_key())

    def page(size: int, token: str = "") -> tuple[list[str], str]:
        body = {"pageSize": size, "pageToken": token}
        found = researcher.post(f"{SERVICE}/ListCompetitions", json=body).json()
        return [one["ref"] for one in found["competitions"]], found["nextPageToken"]

    whole, _ = page(1000)
    assert [name for name in whole if name in folders] == folders
    assert page(len(whole)) == (whole, "")
    first, token = page(2)
    assert first == whole[:2]
    assert page(2, token)[0] == whole[2:4]
    body = {"search": folders[1]}
    found = researcher.post(f"{SERVICE}/ListCompetitions", json=body).json()["competitions"]
    assert folders[1] in [one["ref"] for one in found]
    assert folders[0] not in [one["ref"] for one in found]

    for wanted, names in (
        ("RULES", ["rules"]),
        ("", ["description", "evaluation", "rules", "data-description"]),
    ):
        body = {"competitionName": folders[0], "pageName": wanted}
        pages = researcher.post(f"{SERVICE}/ListCompetitionPages", json=body).json()["pages"]
        assert [page["name"] for page in pages] == names


def test_the_packed_line_of_a_run_without_a_score_is_as_old_as_the_competition(
    podium: Podium, tiny: Path
) -> None:
    run = podium.run(tiny, "public")
    body = {"competitionName": tiny.name}
    packed = run.client.post(f"{SERVICE}/DownloadLeaderboard", json=body)
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert archive.namelist() == [f"{tiny.name}-publicleaderboard.csv"]
        assert archive.read(archive.namelist()[0]).decode("utf-8-sig").splitlines() == [HEADER]
    (imported,) = of(run.client, tiny.name, "enabledDate")
    told = parsedate_to_datetime(packed.headers["Last-Modified"])
    assert told == datetime.fromisoformat(imported).replace(microsecond=0)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("", "{slug} has no human leaderboard."),
        ('[leaderboard]\nsource = "a test"\nteams = 12\ngold = 0.05\nbronze = 0.2\n',
         LINES_KNOWN),
    ],
    ids=["none", "lines"],
)  # fmt: skip
def test_a_researchers_key_is_told_what_is_known_of_a_board_without_scores(
    podium: Podium, toml: str, words: str
) -> None:
    folder = podium.competition(leaderboard=None, toml=toml)
    researcher = podium.client(podium.researcher_key())
    body = {"competitionName": folder.name}
    for method in ("GetLeaderboard", "DownloadLeaderboard"):
        answer = researcher.post(f"{SERVICE}/{method}", json=body)
        assert answer.json() == {"code": 404, "message": words.format(slug=folder.name)}


def test_a_competition_without_data_says_who_has_to_import_it(podium: Podium) -> None:
    folder = podium.folder()
    shutil.rmtree(folder / "public")
    shutil.rmtree(folder / "private")
    assert podium.send_folder(folder).json()["status"] == "needs_data"
    researcher = podium.client(podium.researcher_key())
    body = {"competitionName": folder.name}
    answer = researcher.post(f"{SERVICE}/DownloadDataFiles", json=body)
    assert answer.json()["code"] == answer.status_code == 409
    assert answer.json()["message"] == (
        f"{folder.name} has no files yet: an admin has to import its data."
    )
