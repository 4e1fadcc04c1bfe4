"""The page about the source and the checks of each competition is that of the folders."""

from __future__ import annotations

from tests.catalogue.catalogue_page import PAGE, page


def test_the_page_is_written_from_the_folders() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "write it anew: python -m tests.catalogue.catalogue_page"
    )
