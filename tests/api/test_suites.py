"""Suites over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.conftest import Podium


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


def test_an_unknown_suite_is_404_and_names_those_that_are_there(
    podium: Podium, suite: dict[str, object]
) -> None:
    response = podium.admin.get("/v1/suites/min")

    assert response.status_code == 404
    assert "Suites here: mine." in response.json()["detail"]
