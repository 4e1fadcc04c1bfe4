"""MLE-Dojo's competitions: imported from its layout, they score as its metric classes do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.domain.competition import parse_competition
from app.domain.verdict import Rejection
from app.grading.check import read_ids
from app.grading.decode_answers import decode_answers
from app.grading.grade import grade
from app.grading.scorer import scorer_for
from app.importers.mle_bench import DOJO_PREPARED, Sources, assemble
from tests.catalogue.make_dojo_vectors import COMPETITIONS, VECTORS, tagged
from tests.forkserver import run_podium

SLUGS = sorted(file.stem for file in VECTORS.glob("*.json"))
BOARD = "rank,score\n1,0.9\n2,0.8\n3,0.7\n"


def read_vectors(slug: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((VECTORS / f"{slug}.json").read_text())
    return found


def write_prepared(slug: str, data: Path) -> None:
    """The data of the vectors as MLE-Dojo lays it out."""
    made = read_vectors(slug)
    for name, text in (
        ("public/sample_submission.csv", made["sample"]), ("public/train.csv", "a\n1\n"),
        ("private/test_answer.csv", made["answers"]),
    ):  # fmt: skip
        file = data / slug / DOJO_PREPARED / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_every_tagged_folder_has_vectors_and_is_in_the_suite() -> None:
    suites = (COMPETITIONS / "suites.toml").read_text(encoding="utf-8")
    suite = suites.partition("[suites.mle-dojo]")[2].partition("\n[suites")[0]

    assert tagged() == SLUGS
    assert len(SLUGS) >= 60
    assert all(f'"{slug}",' in suite for slug in SLUGS)


@pytest.mark.parametrize("slug", SLUGS)
def test_submissions_have_the_scores_of_mle_dojos_class(slug: str, tmp_path: Path) -> None:
    write_prepared(slug, tmp_path / "data")
    sources = Sources(tmp_path / "data", prepared=DOJO_PREPARED)
    folder = assemble(COMPETITIONS / slug, sources, tmp_path / "made").folder
    competition = parse_competition(slug, (folder / "competition.toml").read_text("utf-8"))
    scorer = scorer_for(competition, None)
    ids = read_ids((folder / "public/sample_submission.csv").read_bytes(), competition.submission)
    truth = (folder / "private/test_answer.csv").read_bytes()
    answers = decode_answers(truth, competition, ids, frames=scorer.takes_frames)

    for case in read_vectors(slug)["cases"]:
        found = grade(case["submission"].encode(), competition, answers, None, scorer).score
        assert found == pytest.approx(case["reference"], rel=1e-9, abs=1e-9), case["kind"]
    lines = read_vectors(slug)["cases"][0]["submission"].splitlines()
    for bad in (lines[:-1], [*lines, lines[-1]], [lines[0].replace(",", ",x", 1), *lines[1:]]):
        with pytest.raises(Rejection):
            answers.check("\n".join(bad).encode())


def test_the_command_imports_them_with_their_boards(tmp_path: Path) -> None:
    checkout, slug = tmp_path / "checkout", "playground-series-s3e12"
    write_prepared(slug, checkout / "data" / "prepared")
    board = checkout / "mledojo/competitions" / slug / "info/private_leaderboard.csv"
    board.parent.mkdir(parents=True)
    board.write_text(BOARD)

    def podium(*words: object, code: int = 0) -> str:
        done = run_podium(
            words, capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin", "PODIUM_DATA_DIR": str(tmp_path / "podium")},
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return str(done.stdout + done.stderr)

    told = podium("import", "mle-dojo", checkout)
    (tmp_path / "s.csv").write_text(read_vectors(slug)["cases"][0]["submission"])
    graded = json.loads(podium("grade", slug, tmp_path / "s.csv"))

    assert f"{slug}: imported as version 1" in told
    assert "the leaderboard has other" in told
    assert graded["score"] == pytest.approx(read_vectors(slug)["cases"][0]["reference"])
    missing = podium("import", "mle-dojo", checkout, "titanic", code=1)
    assert "MLE-Dojo's prepare/mle.py makes it" in " ".join(missing.split())
    nowhere = podium("import", "mle-dojo", tmp_path, code=2)
    assert "--data-dir" in nowhere
