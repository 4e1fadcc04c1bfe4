"""Folders that an admin imports, by Hypothesis: each is taken or refused in words, soon."""

from __future__ import annotations

import gzip
import io
import string
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.competition import Competition, parse_competition
from app.domain.read_leaderboard import LONGEST_LINE, MOST_ROWS, read_score_texts
from app.errors import BadCompetition
from app.importers.archive import unpack_archive
from tests.attacks.test_imports import MEGABYTE, peak_bytes

MANY = settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)

CELLS = st.one_of(
    st.sampled_from(["score", "Score", "1", "0.5", "1e400", "nan", "1_0", "", '"', '"x', "١", "-"]),
    st.text(max_size=5),
    st.floats().map(str),
)
BOARDS = st.one_of(
    st.text(max_size=200),
    st.lists(st.lists(CELLS, max_size=4).map(",".join), max_size=12).map("\n".join),
    st.lists(st.floats(allow_nan=False).map(str), max_size=12).map(
        lambda scores: "\r\n".join(["score", *scores])
    ),
)


T = TypeVar("T")


def tried(step: Callable[[], T]) -> tuple[T | None, list[dict[str, str]]]:
    """The step's result, or the problems for which it was refused, each with its message."""
    try:
        return step(), []
    except BadCompetition as error:
        problems = error.problems
    assert problems
    assert all(problem["message"] for problem in problems)
    return None, problems


@MANY
@given(BOARDS)
def test_a_board_is_read_as_finite_scores_or_refused(text: str) -> None:
    scores, problems = tried(lambda: read_score_texts(text))
    assert {problem["file"] for problem in problems} <= {"leaderboard.csv"}
    if scores is not None:
        assert scores
        assert all(isfinite(float(score)) for score in scores)
        assert len(scores) <= text.count("\n") + text.count("\r")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("score\n" + "ab," * 20_000_000, f"more than {LONGEST_LINE} characters"),
        ("score," + "x," * 5_000_000 + "\n1", f"more than {LONGEST_LINE} characters"),
        ('score\n"' + "\n" * (3 * MOST_ROWS) + '"', f"more than {MOST_ROWS} rows"),
        ('score\r\n"' + "\r\n" * (2 * MOST_ROWS) + '"', f"more than {MOST_ROWS} rows"),
    ],
)
def test_a_board_of_a_few_wide_rows_is_refused_before_it_is_read(text: str, reason: str) -> None:
    before = peak_bytes()
    with pytest.raises(BadCompetition, match=reason):
        read_score_texts(text)
    assert peak_bytes() - before < 50 * MEGABYTE


@pytest.mark.parametrize("row", ["1," + "x" * (LONGEST_LINE - 2), '1,"' + "\n" * 100 + '"', "1,"])
def test_the_longest_lines_of_a_board_are_read_in_time_proportional_to_them(row: str) -> None:
    text = "score,team\n" + f"{row}\n" * (MEGABYTE // len(row))
    started = time.process_time()
    scores = read_score_texts(text)

    assert len(scores) == MEGABYTE // len(row)
    assert time.process_time() - started < 3  # it took 12 seconds


TOML = """title = "A"
version = 1
tags = ["a"]
[metric]
name = "root_mean_squared_error"
[submission]
id = "id"
rows_sum_to_one = false
[submission.columns]
y = { kind = "number", min = 0 }
[leaderboard]
captured_at = 2024-08-01
gold = 0.1
silver = 0.2
bronze = 0.3
teams = 100
[[flags]]
code = "a"
note = "b"
"""
VALUES = st.one_of(
    st.sampled_from(
        ["1979-05-27T07:32:00Z", "07:32:00", "inf", "nan", "0x_", "[[[]]]", "{}", '"""', "''",
         "1e999", "99999999999999999999999", "-0.0", "true", '"\\u0000"', '"\\ud800"', "[1, 'a']",
         "{a = {b = 1}}"]
    ),
    st.integers().map(str),
    st.floats().map(str),
    st.text(max_size=8).map(lambda text: repr(text)),
)  # fmt: skip


@st.composite
def changed_toml(draw: st.DrawFn) -> str:
    """The text of a competition.toml, with some lines changed, doubled, left out or moved."""
    lines = TOML.splitlines()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["value", "key", "double", "remove", "move", "noise"])):
            case "value" if " = " in lines[at]:
                lines[at] = f"{lines[at].partition(' = ')[0]} = {draw(VALUES)}"
            case "key":
                lines.insert(at, f"{draw(st.text(string.printable, max_size=6))} = {draw(VALUES)}")
            case "double":
                lines.insert(at, lines[at])
            case "remove" if len(lines) > 1:
                del lines[at]
            case "move":
                lines.append(lines.pop(at))
            case _:
                lines.insert(at, draw(st.text(max_size=20)))
    return "\n".join(lines)


@MANY
@given(changed_toml())
def test_a_toml_is_a_competition_or_refused_with_its_file(text: str) -> None:
    competition, problems = tried(lambda: parse_competition("fuzzed", text))
    assert isinstance(competition, Competition) or problems
    assert {problem["file"] for problem in problems} <= {"competition.toml"}


NAMES = st.one_of(
    st.sampled_from(
        ["a/competition.toml", "a/public/x.csv", "a/../b", "/etc/x", "a//b", "a/./b", "a\\b",
         "C:/x", "a/.hidden", "__MACOSX/x", "a", "a/", "../x", "a/public", "b/x", "a/" + "x" * 300,
         "a/\u202ex", "A/competition.toml", "a/NUL", "a/x\n", "a/\x00x"]
    ),
    st.text(min_size=1, max_size=12),
)  # fmt: skip
MEMBERS = st.lists(st.tuples(NAMES, st.binary(max_size=64)), max_size=6)
TAR_TYPES = st.sampled_from(
    [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE,
     tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE, b"9"]
)  # fmt: skip


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """A zip or tar with odd members, cut off or with changed bytes now and then."""
    buffer = io.BytesIO()
    if draw(st.booleans()):
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, data in draw(MEMBERS):
                info = zipfile.ZipInfo(name.replace("\x00", "0") or "x")
                info.external_attr = draw(st.sampled_from([0, 0o100644 << 16, 0o120777 << 16]))
                archive.writestr(info, data)
        data = buffer.getvalue()
    else:
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, data in draw(MEMBERS):
                member = tarfile.TarInfo(name.encode("utf-8", "replace").decode())
                member.type, member.linkname = draw(TAR_TYPES), "../../x"
                member.size = len(data) if member.type == tarfile.REGTYPE else 0
                archive.addfile(member, io.BytesIO(data))
        data = buffer.getvalue()
        if draw(st.booleans()):
            data = gzip.compress(data)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data) - 1))
        data = data[:at] + draw(st.binary(max_size=3)) + data[at + draw(st.integers(0, 3)) :]
    return data[: draw(st.integers(1, len(data)))] if draw(st.booleans()) else data


@pytest.mark.filterwarnings("ignore:Duplicate name")
@MANY
@given(archives())
def test_an_archive_is_unpacked_below_its_folder_or_leaves_nothing(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        file, into = home / "archive", home / "into"
        file.write_bytes(data)
        into.mkdir()
        folder, _ = tried(lambda: unpack_archive(file, into, max_bytes=4096, max_files=50))
        if folder is None:
            assert not list(into.iterdir())
        else:
            assert folder.parent == into
            found = list(folder.rglob("*"))
            assert all(
                not path.is_symlink() and (path.is_file() or path.is_dir()) for path in found
            )
            assert sum(path.stat().st_size for path in found if path.is_file()) <= 4096
        assert sorted(home.iterdir()) == [file, into]
