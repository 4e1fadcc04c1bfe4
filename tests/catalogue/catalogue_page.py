"""Write docs/catalogue.md anew: `python -m tests.catalogue.catalogue_page`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "catalogue.md"
TABLE = "| competition | metric |"


def page() -> str:
    """The page: its words, and a table of the folders."""
    words = PAGE.read_text(encoding="utf-8").partition(TABLE)[0]
    rows = [row(file.parent) for file in sorted(ROOT.glob("competitions/*/competition.toml"))]
    lines = [f"| {' | '.join(each)} |" for each in rows]
    table = [f"{TABLE} reference | data | board |", "|---|---|---|---|---|", *lines]
    return words + "\n".join([*table, ""])


def row(folder: Path) -> tuple[str, str, str, str, str]:
    """The cells of one competition."""
    declared = tomllib.loads((folder / "competition.toml").read_text(encoding="utf-8"))
    metric = "metric.py" if (folder / "metric.py").is_file() else f"`{declared['metric']['name']}`"
    tags = declared.get("tags", [])
    return folder.name, metric, reference(folder.name, tags), data(folder), board(folder, declared)


def reference(slug: str, tags: list[str]) -> str:
    if (HERE / "vectors" / f"{slug}.zip").is_file():
        return "MLE-bench"
    if (HERE / "dojo" / f"{slug}.json").is_file():
        return "MLE-Dojo"
    return "by rows" if "mlagentbench" in tags else "scikit-learn"


def data(folder: Path) -> str:
    if (folder / "private").is_dir():
        return "shipped"
    return "from raw files" if (folder / "prepare.py").is_file() else "prepared elsewhere"


def board(folder: Path, declared: dict[str, Any]) -> str:
    if (folder / "leaderboard.csv").is_file():
        return "complete"
    stated = declared.get("leaderboard", {})
    if stated.get("gold") is None:  # a line may be 0
        return "baseline" if "baseline" in declared else "none"
    return "MLE-Dojo's export" if "mle-dojo" in declared.get("tags", []) else "snapshot"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
