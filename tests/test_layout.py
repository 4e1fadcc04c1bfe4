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


def test_the_page_about_the_architecture_has_the_present_figures():
    counts = module_counts(ROOT / "app")
    page = PAGE.read_text(encoding="utf-8")
    stated = {
        name: int(re.findall(rf"^\| {re.escape(name)} \|.*\| (\d+) \|$", page, re.MULTILINE)[0])
        for name in FIGURES
    }

    found = (len(counts), sum(counts.values()), max(counts.values()))
    assert stated == dict(zip(FIGURES, found, strict=True))


def test_circles_are_found_through_others():
    assert circles({("a", "b"), ("b", "c"), ("c", "d")}) == []
    assert circles({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d")}) == [
        "a, b, c",
        "d, e",
    ]
