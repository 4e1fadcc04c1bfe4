"""The pages name what the code has: no setting, command or link is left behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo

from app.settings import Settings

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()


@pytest.mark.parametrize(("name", "field"), Settings.model_fields.items())
def test_every_setting_is_told(name: str, field: FieldInfo) -> None:
    variable = field.validation_alias or f"PODIUM_{name.upper()}"
    assert f"`{variable}`" in OPERATIONS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!\w+:)([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_the_readme_shows_what_the_demo_prints() -> None:
    readme = (ROOT / "README.md").read_text()

    for line in ("0.36367", "of 3,242 teams", "Medal: gold", "Flag easier_than_kaggle"):
        assert line in readme


def test_every_target_of_the_makefile_says_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))

    assert targets == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
