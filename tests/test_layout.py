"""How the package is laid out."""

import re
from pathlib import Path

from benchmarks.layout import circles, module_counts

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
FIGURES = (
    "folders, `app/` itself too",
    "modules, without `__init__`",
    "modules in the largest folder",
)


def test_no_folder_has_more_than_20_modules():
    counts = module_counts(ROOT / "app")

    assert sum(counts.values()) > 300
    assert {name: count for name, count in counts.items() if count > 20} == {}


def test_no_module_has_more_than_250_lines():
    lines = {one: len(one.read_text().splitlines()) for one in (ROOT / "app").rglob("*.py")}

    assert len(lines) > 600
    assert {one.name: count for one, count in lines.items() if count > 250} == {}


def test_the_page_about_the_architecture_has_the_present_figures():
    counts = module_counts(ROOT / "app")
    page = PAGE.read_text(encoding="utf-8")
    stated = {
        name: int(re.findall(rf"^\| {re.escape(name)} \|.*\| (\d+) \|$", page, re.MULTILINE)[0])
        for name in FIGURES
    }

    found = (len(counts), sum(counts.values()), max(counts.values()))
    assert stated == dict(zip(FIGURES, found, strict=True))


def test_the_map_of_the_readme_has_each_folder_with_a_module():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = readme.partition("## Where things are")[2].split("```")[1].splitlines()
    places = [re.match(r"( *)([a-z_]+)/ ", f"{line} ") for line in lines]
    path: list[str] = []
    named = set()
    for place in filter(None, places):
        path = [*path[: len(place[1]) // 2], place[2]]
        named.add("/".join(path))

    with_modules = {name for name, count in module_counts(ROOT / "app").items() if count}
    folders = {f"app/{name}" if name != "." else "app" for name in with_modules}
    assert len(folders) > 60
    assert sorted(folders - named) == []
    assert (
        sorted(name for name in named if name.startswith("app/") and not (ROOT / name).is_dir())
        == []
    )


def test_the_table_of_rooms_has_each_folder_with_a_module():
    rooms = PAGE.read_text(encoding="utf-8").partition("## Rooms")[2].partition("\n## ")[0]

    with_modules = {name for name, count in module_counts(ROOT / "app").items() if count}
    assert [name for name in sorted(with_modules - {"."}) if f"`{name}`" not in rooms] == []


def test_circles_are_found_through_others():
    assert circles({("a", "b"), ("b", "c"), ("c", "d")}) == []
    assert circles({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d")}) == [
        "a, b, c",
        "d, e",
    ]
