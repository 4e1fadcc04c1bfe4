"""The problems found in a file: each once, with its count and first row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.domain.verdict import Notice, Violation, ViolationCode

EXAMPLES = 5
EXAMPLE_LENGTH = 60  # characters; a cell may have megabytes


@dataclass(frozen=True, slots=True)
class ViolationKind:
    """A kind of problem of single values or rows: its code, and its message for one and for many.

    A message never has a value from the file, because the same messages describe answers.
    """

    code: ViolationCode
    one: str
    many: str
    advice: str = ""


@dataclass(slots=True)
class _Tally:
    kind: ViolationKind
    column: str | None
    count: int = 0
    row: int | None = None
    advice: str = ""
    examples: list[str] = field(default_factory=list)

    def violation(self) -> Violation:
        where = "" if self.column is None else f" in column {self.column!r}"
        if self.count == 1:
            message = f"1 {self.kind.one}{where}"
            message += "" if self.row is None else f", in row {self.row}"
        else:
            message = f"{self.count} {self.kind.many}{where}"
            message += "" if self.row is None else f", first in row {self.row}"
        advice = self.advice or self.kind.advice
        return Violation(
            code=self.kind.code,
            message=f"{message}: {advice}" if advice else message,
            column=self.column,
            row=self.row,
            examples=tuple(self.examples),
        )


class FoundViolations:
    """The problems of one file. Counted problems make one violation for each code and column."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[ViolationCode, str | None], _Tally] = {}
        self._found: list[_Tally | Violation] = []
        self.notices: list[Notice] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All violations, in the order in which they were found first."""
        return tuple(f if isinstance(f, Violation) else f.violation() for f in self._found)

    def add(
        self,
        code: ViolationCode,
        message: str,
        column: str | None = None,
        row: int | None = None,
        examples: Iterable[str] = (),
    ) -> None:
        """Record a problem that has a message of its own."""
        cut = tuple(shorten(text) for text in list(examples)[:EXAMPLES])
        self._found.append(Violation(code, message, column, row, cut))

    def count(
        self,
        kind: ViolationKind,
        column: str | None,
        row: int | None,
        example: str = "",
        advice: str = "",
    ) -> None:
        """Count one more case of a kind. The violation has the advice of the first case."""
        self.count_all(kind, column, row, (example,), advice)

    def count_all(
        self,
        kind: ViolationKind,
        column: str | None,
        row: int | None,
        examples: Sequence[str],
        advice: str = "",
    ) -> None:
        """Count a case for each of the examples, all of them in one row."""
        key = (kind.code, column)
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = _Tally(kind, column, row=row, advice=advice)
            self._found.append(tally)
        tally.count += len(examples)
        for example in examples:
            if len(tally.examples) >= EXAMPLES:
                break
            if not example or example in tally.examples:
                continue
            if (short := shorten(example)) not in tally.examples:
                tally.examples.append(short)


def shorten(text: str) -> str:
    """At most `EXAMPLE_LENGTH` characters of a text.

    >>> shorten("x" * 70)[-5:], len(shorten("x" * 70))
    ('xx...', 60)
    """
    return text if len(text) <= EXAMPLE_LENGTH else text[: EXAMPLE_LENGTH - 3] + "..."
