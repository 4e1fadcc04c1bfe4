"""`podium readiness SUITE`: what can be downloaded, how large it is, and what is missing."""

from __future__ import annotations

import json
import zipfile

from tests.downloads.conftest import CACTUS, FakeKaggle

SLUGS = ["small", CACTUS, "with-rules", "gone", "closed", "without-prepare"]


def test_every_competition_of_a_suite_is_explained(kaggle: FakeKaggle) -> None:
    for number, slug in enumerate(SLUGS):
        kaggle.competition(slug, megabytes=0.2 + number * 6)
    (kaggle.work / "competitions" / "without-prepare" / "prepare.py").unlink()
    (kaggle.work / "competitions" / "suites.toml").write_text(
        f'[suites.mine]\ntitle = "Mine"\ncompetitions = {json.dumps(SLUGS[::-1])}\n'
    )
    kaggle.fail(rules=["with-rules"], gone=["gone"], closed=["closed"])

    shown = kaggle.podium("readiness", "mine")
    found = json.loads(kaggle.podium("readiness", "mine", "--json").stdout)

    assert shown.returncode == 1
    one = {each["slug"]: each for each in found["competitions"]}
    assert {slug: one[slug]["state"] for slug in SLUGS} == {
        "small": "ready", CACTUS: "ready", "with-rules": "rules_missing", "gone": "gone",
        "closed": "cannot_be_joined", "without-prepare": "no_prepare",
    }  # fmt: skip
    assert [each["slug"] for each in found["competitions"]][:2] == ["small", CACTUS]
    archive = kaggle.home / f"{CACTUS}.zip"
    with zipfile.ZipFile(archive) as packed:
        assert one[CACTUS]["unpacked"] == sum(m.file_size for m in packed.infolist())
        table = packed.getinfo("train.csv").compress_size
    assert one[CACTUS]["archive"] == archive.stat().st_size
    assert one[CACTUS]["tables"] == table
    assert found["missing"] < archive.stat().st_size  # what was measured is kept
    assert found["free"] > found["needed"] > 0
    assert found["speed"] is None or found["speed"] > 0
    assert "competitions/with-rules/rules in a browser" in shown.stderr
    assert "time at" in shown.stdout

    ready = json.loads(
        kaggle.podium("prepare", "--kaggle", "--grading-only", "small", "--json").stdout
    )
    again = json.loads(kaggle.podium("readiness", "mine", "--json").stdout)
    states = {each["slug"]: each["state"] for each in again["competitions"]}
    assert ready[0]["state"] == states["small"] == "prepared"


def test_an_unknown_suite_is_told(kaggle: FakeKaggle) -> None:
    done = kaggle.podium("readiness", "nothing")
    assert done.returncode == 1
    assert "There is no suite 'nothing'" in done.stderr
