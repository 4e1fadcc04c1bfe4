"""Folders of raw outputs: lists, run groups, paths of other machines, and what is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from app.errors import Invalid
from app.importers import submission_folder
from app.importers.submission_folder import read_submission_folder


def write_list(folder: Path, lines: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "submission.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def line(slug: str, path: str | None) -> dict:
    return {"competition_id": slug, "submission_path": path}


def test_paths_of_another_machine_and_attempts_without_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a_1234" / "submission" / "submission.csv"
    file.parent.mkdir(parents=True)
    file.write_text("id,target\n")
    write_list(
        tmp_path,
        [
            line("a", "/home/else/runs/2024-01-01/a_1234/submission/submission.csv"),
            line("a", "a_1234/submission/submission.csv"),
            line("b", None),
            line("a", "/home/else/a_9/submission/nothing.csv"),
            line("a", str(file)),
        ],
    )
    found = read_submission_folder(tmp_path, 5)
    assert [(one.competition, one.seed, one.file) for one in found.attempts] == [
        ("a", 5, file), ("a", 6, file), ("b", 5, None), ("a", 7, None), ("a", 8, file),
    ]  # fmt: skip
    assert [one.is_missing for one in found.attempts] == [False, False, False, True, False]
    assert found.attempts[0].place == "submission.jsonl:1"
    (problem,) = found.problems
    assert problem.startswith("submission.jsonl:4: a seed 7: ")


def test_run_groups_are_seeds_in_the_order_of_their_names(tmp_path: Path) -> None:
    for group in ("2025-02_b", "2025-01_a", "2025-03_c"):  # in no order of directories
        (tmp_path / group).mkdir()
        (tmp_path / group / "x.csv").write_text(group)
        write_list(tmp_path / group, [line("a", "x.csv")])
    found = read_submission_folder(tmp_path)
    assert [(one.group, one.seed) for one in found.attempts] == [
        ("2025-01_a", 0), ("2025-02_b", 1), ("2025-03_c", 2),
    ]  # fmt: skip
    assert [one.file.read_text() for one in found.attempts] == [
        "2025-01_a", "2025-02_b", "2025-03_c",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "named",
    [
        "/etc/passwd", "../secret.csv", "link.csv", "x\x00y", "a" * 5000, "circle", "circle/a.csv",
        "\ud800", "a/" * 20_000,
    ],
)  # fmt: skip
def test_no_name_leads_out_of_the_folder(tmp_path: Path, named: str) -> None:
    (tmp_path / "secret.csv").write_text("secret")
    inside = tmp_path / "in"
    write_list(inside, [line("a", named)])
    (inside / "link.csv").symlink_to(tmp_path / "secret.csv")
    (inside / "circle").symlink_to("circle")
    started = time.process_time()
    found = read_submission_folder(inside)
    assert time.process_time() - started < 5  # 4,000 parts took 40 seconds
    assert [(one.file, one.is_missing) for one in found.attempts] == [(None, True)]
    assert len(found.problems) == 1
    assert len(found.problems[0].encode()) < 300


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1]", "an object is expected"),
        ('{"competition_id": "a"', "it is not JSON"),
        ('{"submission_path": "x"}', "competition_id"),
        ('{"competition_id": "a", "submission_path": 3}', "neither a path nor null"),
        ('{"competition_id": "a", "competition_id": "b"}', "twice"),
        ('{"competition_id": "a", "submission_path": null, "x": NaN}', "NaN"),
        ("version https://git-lfs.github.com/spec/v1", "Git LFS"),
    ],
)
def test_other_files_are_refused_with_the_line(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "submission.jsonl").write_text("\n" + text + "\n")
    with pytest.raises(Invalid, match="at line 2") as refused:
        read_submission_folder(tmp_path)
    assert why in refused.value.detail


def test_a_list_of_very_many_lines_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission_folder, "MOST_LINES", 3)
    write_list(tmp_path, [line("a", None)] * 3)
    assert len(read_submission_folder(tmp_path).attempts) == 3
    write_list(tmp_path, [line("a", None)] * 4)
    with pytest.raises(Invalid, match=r"submission\.jsonl: it has more than 3 lines"):
        read_submission_folder(tmp_path)


def test_a_folder_without_a_list_says_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"There is no submission\.jsonl"):
        read_submission_folder(tmp_path)
