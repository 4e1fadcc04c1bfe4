"""MLE-bench's lists of MD5 sums: small files that stand for endless ones are refused."""

from __future__ import annotations

import pytest

from app.importers.checksums import parse_checksums

SUM = "0" * 32
DOUBLED = [f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}\n" for n in range(1, 30)]


def test_sums_are_read_as_texts_by_their_paths() -> None:
    text = f"public:\n  train:\n    a.csv: {SUM}\n  b.csv: '{SUM}'\nzip: {SUM}\nnote: []\n"

    assert parse_checksums(text) == {"public/train/a.csv": SUM, "public/b.csv": SUM}


@pytest.mark.parametrize(
    "text",
    [
        f"a0: &a0 {{x: {SUM}}}\n" + "".join(DOUBLED),
        "a: &a\n  b: *a\n",
        "{a: " * 3_000,
        "[" * 3_000,
        "? " * 3_000,
        "a: *b",
        "a: {",
        "? [a]\n: b",
    ],
    ids=lambda text: text[:10],
)
def test_what_is_no_plain_list_of_sums_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_checksums(text)
