"""The choice of a run group's report among its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.services.imports.run_groups import report_sources

REPORT = b'[{"competition_id": "leaf-classification", "score": null}]'


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["grading_report_group_1.json"], "grading_report_group_1.json"),
        (["grading_report_9.json", "grading_report_10.json"], "grading_report_10.json"),
        (["a_grading_report.json", "a_grading_report_24.json"], "a_grading_report.json"),
        (["2025-01_grading_report.json", "2025-02_grading_report.json"],
         "2025-02_grading_report.json"),
        (["\N{SUPERSCRIPT TWO}9_grading_report.json", "x_grading_report.json"],
         "\N{SUPERSCRIPT TWO}9_grading_report.json"),
    ],
)  # fmt: skip
def test_one_report_of_a_group_counts(tmp_path: Path, names: list[str], chosen: str) -> None:
    group = tmp_path / "group"
    (group / "hourly").mkdir(parents=True)
    (group / "hourly" / "zz_grading_report_99.json").write_bytes(b"{}")
    for name in names:
        (group / name).write_bytes(REPORT if name == chosen else b"{}")
    sources, problems = report_sources(tmp_path, ["group"])
    assert [source.data for source in sources] == [REPORT]
    assert len(problems) == len(names) - 1
    assert all(f"is skipped for {chosen}" in problem for problem in problems)


def test_a_group_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    for group, data in (("a", pointer), ("b", REPORT), ("c", b"{")):
        (tmp_path / group).mkdir()
        (tmp_path / group / "grading_report.json").write_bytes(data)
    sources, problems = report_sources(tmp_path, ["a", "b", "c"])
    assert [source.group for source in sources] == ["b"]
    assert [problem.split(":")[0] for problem in problems] == ["a", "c"]
    assert "Git LFS pointer" in problems[0]


@pytest.mark.parametrize("name", ["a\x00b", "a" * 300, "../a", ".", "a/b", "circle"])
def test_what_is_not_the_name_of_a_directory_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "circle").symlink_to("circle")
    sources, problems = report_sources(tmp_path, [name])
    assert (sources, len(problems)) == ([], 1)
