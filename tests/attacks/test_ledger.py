"""An agent that makes its exposure ledger long: it is bounded, and read page by page."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import insert, text

from app.services.experiments.disclosures import LEDGER_PAGE
from app.storage.database.database import Database
from app.storage.database.models import Disclosure
from tests.api.conftest import CSV, Podium, Run
from tests.factories import good_submission
from tests.server import PodiumServer
from tests.storage.make import NOON

BOUND = 2 * LEDGER_PAGE + 7
SETTINGS = {"run_validations": BOUND}


def podium_database(server: PodiumServer) -> Database:
    url = server.environment["PODIUM_DATABASE_URL"] or f"sqlite:///{server.data_dir}/podium.db"
    return Database(url)


def fill(server: PodiumServer, run: Run, count: int, kind: str = "validation") -> None:
    """Add so many entries of this kind to the run's ledger, one a second."""
    entries = [
        {"run_id": run.id, "kind": kind, "at": NOON + timedelta(seconds=number)}
        for number in range(count)
    ]
    with contextlib.closing(podium_database(server)) as database:
        database.write(lambda session: session.execute(insert(Disclosure), entries).close())


def whole(client: httpx.Client, run: Run) -> tuple[list[object], dict[str, object]]:
    """All entries by one request; the answer without them."""
    answer = client.get(f"/v1/runs/{run.id}/exposure").json()
    return answer.pop("disclosed"), answer


def in_pages(client: httpx.Client, run: Run) -> tuple[list[object], dict[str, object]]:
    """All entries by requests for pages; the answer without them."""
    entries: list[object] = []
    cursor: dict[str, str] = {}
    while True:
        answer = client.get(f"/v1/runs/{run.id}/exposure", params={"limit": 1000, **cursor}).json()
        entries += answer.pop("disclosed")
        following = answer.pop("next_cursor")
        if following is None:
            return entries, answer
        cursor = {"cursor": following}


def test_a_long_ledger_is_told_whole_and_no_file_is_checked_beyond_the_bound(
    podium: Podium,
) -> None:
    folder: Path = podium.competition()
    run, file = podium.run(folder), good_submission(folder)
    fill(podium.server, run, BOUND - 2)
    path = f"/v1/runs/{run.id}/validate"

    checked = [
        run.client.post(path, content=file, headers=CSV),
        run.client.post("/validate", files={"file": ("submission.csv", file)}),
        run.client.post(path, content=file, headers=CSV),
        run.client.post("/validate", files={"file": ("submission.csv", file)}),
    ]

    assert [one.status_code for one in checked] == [200, 200, 429, 429]
    assert "PODIUM_RUN_VALIDATIONS" in checked[2].json()["detail"]
    for client in (run.client, podium.admin):
        entries, rest = whole(client, run)
        assert (entries, rest) == in_pages(client, run)
        assert len(entries) == rest["totals"]["validations"] == BOUND
    from_cursor = run.client.get(f"/v1/runs/{run.id}/exposure", params={"cursor": "3"}).json()
    assert from_cursor["disclosed"] == entries[3:]


def test_files_sent_at_once_are_not_checked_beyond_the_bound(podium: Podium) -> None:
    """Each was let in before the first was counted."""
    folder = podium.competition()
    run, file = podium.run(folder), good_submission(folder)
    fill(podium.server, run, BOUND - 2)

    with ThreadPoolExecutor(12) as senders:
        answers = list(senders.map(lambda number: run.validate(file + b"\n" * number), range(12)))

    assert sorted(one.status_code for one in answers) == [200] * 2 + [429] * 10
    exposure = podium.admin.get(f"/v1/runs/{run.id}/exposure").json()
    assert exposure["totals"]["validations"] == BOUND


def test_checks_by_harnesses_use_up_none_of_the_runs_own(podium: Podium) -> None:
    folder = podium.competition()
    run, file = podium.run(folder), good_submission(folder)
    fill(podium.server, run, BOUND, "harness_validation")

    checked = run.client.post(f"/v1/runs/{run.id}/validate", content=file, headers=CSV)

    assert checked.status_code == 200


def test_a_ledger_that_breaks_off_is_no_whole_answer(podium: Podium) -> None:
    run = podium.run(podium.competition())
    fill(podium.server, run, BOUND)
    path = f"/v1/runs/{run.id}/exposure"

    with damaged_last_entry(podium.server), pytest.raises(httpx.RemoteProtocolError):
        run.client.get(path)  # the last chunk does not come, and the connection ends

    assert run.client.get(path).status_code == 200


@contextlib.contextmanager
def damaged_last_entry(server: PodiumServer) -> Iterator[None]:
    """The time of the last entry of the ledger is none."""
    last = "WHERE id = (SELECT max(id) FROM disclosure)"
    with contextlib.closing(podium_database(server)) as database:
        database.write(
            lambda session: session.execute(
                text(f"UPDATE disclosure SET at = 'odd ' || at {last}")
            ).close()
        )
        yield
        database.write(
            lambda session: session.execute(
                text(f"UPDATE disclosure SET at = substr(at, 5) {last}")
            ).close()
        )
