"""The folders that come with Podium: every one stages cleanly; the bike data is what it says."""

import gzip
import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest

from app.domain.suites import parse_suites
from app.importers.folder import stage_folder

FOLDERS = Path(__file__).parents[2] / "competitions"
SLUGS = sorted(toml.parent.name for toml in FOLDERS.glob("*/competition.toml"))
BIKE = FOLDERS / "bike-sharing-demand"
PARTS = {
    "train": "public/train.csv.gz",
    "test": "public/test.csv.gz",
    "sample": "public/sample_submission.csv.gz",
    "answers": "private/answers.csv.gz",
}


def table(part):
    return pd.read_csv(BIKE / PARTS[part])


def days(part):
    return pd.to_datetime(table(part)["datetime"]).dt.day


@pytest.mark.parametrize("slug", SLUGS)
def test_every_folder_stages_cleanly(slug, tmp_path):
    staged = stage_folder(FOLDERS / slug, tmp_path / "staged", max_bytes=10**8)

    assert staged.slug == slug
    assert (staged.directory / "README.md").read_text(encoding="utf-8").strip()


def test_every_suite_names_folders_that_are_there():
    suites = parse_suites((FOLDERS / "suites.toml").read_text(encoding="utf-8"))

    assert "podium" in suites
    assert {slug for slugs in suites.values() for slug in slugs} <= set(SLUGS)


def test_the_bike_data_is_ready_to_grade(tmp_path):
    staged = stage_folder(BIKE, tmp_path / "staged", max_bytes=10**8)

    assert staged.status.value == "ready"
    assert [file.name for file in staged.files] == [
        "sample_submission.csv",
        "test.csv",
        "train.csv",
    ]
    assert [flag.code for flag in staged.competition.flags] == ["easier_than_kaggle"]
    assert (staged.leaderboard.teams, staged.leaderboard.lines.gold) == (3242, 0.36367)
    assert staged.lint == ()


def test_the_bike_data_has_all_10886_hours_once():
    hours = pd.concat([table("train")["datetime"], table("test")["datetime"]])

    assert len(hours) == 10_886
    assert hours.is_unique
    assert (hours.min(), hours.max()) == ("2011-01-01 00:00:00", "2012-12-19 23:00:00")


def test_days_15_to_19_of_every_month_are_the_test_rows():
    assert set(days("train")) == set(range(1, 15))
    assert set(days("test")) == set(range(15, 20))
    assert pd.to_datetime(table("test")["datetime"]).dt.to_period("M").nunique() == 24


def test_no_target_is_in_the_public_test_rows():
    features = [
        "datetime",
        "season",
        "holiday",
        "workingday",
        "weather",
        "temp",
        "atemp",
        "humidity",
        "windspeed",
    ]

    assert list(table("test").columns) == features
    assert list(table("train").columns) == [*features, "count"]


def test_the_sample_submission_tells_nothing_but_the_ids():
    sample = table("sample")

    assert list(sample.columns) == ["datetime", "count"]
    assert set(sample["count"]) == {0}
    assert list(sample["datetime"]) == list(table("test")["datetime"])


def test_half_of_the_answers_are_the_public_part():
    answers = table("answers")

    assert list(answers.columns) == ["datetime", "count", "Usage"]
    assert answers["Usage"].value_counts().to_dict() == {"Public": 1430, "Private": 1430}
    assert list(answers["datetime"]) == list(table("test")["datetime"])
    assert answers["count"].min() >= 1


def test_both_parts_of_the_answers_have_every_month_and_hour():
    answers = table("answers")
    moment = pd.to_datetime(answers["datetime"])

    for part in ("Public", "Private"):
        chosen = moment[answers["Usage"] == part]
        assert set(chosen.dt.month) == set(range(1, 13))
        assert set(chosen.dt.hour) == set(range(24))


def test_prepare_gives_the_same_files_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("prepare_bike", BIKE / "prepare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Kaggle's train.csv: all labelled hours, here shuffled, with the columns that are left out.
    test = table("test").merge(table("answers").drop(columns="Usage"), on="datetime")
    hours = pd.concat([table("train"), test]).sample(frac=1, random_state=1)
    for folder in ("raw", "public", "private"):
        (tmp_path / folder).mkdir()
    hours.assign(casual=1, registered=2).to_csv(tmp_path / "raw" / "train.csv", index=False)

    module.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")

    for name in PARTS.values():
        again, committed = (tmp_path / name).read_bytes(), (BIKE / name).read_bytes()
        assert gzip.decompress(again) == gzip.decompress(committed)
        assert again[4:8] == committed[4:8] == bytes(4)  # no time in the gzip header
    assert {p.name for p in (tmp_path / "public").iterdir()} == {
        Path(name).name for name in PARTS.values() if name.startswith("public/")
    }
