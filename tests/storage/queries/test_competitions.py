from __future__ import annotations

import pytest
from sqlalchemy.exc import IntegrityError

from app.domain.states import CompetitionStatus
from app.storage.queries import competitions
from tests.storage.make import NOON, add_version


@pytest.fixture
def versions(database):
    def add(session):
        return [
            add_version(session, "bikes", content_hash="a"),
            add_version(session, "bikes", content_hash="b", number=2, title="Bikes, Ändert"),
            add_version(session, "b-ikes", content_hash="a", document={"tags": ["time series"]}),
            add_version(
                session, "Zoo", content_hash="c", document={}, leaderboard=None, rows=None,
                status=CompetitionStatus.NEEDS_DATA,
            ),
        ]  # fmt: skip

    return database.write(add)


def slugs(database, **asked):
    with database.read() as session:
        found = competitions.list_current(session, **{"limit": 10, **asked})
    return [version.slug for version in found]


def test_a_version_comes_back_as_it_was_stored(database, versions):
    with database.read() as session:
        found = competitions.version_by_id(session, versions[0].id)
        files = competitions.public_files(session, versions[0].id)
        nothing = competitions.public_files(session, 999)

    assert found == versions[0]
    assert files == [{"name": "train.csv", "bytes": 3, "sha256": "ab" * 32}]
    assert nothing == []
    assert found.imported_at == NOON


def test_a_documents_keys_keep_their_order(database, versions):
    with database.read() as session:
        found = competitions.version_by_id(session, versions[0].id)

    assert list(found.document) == ["tags", "z", "a"]


def test_what_a_needy_competition_lacks_is_none(database, versions):
    with database.read() as session:
        found = competitions.version_by_id(session, versions[3].id)

    assert (found.leaderboard, found.rows, found.status) == (
        None, None, CompetitionStatus.NEEDS_DATA,
    )  # fmt: skip


def test_the_current_version_has_the_highest_number(database, versions):
    with database.read() as session:
        assert competitions.current_version(session, "bikes") == versions[1]


def test_an_unknown_slug_has_no_current_version(database, versions):
    with database.read() as session:
        assert competitions.current_version(session, "bike") is None


def test_a_version_is_found_by_its_content(database, versions):
    with database.read() as session:
        assert competitions.version_by_hash(session, "bikes", "a") == versions[0]
        assert competitions.version_by_hash(session, "bikes", "c") is None


@pytest.mark.parametrize("twin", [{"number": 2}, {"content_hash": "b"}])
def test_neither_number_nor_content_comes_twice(database, versions, twin):
    with pytest.raises(IntegrityError):
        database.write(lambda s: add_version(s, "bikes", **{"number": 3, **twin}))


def test_the_list_has_each_slug_once_in_the_order_of_bytes(database, versions):
    assert slugs(database) == ["Zoo", "b-ikes", "bikes"]


def test_the_list_shows_the_current_version(database, versions):
    with database.read() as session:
        assert competitions.list_current(session, slugs=["bikes"], limit=9) == [versions[1]]


def test_pages_follow_each_other(database, versions):
    assert slugs(database, limit=2) == ["Zoo", "b-ikes"]
    assert slugs(database, limit=2, after="b-ikes") == ["bikes"]


@pytest.mark.parametrize(
    ("q", "expected"),
    [("IKES", ["b-ikes", "bikes"]), ("äNDERT", ["bikes"]), ("%", []), ("zoo", ["Zoo"])],
)
def test_words_are_found_in_slug_and_title_whatever_their_case(database, versions, q, expected):
    assert slugs(database, q=q) == expected


def test_a_tag_is_matched_as_a_whole(database, versions):
    assert slugs(database, tag="time series") == ["b-ikes"]
    assert slugs(database, tag="time") == []


def test_slugs_restrict_the_list(database, versions):
    assert slugs(database, slugs=["Zoo", "none"]) == ["Zoo"]
    assert slugs(database, slugs=[]) == []


def test_a_limit_counts_what_matches(database, versions):
    assert slugs(database, q="bikes", limit=1) == ["bikes"]
