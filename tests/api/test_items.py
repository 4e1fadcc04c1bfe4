"""A suite's item table says which results are missing, and where they count."""

from __future__ import annotations

import csv
import io
from collections import Counter

import pytest

from tests.api.conftest import Podium
from tests.api.test_boards import MARKDOWN
from tests.api.test_results import podium  # noqa: F401
from tests.grading_reports import suites

SLUGS = suites()["mle-bench-dev"]


def reported(podium: Podium, seeds: list[list[str]]) -> str:  # noqa: F811
    """An experiment with a result without a score at each of these competitions, by seed."""
    name = podium.experiment()
    for seed, slugs in enumerate(seeds):
        document = {"results": [{"competition_id": slug, "score": None} for slug in slugs]}
        path = f"/v1/experiments/{name}/grading-reports?seed={seed}"
        assert podium.admin.post(path, json=document).status_code == 201
    return name


@pytest.fixture
def address(podium: Podium) -> tuple[str, str, str]:  # noqa: F811
    """The items over an experiment with unequal seeds and one with a hole, and their names."""
    unequal = reported(podium, [SLUGS, SLUGS[:1]])
    holey = reported(podium, [SLUGS[1:], SLUGS])
    path = f"/v1/suites/mle-bench-dev/items?experiments={unequal},{holey}"
    return path, unequal, holey


def test_items_list_what_is_missing_by_experiment(
    podium: Podium, address: tuple[str, str, str]  # noqa: F811
) -> None:  # fmt: skip
    path, unequal, holey = address
    found = podium.admin.get(path).json()
    assert found["padding"] == "fail"
    gone = {(one["experiment"], one["competition"], one["seed"]) for one in found["missing"]}
    assert gone == {(holey, SLUGS[0], 0), *((unequal, slug, 1) for slug in SLUGS[1:])}
    assert {one["reason"] for one in found["missing"]} == {"no run"}
    assert {one["missing"] for one in found["items"]} == {1}
    assert {one["attempts"] for one in found["items"]} == {4}
    left = podium.admin.get(f"{path}&padding=available").json()
    assert left["missing"] == found["missing"]
    assert {one["attempts"] for one in left["items"]} == {3}
    rows = podium.admin.get(path, headers={"Accept": "text/csv"}).text
    assert Counter(row["missing"] for row in csv.DictReader(io.StringIO(rows))) == {"1": len(SLUGS)}


@pytest.mark.parametrize(
    ("padding", "effect"), [("fail", "count as failures"), ("available", "are left out")]
)
def test_documents_of_items_say_what_is_missing(
    podium: Podium, address: tuple[str, str, str], padding: str, effect: str  # noqa: F811
) -> None:  # fmt: skip
    path, unequal, holey = address
    text = podium.admin.get(f"{path}&padding={padding}", headers=MARKDOWN).text
    for slug in SLUGS:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {slug} |")]
        assert row.split(" | ")[2] == "0.00 [a]"
    assert f"- [a] 1 missing: such results {effect}" in text
    for name, count in ((unequal, len(SLUGS) - 1), (holey, 1)):
        (ability,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
        assert ability.endswith("] |")
        (note,) = [line for line in text.splitlines() if line.startswith(f"- {name}: ")]
        assert f"{count} missing{': such' if count == 1 else ''} results {effect}" in note


def test_items_without_missing_results_have_no_marks(podium: Podium) -> None:  # noqa: F811
    name = reported(podium, [SLUGS])
    path = f"/v1/suites/mle-bench-dev/items?experiments={name}"
    assert podium.admin.get(path).json()["missing"] == []
    text = podium.admin.get(path, headers=MARKDOWN).text
    assert "missing" not in text
    assert "[a]" not in text


def test_the_page_of_items_says_what_is_missing(podium: Podium) -> None:  # noqa: F811
    reported(podium, [SLUGS, SLUGS[:1]])
    page = podium.admin.get("/suites/mle-bench-dev/items").text
    assert "missing: such results count as failures (padding=fail)." in page
