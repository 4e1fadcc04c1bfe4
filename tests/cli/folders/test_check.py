"""`podium check`: what is wrong with a folder or a suite."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.conftest import Command


def test_check_passes_over_good_folders_and_names_what_is_wrong(
    podium: Command, tiny: Path
) -> None:
    good = podium("check")
    shutil.copytree(tiny, tiny.parent / "other")
    (tiny.parent / "other" / "private" / "answers.csv").write_text("id,target\nr1,x\n")
    bad = podium("check")

    assert good.returncode == 0
    assert "tiny: ok, 20 rows" in good.stdout
    assert bad.returncode == 1
    assert "other: private/answers.csv" in bad.stderr


def test_check_refuses_a_suite_of_unknown_competitions(podium: Command, tiny: Path) -> None:
    suites = '[suites.mine]\ntitle = "Mine"\ncompetitions = ["tiny", "nowhere"]\n'
    (tiny.parent / "suites.toml").write_text(suites)

    done = podium("check")

    assert done.returncode == 1
    assert "'nowhere'" in done.stderr
