"""The list of public files, which may be long, is read and serialized once."""

from __future__ import annotations

import json

import pytest

from app.services.runtime.context import Context
from app.services.runtime.public_files import PublicFiles, PublicFilesOfVersions
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import add_version
from tests.storage.statements import sent_statements

NAMES = ["b.csv", "ä.csv", "a/z.png", "a b.png", 'a"b.png']


def of(names: list[str]) -> list[dict[str, object]]:
    return [
        {"name": name, "bytes": number, "sha256": f"{number:064x}"}
        for number, name in enumerate(names)
    ]


@pytest.mark.parametrize("names", [NAMES, sorted(NAMES), NAMES[:1], []])
def test_files_are_found_by_number_and_by_name(names: list[str]) -> None:
    rows = of(names)
    files = PublicFiles(rows)

    assert list(files) == files[:] == json.loads(files.json) == rows
    assert files[1:3] == rows[1:3]
    assert [files.find(name) for name in names] == rows
    assert [files.find(name) for name in ("", "a", "zzz")] == [None] * 3
    assert bool(files) == bool(rows)


def test_the_files_of_a_version_are_read_once(context: Context) -> None:
    version = context.database.write(lambda session: add_version(session, "bikes", toml=TOML))

    with sent_statements() as statements:
        first = context.catalogue.public_files.of(version.id)
        for _ in range(3):
            context.catalogue.version(version.id)
            assert context.catalogue.public_files.of(version.id) is first

    assert sum("competition_version.files" in one for one in statements) == 1


def test_lists_are_kept_up_to_a_number_of_bytes_and_one_in_any_case(context: Context) -> None:
    def add(slug: str, count: int) -> int:
        files = of([f"{number:0200}" for number in range(count)])
        return context.database.write(
            lambda session: add_version(session, slug, files=files, toml=TOML)
        ).id

    lists = PublicFilesOfVersions(context.database, most_bytes=300_000)
    ids = [add(f"of-400-{number}", 400) for number in range(3)]  # 127,400 bytes each
    large = add("of-1000", 1000)

    first, second, third = [lists.of(one) for one in ids]
    assert lists.of(ids[1]) is second
    assert lists.of(ids[2]) is third
    assert lists.of(ids[0]) is not first
    assert lists.of(large) is lists.of(large)
    assert lists.of(ids[1]) is not second
