"""The page about the source and the checks of each competition is that of the folders."""

from __future__ import annotations

from tests.catalogue.catalogue_page import PAGE, ROOT, board, page


def test_the_page_is_written_from_the_folders() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "write it anew: python -m tests.catalogue.catalogue_page"
    )


def test_a_medal_line_of_0_is_a_line() -> None:
    folder = ROOT / "competitions" / "leaf-classification"

    assert board(folder, {"leaderboard": {"gold": 0.0, "silver": 0.00791}}) == "snapshot"
    assert board(folder, {"leaderboard": {"silver": 0.00791}}) == "none"
