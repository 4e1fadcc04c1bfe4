"""Numbers in which missing results count do not look measured, in any table."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from typing import Any

import pytest

from tests.api.conftest import Podium
from tests.api.test_results import add_run, close, podium  # noqa: F401
from tests.factories import good_submission
from tests.grading_reports import random_report, suites
from tests.server import PodiumServer

MARK = re.compile(r"\d \[a\]|\) \[a\]")
PATHS = (
    "/v1/compare?experiments={0},{1}", "/v1/compare?a={0}&b={1}",
    "/v1/experiments/{0}/pass-at-k?", "/v1/experiments/{0}/sensitivity?",
    "/v1/experiments/{0}/medals-over-time?", "/v1/experiments/{0}/scores?",
    "/v1/experiments/{0}/medal-rates?", "/v1/suites/mle-bench-dev/items?",
    "/v1/experiments/{1}/scores?against={0}", "/v1/plan?experiments={0},{1}&seeds=2",
)  # fmt: skip
# All numbers of the tables of these answers rest on results, but for those in the columns below.
WHOLE = (
    "/v1/experiments/{0}/sensitivity?", "/v1/experiments/{0}/medals-over-time?at=1000",
    "/v1/experiments/{0}/medal-rates?", "/v1/experiments/{0}/scores?against={1}",
    "/v1/experiments/{0}/selection?", "/v1/compare?experiments={0},{1}",
    "/v1/compare?a={0}&b={1}", "/v1/plan?experiments={0},{1}&seeds=2",
)  # fmt: skip
COUNTS = {
    "a", "b", "ahead", "experiment", "Experiment", "Agent", "letters", "Seeds", "competitions",
    "seeds", "group", "hours", "percentile above", "ranks", "Running Time (hours)",
}  # fmt: skip


@pytest.fixture(scope="module")
def once() -> dict[tuple[str, PodiumServer], Any]:
    """The data that the fixtures below made on a server. No test changes them."""
    return {}


@pytest.fixture
def names(podium: Podium, once: dict[tuple[str, PodiumServer], Any]) -> list[str]:  # noqa: F811
    """Two experiments, of which the first has no result at one competition."""
    key = ("names", podium.server)
    if key not in once:
        once[key] = make_names(podium)
    made: list[str] = once[key]
    return made


def make_names(podium: Podium) -> list[str]:  # noqa: F811
    slugs = suites()["mle-bench-dev"]
    made = []
    for number, wanted in enumerate([slugs[1:], slugs]):
        name = podium.experiment()
        for seed in range(2):
            report = random_report(wanted, random.Random(10 * number + seed))
            podium.admin.post(f"/v1/experiments/{name}/grading-reports?seed={seed}", json=report)
        made.append(name)
    return made


@pytest.mark.parametrize("path", PATHS)
def test_a_padded_number_has_a_footnote(podium: Podium, names: list[str], path: str) -> None:  # noqa: F811
    query = "" if "suites/" in path else "&suite=mle-bench-dev"
    found = podium.admin.get(
        path.format(*names) + f"{query}&padding=fail", headers={"Accept": "text/markdown"}
    )
    assert found.status_code == 200, found.text
    table, _, notes = found.text.partition("\n- ")
    assert MARK.search(table), found.text
    assert "missing results count as failures (padding=fail)" in notes


@pytest.mark.parametrize("kind", ["pass-at-k", "sensitivity", "medal-rates"])
def test_a_measured_number_has_none(podium: Podium, names: list[str], kind: str) -> None:  # noqa: F811
    found = podium.admin.get(
        f"/v1/experiments/{names[1]}/{kind}?suite=mle-bench-dev&padding=fail",
        headers={"Accept": "text/markdown"},
    )
    assert found.status_code == 200
    assert "missing results" not in found.text


@pytest.fixture
def measured(
    podium: Podium, once: dict[tuple[str, PodiumServer], Any]  # noqa: F811
) -> tuple[list[str], list[str]]:  # fmt: skip
    """Two experiments with runs at three competitions, and the slugs.

    A run of the first experiment at the first competition has no result.
    """
    key = ("measured", podium.server)
    if key not in once:
        once[key] = make_measured(podium)
    made: tuple[list[str], list[str]] = once[key]
    return made


def make_measured(podium: Podium) -> tuple[list[str], list[str]]:  # noqa: F811
    folders = [podium.competition() for _ in range(3)]
    made = [podium.experiment(), podium.experiment()]
    for name in made:
        for folder in folders:
            for seed in range(3):
                run = add_run(podium, name, folder.name, seed, feedback="full")
                if (name, folder, seed) == (made[0], folders[0], 0):
                    continue
                run.submit(good_submission(folder, shift=0.1 * seed))
                run.submit(good_submission(folder))
                close(podium, run)
    return made, [folder.name for folder in folders]


def unmarked(text: str, complete: set[str]) -> list[tuple[str, str, str]]:
    """The numbers without a footnote: row, heading and cell of each.

    `complete` names what has all results: its rows and columns need no footnotes.
    """
    found = []
    heading: list[str] = []
    lines = [line for line in text.splitlines() if line.startswith("|")]
    for line, next_line in pairwise([*lines, ""]):
        cells = [cell.strip() for cell in line.removesuffix("|").removeprefix("|").split(" | ")]
        if next_line.startswith("| ---"):
            heading = cells
        if next_line.startswith("| ---") or line.startswith("| ---"):
            continue
        if cells[0] in complete:
            continue
        found += [
            (cells[0], above, cell)
            for above, cell in zip(heading[1:], cells[1:], strict=True)
            if re.search(r"\d", cell) and not re.search(r" \[[a-z,]+\]$", cell)
            and above not in COUNTS and above.removesuffix(" (%)") not in complete
        ]  # fmt: skip
    return found


@pytest.mark.parametrize("path", WHOLE)
@pytest.mark.parametrize("padding", ["fail", "available"])
def test_every_number_with_missing_results_has_a_footnote(
    podium: Podium, measured: tuple[list[str], list[str]], path: str, padding: str  # noqa: F811
) -> None:  # fmt: skip
    names, slugs = measured
    found = podium.admin.get(
        f"{path.format(*names)}&padding={padding}", headers={"Accept": "text/markdown"}
    )
    assert found.status_code == 200, found.text
    assert " [a] |" in found.text
    refused = "padding=none"  # its row has the reason in place of numbers
    assert not unmarked(found.text, {names[1], f"without {slugs[0]}", refused})
    if "sensitivity" in path:
        (row,) = [line for line in found.text.splitlines() if f"| without {slugs[0]} |" in line]
        # Nothing is missing there, but the change is from a rate with missing results.
        _, _, mean, change, *intervals = row.strip("| ").split(" | ")
        assert "[a]" in change
        assert "[a]" not in " ".join((mean, *intervals))
