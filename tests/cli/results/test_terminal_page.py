"""Tables of results in a terminal: each word is there, however narrow the terminal is."""

from __future__ import annotations

import io
import os
import pty

import pytest
from rich.console import Console

from app.cli.results.terminal_page import TerminalPage
from tests.forkserver import run_podium

HEADER = ["competition", "any_medal (%)", "these competitions, run again: 95 %", "hours"]
FIRST = ["tabular-playground-series-dec-2021", "33.33 ± 33.33", "3.25 to 88.16", ""]
SECOND = ["tabular-playground-series-may-2022", "0.00", "not known", "1.5"]


def markdown(*rows: list[str]) -> str:
    lines = [HEADER, ["---"] * len(HEADER), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def printed(text: str, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(TerminalPage(text), crop=False)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines() if line.strip()]


@pytest.mark.parametrize("width", [20, 40, 60, 79, 80, 81, 100, 120, 160, 300])
def test_no_word_is_cut(width: int) -> None:
    words = " ".join(printed(markdown(FIRST, SECOND), width)).split()

    for row in (HEADER, FIRST, SECOND):
        for cell in row:
            assert set(cell.split()) <= set(words)


def test_a_table_that_fits_has_a_line_for_each_row() -> None:
    lines = printed(markdown(FIRST, SECOND), 120)

    assert [line.split("  ")[0].strip() for line in lines[2:]] == [FIRST[0], SECOND[0]]
    assert len(lines) == 4


def test_the_lines_of_cells_break_between_words() -> None:
    lines = printed(markdown(FIRST, SECOND), 90)

    assert [line.split("  ")[0].strip() for line in lines[-2:]] == [FIRST[0], SECOND[0]]
    assert max(map(len, lines)) <= 90
    assert FIRST[1] in lines[-2]  # short cells stay on a line


def test_the_columns_of_a_table_that_does_not_fit_become_its_lines() -> None:
    lines = printed(markdown(FIRST), 60)

    assert lines[0].split() == [HEADER[0], FIRST[0]]
    assert "33.33 ± 33.33" in " ".join(lines)
    assert max(map(len, lines)) <= 60


def test_a_table_that_does_not_fit_either_way_is_wider_than_the_terminal() -> None:
    lines = printed(markdown(FIRST, SECOND), 60)

    assert lines[0].split("  ")[0].strip() == HEADER[0]
    assert len(lines) == 4
    assert max(map(len, lines)) > 60


def test_a_column_without_texts_is_no_error() -> None:
    assert printed("| a | |\n|---|---|\n| 1 | |\n", 80)[0].strip() == "a"


def test_a_command_prints_its_tables_so() -> None:
    ours, theirs = pty.openpty()
    words = ["plan", "--between", "20", "--within", "30", "--competitions", "75", "--seeds", "3"]
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "44"}
    try:
        run_podium(words, env=environment, stdout=theirs, check=True, timeout=120)
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(theirs)
        os.close(ours)

    assert {"competitions", "detectable:", "7.95", "60.00"} <= set(shown.split())
    assert "…" not in shown
