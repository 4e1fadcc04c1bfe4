"""The competitions' own declarations: the data that is made follows them."""

from __future__ import annotations

from pathlib import Path

from app.domain.competition import Competition, parse_competition

COMPETITIONS = Path(__file__).parents[2] / "competitions"


def declared(slug: str) -> Competition:
    """The competition as its folder declares it."""
    text = (COMPETITIONS / slug / "competition.toml").read_text(encoding="utf-8")
    return parse_competition(slug, text)


def own_metric(slug: str) -> str | None:
    """The text of the folder's metric.py, if it has one."""
    file = COMPETITIONS / slug / "metric.py"
    return file.read_text(encoding="utf-8") if file.is_file() else None


def columns_of(slug: str) -> tuple[str, ...]:
    """The names of the prediction columns."""
    return tuple(declared(slug).submission.columns)
