"""Forms, checkers and competitions of tests, from a few words of TOML."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from app.domain.competition import Competition, parse_competition
from app.domain.verdict import Rejection, Verdict, Violation
from app.grading.check import Checker
from app.grading.checked_file import CheckedFile
from app.grading.ids.public_ids import PublicIds


def competition(
    columns: str = 'x = { kind = "number" }',
    *,
    id_columns: str = '"id"',
    metric: str = "root_mean_squared_error",
    parameters: str = "{}",
) -> Competition:
    return parse_competition(
        "tiny",
        f"""
        title = "Tiny"
        version = 1
        [metric]
        name = "{metric}"
        parameters = {parameters}
        [submission]
        id = {id_columns}
        [submission.columns]
        {columns}
        """,
    )


def public_ids(*columns: Sequence[str]) -> PublicIds:
    return PublicIds.from_columns([pa.array(column, pa.string()) for column in columns])


def checker(
    columns: str = 'x = { kind = "number" }', ids: Sequence[str] = ("a", "b", "c")
) -> Checker:
    return Checker(competition(columns).submission, public_ids(ids))


def csv(*cells: str, name: str = "x", ids: str = "abc") -> bytes:
    """A file of ids and one column, each cell as it is to stand in the file."""
    lines = [f"id,{name}", *(f"{i},{cell}" for i, cell in zip(ids, cells, strict=True))]
    return ("\n".join(lines) + "\n").encode()


def refusal(judge: Checker, data: bytes) -> Verdict:
    """The verdict on a file that is refused; the fast way must not have taken it."""
    assert judge.check_fast(data) is None
    with pytest.raises(Rejection) as caught:
        judge.check(data)
    assert caught.value.verdict.violations
    return caught.value.verdict


def only_violation(judge: Checker, data: bytes) -> Violation:
    (violation,) = refusal(judge, data).violations
    return violation


def codes(judge: Checker, data: bytes) -> list[str]:
    return [violation.code.value for violation in refusal(judge, data).violations]


def accepted(judge: Checker, data: bytes) -> CheckedFile:
    """The result of both ways for a good file, after checking that they agree."""
    exact = judge.check_exactly(data)
    fast = judge.check_fast(data)
    if fast is not None:
        assert fast.decoded.numbers.tobytes("F") == exact.decoded.numbers.tobytes("F")
        assert fast.warnings == exact.warnings
        assert fast.frame().equals(exact.frame())
    return judge.check(data)


def numbers(judge: Checker, data: bytes) -> list[float]:
    return accepted(judge, data).decoded.numbers[:, 0].tolist()
