"""The verdict on a submission's form: violations and warnings, and the error with both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

LISTED_VIOLATIONS = 20


class ViolationCode(StrEnum):
    """The problems that a submission file can have."""

    NOT_CSV = "not_csv"
    EMPTY_FILE = "empty_file"
    ENCODING = "encoding"
    TOO_LARGE = "too_large"
    MISSING_COLUMN = "missing_column"
    DUPLICATE_COLUMN = "duplicate_column"
    ROW_COUNT = "row_count"
    MISSING_ID = "missing_id"
    UNKNOWN_ID = "unknown_id"
    DUPLICATE_ID = "duplicate_id"
    MISSING_VALUE = "missing_value"
    NOT_A_NUMBER = "not_a_number"
    NOT_FINITE = "not_finite"
    OUT_OF_RANGE = "out_of_range"
    UNKNOWN_LABEL = "unknown_label"
    PROBABILITIES_DO_NOT_SUM_TO_ONE = "probabilities_do_not_sum_to_one"
    BAD_FORMAT = "bad_format"


class WarningCode(StrEnum):
    """Warnings: the file is accepted."""

    UNKNOWN_COLUMN = "unknown_column"
    BLANK_LINES = "blank_lines"


@dataclass(frozen=True, slots=True)
class Violation:
    """A problem of a submission.

    `row` counts data rows from 1 (the header is row 0); `examples` are at most five texts taken
    from the submission itself or from the public ids, never from the answers.
    """

    code: ViolationCode
    message: str
    column: str | None = None
    row: int | None = None
    examples: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The violation as JSON has it; absent parts are left out."""
        document: dict[str, Any] = {"code": self.code.value, "message": self.message}
        if self.column is not None:
            document["column"] = self.column
        if self.row is not None:
            document["row"] = self.row
        if self.examples:
            document["examples"] = list(self.examples)
        return document


@dataclass(frozen=True, slots=True)
class Notice:
    """One harmless oddity of an accepted file."""

    code: WarningCode
    message: str

    def as_dict(self) -> dict[str, str]:
        """The warning as JSON has it."""
        return {"code": self.code.value, "message": self.message}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of checking a file's form."""

    violations: tuple[Violation, ...] = ()
    warnings: tuple[Notice, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether the file may be scored."""
        return not self.violations


class Rejection(Exception):
    """The file is not a valid submission; `verdict` lists every problem."""

    def __init__(self, violations: Sequence[Violation], warnings: Sequence[Notice] = ()) -> None:
        super().__init__("; ".join(v.message for v in violations[:3]))
        self.verdict = Verdict(tuple(violations), tuple(warnings))


def problem_document(verdict: Verdict) -> dict[str, Any]:
    """The problem document (RFC 9457) of a rejected submission."""
    count = len(verdict.violations)
    things = "1 problem" if count == 1 else f"{count} problems"
    return {
        "type": "/problems/invalid-submission",
        "title": "The file is not a valid submission",
        "status": 422,
        "detail": f"{things} found: "
        + "; ".join(v.message for v in verdict.violations[:3])
        + ("; ..." if count > 3 else ""),
        "violations": [v.as_dict() for v in verdict.violations[:LISTED_VIOLATIONS]],
        "violation_count": count,
    }
