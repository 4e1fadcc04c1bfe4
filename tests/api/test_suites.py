"""Suites over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.forkserver import run_podium


@pytest.fixture
def suite(podium: Podium, tiny: Path) -> dict[str, object]:
    """The suite `mine`: an imported competition, and one that is only declared."""
    file = Path(podium.server.environment["PODIUM_COMPETITIONS_DIR"]) / "suites.toml"
    file.write_text(
        f'[suites.mine]\ntitle = "Mine"\ncompetitions = ["{tiny.name}", "a-declared-one"]\n'
    )
    return {
        "name": "mine",
        "competitions": [
            {"slug": "a-declared-one", "status": "not_imported"},
            {"slug": tiny.name, "status": "ready"},
        ],
    }


def test_a_suite_lists_its_competitions_and_whether_they_can_be_graded(
    podium: Podium, suite: dict[str, object]
) -> None:
    assert podium.admin.get("/v1/suites/mine").json() == suite
    assert podium.admin.get("/v1/suites").json() == {"items": [suite], "next_cursor": None}


def test_suites_come_in_pages_as_other_lists_do(podium: Podium, suite: dict[str, object]) -> None:
    file = Path(podium.server.environment["PODIUM_COMPETITIONS_DIR"]) / "suites.toml"
    with file.open("a") as stream:
        stream.write('[suites.other]\ntitle = "Other"\ncompetitions = ["a-declared-one"]\n')

    first = podium.admin.get("/v1/suites", params={"limit": 1}).json()
    rest = podium.admin.get("/v1/suites", params={"limit": 1, "cursor": first["next_cursor"]})

    assert first["items"] == [suite]
    assert [one["name"] for one in rest.json()["items"]] == ["other"]
    assert rest.json()["next_cursor"] is None
    assert len(podium.admin.get("/v1/suites").json()["items"]) == 2


def test_an_unknown_suite_is_404_and_names_those_that_are_there(
    podium: Podium, suite: dict[str, object]
) -> None:
    response = podium.admin.get("/v1/suites/min")

    assert response.status_code == 404
    assert "Suites here: mine." in response.json()["detail"]


def test_a_file_of_suites_that_is_no_text_is_told_with_its_name(
    podium: Podium, suite: dict[str, object]
) -> None:
    folders = podium.server.environment["PODIUM_COMPETITIONS_DIR"]
    file = Path(folders) / "suites.toml"
    right = file.read_bytes()
    file.write_bytes(right.replace(b"Mine", b"Caf\xe9"))
    try:
        for address in ("/v1/suites", "/v1/competitions", "/v1/suites/mine"):
            refused = podium.admin.get(address)
            assert refused.status_code == 422
            assert refused.json()["problems"] == [
                {"file": "suites.toml", "key": "", "message": "is not UTF-8 (byte 26)"}
            ]
        for words in (["competitions", "list"], ["readiness", "mine"]):
            done = run_podium(
                words,
                env=podium.server.environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode in (0, 1)
            assert "Traceback" not in done.stderr
    finally:
        file.write_bytes(right)
    assert podium.admin.get("/v1/suites/mine").json() == suite
