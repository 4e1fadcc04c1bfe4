"""Normalised scores: how far an attempt is from the sample submission to gold, or to the best."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from app.statistics.percentiles import SCALES
from tests.api.conftest import Podium
from tests.api.test_results import add_run, close, podium  # noqa: F401
from tests.api.test_scores import played, scores
from tests.factories import sample_submission
from tests.grading_reports import report

SHIFTS: list[list[float | None]] = [[0.0, 0.35], [0.2, None]]
BASELINE = '[baseline]\nscore = 0.5\nsource = "starter code"\n'


def test_the_scale_goes_from_the_sample_submission_to_gold(podium: Podium) -> None:  # noqa: F811
    folders = [podium.competition(seed=1), podium.competition(seed=2)]
    name = played(podium, folders, SHIFTS)
    found = scores(podium, name, "scale=between-sample-and-gold").json()

    expected = []
    for folder, row in zip(folders, SHIFTS, strict=True):
        tried = add_run(podium, podium.experiment(), folder.name, 0, feedback="full")
        sample = tried.submit(sample_submission(folder)).json()["grade"]["score"]
        gold = podium.admin.get(f"/v1/competitions/{folder.name}/leaderboard").json()["gold"]
        assert sample > gold
        # The error of a submission that is wrong by so much everywhere is that amount.
        expected.append([
            0.0 if shift is None else min(1.2, max(-1.2, (sample - shift) / (sample - gold)))
            for shift in row
        ])  # fmt: skip
    means = [statistics.fmean(row) for row in expected]
    assert found["mean"]["value"] == pytest.approx(statistics.fmean(means))
    low, high = found["mean"]["runs95"]
    assert -1.2 <= low < found["mean"]["value"] < high <= 1.2
    flat = [value for row in expected for value in row]
    assert found["optimality_gap"]["value"] == pytest.approx(
        statistics.fmean(max(0.0, 1 - value) for value in flat)
    )
    for point in found["profile"]:
        above = 100 * statistics.fmean(value > point["above"] for value in flat)
        assert point["share"] == pytest.approx(above)
    assert [point["above"] for point in found["profile"]][:2] == [-1.2, -1.08]
    assert (found["target"], found["percentile_convention"], found["unplaced"]) == (1.0, None, [])

    table = scores(podium, name, "scale=between-sample-and-gold", "text/markdown").text
    assert "mean between-sample-and-gold" in table
    assert "0 for the sample submission" in table
    assert scores(podium, name, "scale=between-sample-and-gold&percentile=mid-rank").is_error
    assert scores(podium, name, "scale=between-sample-and-gold&target=2").status_code == 422
    assert scores(podium, name, "scale=unknown").status_code == 422


def test_the_gap_is_from_the_baseline_to_the_best_team(podium: Podium) -> None:  # noqa: F811
    folders = [podium.competition(toml=BASELINE), podium.competition(toml=BASELINE)]
    name = played(podium, folders, SHIFTS)
    found = scores(podium, name, "scale=performance-gap-closed").json()
    best = 0.05
    expected = [
        [
            0.0 if shift is None else min(2.0, max(0.0, (0.5 - shift) / (0.5 - best)))
            for shift in row
        ]
        for row in SHIFTS
    ]
    means = [statistics.fmean(row) for row in expected]
    assert found["mean"]["value"] == pytest.approx(statistics.fmean(means))
    assert found["target"] == 1.0


def test_a_competition_without_the_ends_of_a_scale_is_named(podium: Podium) -> None:  # noqa: F811
    folders = [podium.competition(toml=BASELINE), podium.competition()]
    name = played(podium, folders, [[0.1], [0.1]])
    refused = scores(podium, name, "scale=performance-gap-closed")
    assert refused.status_code == 409
    assert [one["competition"] for one in refused.json()["missing"]] == [folders[1].name]
    assert "state a [baseline]" in refused.json()["detail"]
    padded = scores(podium, name, "scale=performance-gap-closed&padding=fail").json()
    assert [one["competition"] for one in padded["unplaced"]] == [folders[1].name]
    assert padded["mean"]["value"] == pytest.approx((0.4 / 0.45) / 2)

    # A board whose gold is worse than the sample submission has no way from one to the other.
    easy = podium.competition(leaderboard=[90.0 + place for place in range(12)])
    name = played(podium, [easy], [[0.1]])
    assert scores(podium, name, "scale=between-sample-and-gold").status_code == 409
    assert scores(podium, name).status_code == 200


def test_scores_of_a_past_time_stay_as_they_were(podium: Podium) -> None:  # noqa: F811
    """An imported result is placed by the version that was current then."""
    folder = podium.competition(toml=BASELINE)
    name = podium.experiment()
    entry = {
        "competition_id": folder.name, "score": 0.12, "gold_threshold": 0.05,
        "silver_threshold": 0.1, "bronze_threshold": 0.15, "median_threshold": 0.3,
        "any_medal": True, "gold_medal": False, "silver_medal": False, "bronze_medal": True,
        "above_median": True, "submission_exists": True, "valid_submission": True,
        "is_lower_better": True, "created_at": "2025-05-07T14:59:41", "submission_path": "x.csv",
    }  # fmt: skip
    answer = podium.admin.post(
        f"/v1/experiments/{name}/grading-reports?seed=0", json=report([entry])
    )
    assert answer.status_code == 201, answer.text
    at = quote(datetime.now(UTC).isoformat())
    before = [scores(podium, name, f"scale={scale}&as_of={at}").text for scale in SCALES]
    assert all('"mean"' in text for text in before)

    (folder / "leaderboard.csv").write_text("score\n0.01\n0.02\n0.03\n0.2\n")
    toml = folder / "competition.toml"
    toml.write_text(toml.read_text().replace("version = 1", "version = 2").replace("0.5", "0.7"))
    assert podium.send_folder(folder).status_code == 201

    assert [scores(podium, name, f"scale={scale}&as_of={at}").text for scale in SCALES] == before
    assert [scores(podium, name, f"scale={scale}").text for scale in SCALES] != before
