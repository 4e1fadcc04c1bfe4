"""The pages name what the code has: no setting, command or link is left behind."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo

from app.settings import Settings

ROOT = Path(__file__).parents[1]
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES = [*TOP, *sorted((ROOT / "docs").rglob("*.md"))]
SECURITY = (ROOT / "docs" / "security.md").read_text()
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()


@pytest.mark.parametrize(("name", "field"), Settings.model_fields.items())
def test_every_setting_is_told(name: str, field: FieldInfo) -> None:
    variable = field.validation_alias or f"PODIUM_{name.upper()}"
    assert f"`{variable}`" in OPERATIONS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!\w+:)([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_the_tests_that_the_security_page_names_exist() -> None:
    sources = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}

    for name in re.findall(r"`(test_\w+)`", SECURITY):
        assert any(f"def {name}(" in text for text in sources.values()), name
    for path in re.findall(r"`(tests/\S+?)`", SECURITY):
        assert ROOT / path in sources, path


def test_the_map_of_the_readme_has_every_room() -> None:
    readme = (ROOT / "README.md").read_text()
    rooms = re.findall(r"^ *([a-z_]+)/(?: |$)", readme, re.MULTILINE)

    for package in ("app", "app/services", "app/storage"):
        for room in (ROOT / package).iterdir():
            if (room / "__init__.py").exists():
                assert room.name in rooms, f"{package}/{room.name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_use_one_set_of_variables(page: Path) -> None:
    used = set(re.findall(r"\$\{?(PODIUM|KEY|RUN|RUN_KEY)\b", page.read_text()))

    assert not used, f"write PODIUM_URL, PODIUM_KEY, PODIUM_RUN instead of {sorted(used)}"


def test_every_decision_is_in_the_index_with_its_title() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()

    for page in sorted(folder.glob("0*.md")):
        number, title = re.fullmatch(r"# (\d+)\. (.+)", page.read_text().splitlines()[0]).groups()  # type: ignore[union-attr]
        assert f"| [{number}]({page.name}) | {title} |" in index


def test_every_layer_of_the_import_contracts_is_in_contributing() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    page = (ROOT / "CONTRIBUTING.md").read_text()
    layers = re.findall(r"\w+", " ".join(contracts["contracts"][0]["layers"]))

    for layer in layers:
        exists = (ROOT / "app" / layer).is_dir() or (ROOT / "app" / f"{layer}.py").is_file()
        assert not exists or f"`{layer}`" in page


def test_the_readme_shows_what_the_demo_prints() -> None:
    readme = (ROOT / "README.md").read_text()

    for line in ("0.36367", "of 3,242 teams", "Medal: gold", "Flag easier_than_kaggle"):
        assert line in readme


def test_every_target_of_the_makefile_says_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))

    assert targets == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
