"""The help of a command fits the terminal."""

from __future__ import annotations

import os
from itertools import pairwise

import pytest

from tests.forkserver import run_podium

COMMANDS = [["backup"], ["new"], ["regrade"], ["import", "submissions"], ["experiments", "create"]]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("columns", [50, 80, 120])
def test_a_line_ends_where_the_next_word_does_not_fit(words: list[str], columns: int) -> None:
    done = run_podium(
        [*words, "--help"], env={**os.environ, "COLUMNS": str(columns)},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    text, _, _ = done.stdout.partition("╭")
    paragraphs = "\n".join(line.strip() for line in text.splitlines()).strip().split("\n\n")
    broken = [
        line
        for paragraph in paragraphs[1:]  # after the usage
        for line, following in pairwise(paragraph.splitlines())
        if len(f" {line} {following.split()[0]} ") <= columns
    ]

    assert len(paragraphs) > 2
    assert broken == []
