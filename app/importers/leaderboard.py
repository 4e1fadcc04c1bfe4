"""The human board of a competition folder: linted, and compared with competition.toml."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.domain.competition import TOML, Competition
from app.domain.leaderboard import Leaderboard, MedalLines
from app.domain.lint import LintFinding, lint_leaderboard, lint_lines
from app.domain.read_leaderboard import FILE, SCORE, leaderboard_of, read_score_texts
from app.errors import BadCompetition
from app.importers.names import problem

STATED = ("gold", "silver", "bronze", "median")


def checked_leaderboard(
    competition: Competition, csv_text: str | None
) -> tuple[Leaderboard | None, list[LintFinding]]:
    """The competition's board, complete if it has a `leaderboard.csv`, and the lint's warnings.

    Raises:
        BadCompetition: the file cannot be read, the lint finds errors, or competition.toml
            contradicts the file.
    """
    declared = competition.leaderboard
    higher = competition.metric.higher_is_better
    if declared is None:
        if csv_text is not None:
            message = f"is required: where is {FILE} from?"
            raise BadCompetition([problem(TOML, "leaderboard.source", message)])
        return None, []
    lines = MedalLines(declared.gold, declared.silver, declared.bronze, declared.median)
    if csv_text is None:
        findings = lint_lines(
            lines, teams=declared.teams, higher_is_better=higher, rule=declared.rule
        )
        _raise_lint_errors(TOML, "leaderboard", findings)
        board = leaderboard_of(competition, None)
        assert board is not None  # noqa: S101 (it is declared)
        known = [line for line in (lines.gold, lines.silver, lines.bronze) if line is not None]
        _raise_too_few_decimals(board, [*map(repr, known)], "a medal line is")
        return board, findings
    texts = read_score_texts(csv_text)
    scores = [float(text) for text in texts]
    findings = lint_leaderboard(scores, higher_is_better=higher, rule=declared.rule)
    _raise_lint_errors(FILE, SCORE, findings)
    board = leaderboard_of(competition, csv_text)
    assert board is not None  # noqa: S101 (there is a file)
    _raise_too_few_decimals(board, texts, f"{FILE} has the score")
    _raise_contradictions(board, declared.teams, lines)
    return board, findings


def _raise_lint_errors(file: str, key: str, findings: list[LintFinding]) -> None:
    errors = [problem(file, key, f.message) for f in findings if f.severity == "error"]
    if errors:
        raise BadCompetition(errors)


def _raise_too_few_decimals(board: Leaderboard, texts: Sequence[str], where: str) -> None:
    """Refuse declared decimals that would change the board's own scores."""
    wrong = next((text for text in texts if board.compared(float(text)) != float(text)), None)
    if wrong is not None:
        message = f"is {board.decimals}, but {where} {wrong!r}; leave it out here"
        raise BadCompetition([problem(TOML, "leaderboard.decimals", message)])


def _raise_contradictions(board: Leaderboard, teams: int | None, lines: MedalLines) -> None:
    found: list[tuple[str, float | None, float | None]] = [("teams", teams, board.teams)]
    found += [(name, getattr(lines, name), getattr(board.lines, name)) for name in STATED]
    problems = [
        problem(
            TOML,
            f"leaderboard.{name}",
            f"says {stated!r}, but {FILE} gives {counted!r}; leave it out here",
        )
        for name, stated, counted in found
        # A median between two rows may be rounded to other decimals than the mean of the rows.
        if stated is not None
        and (counted is None or not math.isclose(stated, counted, rel_tol=1e-12))
    ]
    if problems:
        raise BadCompetition(problems)
