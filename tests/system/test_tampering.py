"""Changes of the database or the store by others than Podium are found and named."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.services.operations.verify import verify
from app.services.operations.verify_progress import Damage, VerifyProgress
from app.services.receipts.check_database import check_trust
from app.settings import Settings
from app.storage.database.database import Database
from tests.api.conftest import Podium
from tests.api.test_receipts import close, closed, receipts_of
from tests.forkserver import run_podium
from tests.server import PodiumServer


@dataclass
class Seeded:
    """The data directory of a Podium that was stopped, with three closed runs."""

    data: Path
    runs: list[str]
    submission: str


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Seeded:
    home = tmp_path_factory.mktemp("tampering")
    server = PodiumServer(home / "data", "").start()
    with contextlib.ExitStack() as clients:
        podium = Podium(server, home / "folders", clients)
        folder = podium.competition()
        found = [closed(podium, folder, feedback) for feedback in ("none", "none", "public")]
        name = found[0][0].document["experiment"]
        change = {"reason": "a slip", "model": "m2"}
        assert podium.admin.patch(f"/v1/experiments/{name}", json=change).status_code == 200
        made = podium.admin.post(f"/v1/experiments/{name}/receipts", json={})
        assert made.status_code == 201
        assert all(receipts_of(podium, run.id) for run, _ in found)
        # What a harness changes after the close: one is signed anew, the other is not any more.
        empty = podium.run(folder)
        assert close(podium, empty.id) == 200
        score = {"score": 1.0, "evidence": {"file": "x"}}
        answer = podium.admin.post(f"/v1/runs/{empty.id}/reported-scores", json=score)
        assert answer.status_code == 201
        for changed in (found[2][0].id, empty.id):
            failure = {"failure": "crash"}
            assert podium.admin.patch(f"/v1/runs/{changed}", json=failure).status_code == 200
    assert server.stop() == 0
    return Seeded(home / "data", [run.id for run, _ in found], found[0][1]["id"])


@pytest.fixture
def copy(seeded: Seeded, tmp_path: Path) -> Path:
    return Path(shutil.copytree(seeded.data, tmp_path / "data"))


def damage(data: Path) -> list[Damage]:
    """The findings of a comparison of everything."""
    progress = VerifyProgress(data / "verify.json")
    verify(Settings(data_dir=data), lambda *_: None, sample=None, progress=progress)
    return progress.damaged


def named_in(data: Path) -> set[str]:
    """The findings of the check of receipts and log alone."""
    database = Database(f"sqlite:///{data / 'podium.db'}")
    try:
        with database.read() as session:
            return {name for name, _ in check_trust(session)}
    finally:
        database.close()


def change(data: Path, statement: str, *values: object) -> int:
    with contextlib.closing(sqlite3.connect(data / "podium.db")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        changed = connection.execute(statement, values).rowcount
        connection.commit()
    return changed


def rows(data: Path, query: str) -> list[tuple]:
    with contextlib.closing(sqlite3.connect(data / "podium.db")) as connection:
        return connection.execute(query).fetchall()


def test_nothing_is_found_where_nothing_was_changed(copy: Path) -> None:
    assert damage(copy) == []


@pytest.mark.parametrize(
    ("assignment", "named"),
    [
        ("score = score + 1e-9", "score"),
        ("medal = CASE medal WHEN 'gold' THEN 'silver' ELSE 'gold' END", "medal"),
        ("public_score = 0.5", "public_score"), ("worse = worse + 1", "worse"),
        ("graded_at = '2020-01-01 00:00:00.000000'", "graded_at"),
        ("grader = '{}'", "grader"),
    ],
)  # fmt: skip
def test_a_changed_grade_is_named(copy: Path, seeded: Seeded, assignment: str, named: str) -> None:
    where = "WHERE submission_id = ?"
    assert change(copy, f"UPDATE grade SET {assignment} {where}", seeded.submission) == 1

    [found] = damage(copy)

    assert found.kind == "receipt"
    assert seeded.submission in found.problem
    assert named in found.problem


def test_a_removed_grade_is_named(copy: Path, seeded: Seeded) -> None:
    assert change(copy, "DELETE FROM grade WHERE submission_id = ?", seeded.submission) == 1
    [found] = damage(copy)
    assert f"the grade of submission {seeded.submission} is missing" in found.problem


def test_a_submission_whose_file_has_no_digest_is_named(copy: Path, seeded: Seeded) -> None:
    where = "WHERE id = ?"
    assert change(copy, f"UPDATE submission SET sha256 = '00' {where}", seeded.submission) == 1

    blob, receipt = damage(copy)

    assert (blob.kind, blob.path) == ("blob", "00")
    assert "not a SHA-256" in blob.problem
    assert f"submission {seeded.submission}" in blob.needed_by
    assert "has another file" in receipt.problem


def test_a_file_of_a_version_without_digest_is_named_and_not_to_be_copied(copy: Path) -> None:
    changed = "UPDATE version_file SET sha256 = '00' WHERE path = 'competition.toml'"
    assert change(copy, changed) >= 1

    found = [one for one in damage(copy) if "not a SHA-256" in one.problem]

    assert {one.kind for one in found} == {"blob", "version"}
    assert all(one.remedy.startswith("Somebody changed the database") for one in found)


def test_a_removed_receipt_is_named_by_its_entry_of_the_log(copy: Path) -> None:
    [(number,)] = rows(copy, "SELECT number FROM receipt ORDER BY number LIMIT 1")
    assert change(copy, "DELETE FROM receipt WHERE number = ?", number) == 1

    [found] = damage(copy)

    assert (found.kind, found.path) == ("receipt", f"log entry {number}")
    assert "its receipt is missing" in found.problem


def test_another_file_of_a_submission_is_named(copy: Path, seeded: Seeded) -> None:
    [(sha256,)] = rows(copy, f"SELECT sha256 FROM submission WHERE id = '{seeded.submission}'")
    blob = copy / "blobs" / sha256[:2] / sha256[2:]
    shutil.rmtree(copy / "blobs" / "journals")  # else the store mends the file from it
    blob.chmod(0o600)
    blob.write_bytes(blob.read_bytes().replace(b"1", b"2", 1))
    found = damage(copy)
    assert [one.kind for one in found] == ["blob"]
    assert f"submission {seeded.submission}" in found[0].needed_by

    assert change(
        copy, "UPDATE submission SET sha256 = ? WHERE id = ?", "00" * 32, seeded.submission
    )
    assert any(seeded.submission in one.problem and one.kind == "receipt" for one in damage(copy))


@pytest.mark.parametrize("column", ["leaf", "record", "kind", "at"])
def test_each_changed_entry_of_the_log_is_named(copy: Path, column: str) -> None:
    found = rows(copy, f"SELECT number, {column} FROM log_entry WHERE {column} IS NOT NULL")
    assert len(found) >= 2
    for number, value in found:
        other = "2020-01-01 00:00:00.000000" if column == "at" else str(value).replace("e", "f", 1)
        assert other != value
        where = "WHERE number = ?"
        change(copy, f"UPDATE log_entry SET {column} = ? {where}", other, number)
        named = named_in(copy)
        assert f"log entry {number}" in named
        change(copy, f"UPDATE log_entry SET {column} = ? {where}", value, number)
    assert named_in(copy) == set()


def test_each_changed_byte_of_a_leaf_is_named(copy: Path) -> None:
    [(leaf,)] = rows(copy, "SELECT leaf FROM log_entry WHERE number = 1")
    for place in range(len(leaf)):
        other = leaf[:place] + chr(ord(leaf[place]) ^ 1) + leaf[place + 1 :]
        change(copy, "UPDATE log_entry SET leaf = ? WHERE number = 1", other)
        assert "log entry 1" in named_in(copy)


def test_each_changed_receipt_is_named(copy: Path) -> None:
    found = rows(copy, "SELECT id, statement, signature, envelope_signature FROM receipt")
    assert len(found) == 6
    for receipt, *values in found:
        columns = ("statement", "signature", "envelope_signature")
        for column, value in zip(columns, values, strict=True):
            other = value.replace("a", "b", 1)
            change(copy, f"UPDATE receipt SET {column} = ? WHERE id = ?", other, receipt)
            assert f"receipt {receipt}" in named_in(copy)
            change(copy, f"UPDATE receipt SET {column} = ? WHERE id = ?", value, receipt)
    assert named_in(copy) == set()


def test_a_removed_entry_or_checkpoint_is_named(copy: Path) -> None:
    last = rows(copy, "SELECT max(number) FROM log_entry")[0][0]
    assert change(copy, "DELETE FROM log_entry WHERE number = ?", last) == 1
    assert f"log entry {last}" in named_in(copy)
    assert change(copy, "DELETE FROM log_entry WHERE number = 1") == 1
    assert "log entry 1" in named_in(copy)
    assert change(copy, "DELETE FROM log_node WHERE level = 0 AND place = 0") == 1
    assert "log entry 0" in named_in(copy)
    assert change(copy, "DELETE FROM log_checkpoint WHERE size = 1") == 1
    assert "checkpoint of 1 entries" in named_in(copy)


def test_an_entry_that_is_changed_with_its_hashes_has_no_signed_root(copy: Path) -> None:
    from app.receipts import merkle

    leaves = [leaf for (leaf,) in rows(copy, "SELECT leaf FROM log_entry ORDER BY number")]
    leaves[2] = json.dumps({**json.loads(leaves[2]), "sha256": "00" * 32}, separators=(",", ":"))
    change(copy, "UPDATE log_entry SET leaf = ? WHERE number = 2", leaves[2])
    change(copy, "DELETE FROM log_node")
    known: dict[tuple[int, int], bytes] = {}
    for number, leaf in enumerate(leaves):
        hashed = merkle.leaf_hash(leaf.encode())
        for level, place, value in merkle.nodes_of_leaf(
            lambda level, place: known[level, place], number, hashed
        ):
            known[level, place] = value
            change(copy, "INSERT INTO log_node VALUES (?, ?, ?)", level, place, value.hex())

    named = named_in(copy)

    assert "checkpoint of 3 entries" in named
    assert "checkpoint of 2 entries" not in named


def test_another_end_of_a_run_is_named(copy: Path, seeded: Seeded) -> None:
    """The rows that were signed are as they were, and results count others."""
    change(copy, "UPDATE submission SET state = 'rejected' WHERE id = ?", seeded.submission)
    [found] = damage(copy)
    assert "no graded submission" in found.problem
    change(copy, "UPDATE submission SET state = 'graded' WHERE id = ?", seeded.submission)

    for table in ("submission", "grade"):
        names = [name for _, name, *_ in rows(copy, f"PRAGMA table_info({table})")]
        own = "submission_id" if table == "grade" else "id"
        other = {own: "'sub_z'", "idempotency_key": "NULL", "score": "0.0", "medal": "'gold'"}
        if table == "grade":
            other["id"] = "(SELECT max(id) + 1 FROM grade)"
        chosen = ", ".join(other.get(name, f'"{name}"') for name in names)
        insert = f"INSERT INTO {table} SELECT {chosen} FROM {table} WHERE {own} = ?"
        assert change(copy, insert, seeded.submission) == 1
    [found] = damage(copy)
    assert "sub_z" in found.problem
    assert seeded.runs[0] in found.problem


@pytest.mark.parametrize(
    ("assignment", "named"),
    [
        ("seed = seed + 7", "seed"), ("feedback = 'full'", "policy"),
        ("experiment = 'other'", "experiment"), ("failure = 'crash'", "failure"),
        ("closed_at = '2026-01-01 00:00:00.000000'", "closed"), ("state = 'open'", "closed"),
    ],
)  # fmt: skip
def test_a_changed_run_is_named(copy: Path, seeded: Seeded, assignment: str, named: str) -> None:
    """Its seed, policy and experiment are in its receipt, and nothing compared them."""
    assert change(copy, f"UPDATE run SET {assignment} WHERE id = ?", seeded.runs[0]) == 1

    [found] = damage(copy)

    assert f"its run {seeded.runs[0]} has another {named} than was signed" in found.problem


def test_a_disclosure_that_was_removed_is_named(copy: Path, seeded: Seeded) -> None:
    """Reports told that the agent had seen less than its receipt says."""
    assert change(copy, "DELETE FROM disclosure WHERE kind = 'public_score'") == 1

    [found] = damage(copy)

    assert f"its run {seeded.runs[2]} has fewer public_scores in its exposure" in found.problem


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM run_review", "no review excludes it"),
        ("UPDATE run_review SET run_id = (SELECT max(id) FROM run)", "a review excludes it"),
        ("DELETE FROM archival", "it is not archived"),
    ],
)
def test_a_changed_exclusion_or_archiving_is_named(
    copy: Path, seeded: Seeded, statement: str, said: str
) -> None:
    """Rates counted what the log says is left out, or left out what it does not say."""
    for words in (["reviews", "exclude", seeded.runs[0]], ["runs", "archive", seeded.runs[1]]):
        done = run_podium(
            [*words, "--reason", "a slip"],
            env={"PODIUM_DATA_DIR": str(copy), "PATH": "/usr/bin"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert damage(copy) == []

    assert change(copy, statement) == 1

    assert any(said in one.problem for one in damage(copy))


ADD_KEY = (
    "INSERT INTO signing_key (id, name, public_key, valid_after) SELECT 'sig_z', name, public_key, "
    "valid_after FROM signing_key WHERE id = (SELECT min(id) FROM signing_key)"
)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE signing_key SET revoked_at = NULL, reason = NULL", "it was revoked"),
        ("UPDATE signing_key SET reason = 'a slip' WHERE reason IS NOT NULL", "it was revoked"),
        ("UPDATE signing_key SET valid_before = NULL WHERE id = (SELECT min(id) FROM signing_key)",
         "it was retired"),
        (ADD_KEY, "row was added"),
    ],
)  # fmt: skip
def test_a_changed_signing_key_is_named(copy: Path, statement: str, said: str) -> None:
    commands = ["rotate"], ["rotate"], ["revoke", "KEY", "--reason", "stolen"]
    for words in commands:
        present = rows(copy, "SELECT max(id) FROM signing_key")[0][0]
        done = run_podium(
            ["receipts", "keys", *(present if word == "KEY" else word for word in words)],
            env={"PODIUM_DATA_DIR": str(copy), "PATH": "/usr/bin"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert damage(copy) == []

    assert change(copy, statement)

    assert any(said in one.problem for one in damage(copy))


def test_the_command_names_it_and_fails(copy: Path, seeded: Seeded) -> None:
    change(copy, "UPDATE grade SET score = 0.99 WHERE submission_id = ?", seeded.submission)
    found = run_podium(
        ["verify"],
        env={"PODIUM_DATA_DIR": str(copy), "PATH": "/usr/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 1
    assert f"the grade of submission {seeded.submission} has another score" in found.stderr
