"""podium-client against a real server: agents, harnesses, researchers; both ways of calling."""

from __future__ import annotations

import ast
import asyncio
import doctest
import hashlib
import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import ROOT, ServerAway
from tests.clients.test_behind_a_proxy import proxy
from tests.factories import good_submission

SOURCE = ROOT / "clients" / "podium-client"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(SOURCE))
    yield
    for name in [one for one in sys.modules if one.partition(".")[0] == "podium_client"]:
        del sys.modules[name]


@pytest.fixture
def file(tmp_path: Path, good: bytes) -> Path:
    path = tmp_path / "submission.csv"
    path.write_bytes(good)
    return path


def key_of(run) -> str:  # type: ignore[no-untyped-def]
    found: str = run.client.headers["Authorization"].removeprefix("Bearer ")
    return found


def test_it_needs_httpx_and_nothing_of_the_service() -> None:
    imported = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {one.name.partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])

    assert imported - set(sys.stdlib_module_names) == {
        "anyio", "httpx", "pandas", "podium_client",
    }  # fmt: skip


def test_an_agent_reads_its_task_and_submits(podium, tiny, file, tmp_path):  # type: ignore[no-untyped-def]
    from podium_client import Podium, PodiumRefused

    run = podium.run(tiny, feedback="public")
    seen: list[int] = []
    with Podium(podium.server.url, key_of(run)) as client:
        path = client.download(tiny.name, "train.csv", tmp_path / "train.csv", seen.append)
        assert client.description(tiny.name).startswith("# Tiny")
        assert client.validate(run.id, file)["valid"] is True
        first = client.submit(run.id, file, message="Bäume, 二", wait=30)
        assert client.submit(run.id, file)["id"] == first["id"]
        assert [one["id"] for one in client.submissions(run.id)] == [first["id"]]
        assert client.select(run.id, first["id"])["selected"] == first["id"]
        with pytest.raises(PodiumRefused, match="403") as refused:
            client.grade(tiny.name, file)

    assert path.read_bytes() == (tiny / "public/train.csv").read_bytes()
    assert seen == [path.stat().st_size]
    assert first["message"] == "Bäume, 二"
    assert first["grade"]["score"] is None
    assert first["grade"]["public_score"] is not None
    assert refused.value.problem["type"] == "/problems/forbidden"


def test_a_download_that_was_cut_off_is_continued_and_a_damaged_one_removed(podium, tiny, tmp_path):  # type: ignore[no-untyped-def]
    from podium_client import Podium, PodiumError

    whole = (tiny / "public/train.csv").read_bytes()
    run = podium.run(tiny)
    with Podium(podium.server.url, key_of(run)) as client:
        for have in (whole[:5], whole):
            (tmp_path / "t.csv.partial").write_bytes(have)
            assert client.download(tiny.name, "train.csv", tmp_path / "t.csv").read_bytes() == whole
        (tmp_path / "t.csv.partial").write_bytes(b"other")
        with pytest.raises(PodiumError, match="damaged"):
            client.download(tiny.name, "train.csv", tmp_path / "t.csv")
        assert not (tmp_path / "t.csv.partial").exists()
        with pytest.raises(PodiumError, match="no public file"):
            client.download(tiny.name, "answers.csv", tmp_path / "a.csv")


def test_a_harness_grades_and_a_researcher_reads_rates(podium, tiny, file, monkeypatch):  # type: ignore[no-untyped-def]
    from podium_client import Podium

    experiment = podium.experiment()
    monkeypatch.setenv("PODIUM_URL", podium.server.url)
    monkeypatch.setenv("PODIUM_KEY", podium.harness_key(experiment))
    with Podium() as harness:
        report = harness.grade(tiny.name, file, seed=1, format="mle-bench")
        other = harness.create_run(tiny.name, 2, feedback="none")
    with Podium(key=podium.researcher_key()) as researcher:
        run = researcher.run(other["id"])
        rates = researcher.medal_rates(experiment, padding="fail")
        frame = researcher.medal_rates_frame(experiment, padding="fail")

    assert report["score"] == pytest.approx(0.12)
    assert (run["experiment"], run["seed"]) == (experiment, 2)
    assert rates["seeds"] == 2
    assert frame["harness_private_scores"].tolist() == [1] * len(frame)


def test_many_at_once_without_threads(podium, tiny, file, tmp_path):  # type: ignore[no-untyped-def]
    from podium_client import AsyncPodium

    run = podium.run(tiny, feedback="full")
    files = [tmp_path / f"{number}.csv" for number in range(5)]
    for number, path in enumerate(files):
        path.write_bytes(good_submission(tiny, shift=0.01 * (number + 1)))

    async def work() -> tuple[list[float], list[str], Path]:
        async with AsyncPodium(podium.server.url, key_of(run)) as client:
            sent = await asyncio.gather(*(client.submit(run.id, path) for path in files))
            listed = [one["id"] async for one in client.submissions(run.id)]
            path = await client.download(tiny.name, "train.csv", tmp_path / "train.csv")
            return [one["grade"]["score"] for one in sent], listed, path

    scores, listed, path = asyncio.run(work())

    assert scores == [pytest.approx(0.01 * (number + 1)) for number in range(5)]
    assert len(set(listed)) == 5
    assert path.read_bytes() == (tiny / "public/train.csv").read_bytes()


def test_faults_are_told_apart(podium, tiny, file):  # type: ignore[no-untyped-def]
    from podium_client import Podium, PodiumAway, PodiumError, PodiumRefused

    with Podium("http://127.0.0.1:9", "pod_run_x", wait=0.1) as away, pytest.raises(PodiumAway):
        away.competition(tiny.name)
    with Podium(podium.server.url, "pod_run_wrong") as wrong, pytest.raises(PodiumRefused) as no:
        wrong.submit("run_0", file)
    assert no.value.status == 401
    with pytest.raises(PodiumError, match="PODIUM_URL"):
        Podium("podium:7777", "pod_run_x")


def test_retry_after_and_a_server_that_comes_back(server_away: ServerAway) -> None:
    from podium_client import Podium

    with (
        server_away.comes_back_after(2),
        Podium(server_away.server.url, server_away.key, wait=100) as client,
    ):
        report = client.grade(server_away.competition, server_away.file)

    assert report["score"] == pytest.approx(0.12)
    assert server_away.server.stop() == 0


@pytest.mark.parametrize("waits", [True, False], ids=["sync", "async"])
def test_a_long_transfer_that_breaks_off_late_goes_on(tmp_path: Path, waits: bool) -> None:
    from podium_client import AsyncPodium, Podium

    whole = bytes(range(15))
    listed = {"files": [{"name": "x", "sha256": hashlib.sha256(whole).hexdigest()}]}
    document = 200, {}, json.dumps(listed).encode()
    slow = {"X-Seconds": "0.4"}

    async def download(url: str) -> Path:
        async with AsyncPodium(url, "pod_x", wait=0.6) as client:
            return await client.download("a", "x", tmp_path / "x")

    with proxy(
        (503, slow, b""), document, (200, {"Content-Length": "15", **slow}, whole[:5]),
        (206, {"Content-Length": "10", **slow}, whole[5:10]), (206, {}, whole[10:]),
    ) as (address, _):  # fmt: skip
        if waits:
            with Podium(address, "pod_x", wait=0.6) as client:
                client.download("a", "x", tmp_path / "x")
        else:
            asyncio.run(download(address))

    assert (tmp_path / "x").read_bytes() == whole


def test_a_wait_that_podium_names_is_kept() -> None:
    from podium_client.requests import Answer, Retry

    retry, long = Retry(wait=10), Retry(wait=1e9)

    assert retry.pause_after(Answer(429, "", {"Retry-After": "7"})) == 7.0
    assert retry.pause_after(Answer(429, "", {"Retry-After": "3600"})) is None
    for named in ("Wed, 21 Oct 2026 07:28:00 GMT", "\N{SUPERSCRIPT TWO}", "-1", "", "0"):
        assert Retry(wait=10).pause_after(Answer(429, "", {"Retry-After": named})) == 0.5
    assert [long.pause_after(Answer(0, "away", {})) for _ in range(2000)][-1] == 60.0
    assert retry.pause_after(Answer(422, "", {})) is None
    assert retry.pause_after(Answer(0, "away", {})) == 2.0


def test_the_examples_in_docstrings_run(podium, monkeypatch, tmp_path, capsys):  # type: ignore[no-untyped-def]
    import podium_client
    from podium_client import AsyncPodium, Podium

    competition = podium.competition(slug="my-competition")
    podium.admin.post(
        "/v1/experiments", json={"name": "my-experiment", "agent": "a", "model": "m"}
    ).raise_for_status()
    body = {"experiment": "my-experiment", "competition": competition.name, "feedback": "full"}
    made = podium.admin.post("/v1/runs", json={**body, "seed": 0}).json()
    (tmp_path / "submission.csv").write_bytes(good_submission(competition, shift=0.01))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PODIUM_URL", podium.server.url)
    monkeypatch.setenv("PODIUM_KEY", made["key"])
    keys = {"harness": podium.harness_key("my-experiment"), "researcher": podium.researcher_key()}
    names: dict[str, Any] = {name: Podium(key=key) for name, key in keys.items()}
    names |= {"Podium": Podium, "AsyncPodium": AsyncPodium, "run": made["id"], "podium": Podium()}

    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    shown = [name for name in vars(Podium) if not name.startswith("_") and name != "close"]
    for cls in (Podium, AsyncPodium):
        texts = {"": cls, **({name: getattr(cls, name) for name in shown} if cls is Podium else {})}
        for name, what in texts.items():
            test = parser.get_doctest(what.__doc__, names, f"{cls.__name__}.{name}", None, None)
            assert test.examples, f"{test.name} has no example"
            runner.run(test, clear_globs=False)
            names |= test.globs
            if test.name == "Podium.":
                names["podium"] = Podium()
    for name in ("harness", "researcher", "podium"):
        names[name].close()

    assert runner.summarize(verbose=False).failed == 0, capsys.readouterr().out
    assert podium_client.__all__


def test_events_come_as_they_happen_until_the_run_is_closed(podium, tiny, good):  # type: ignore[no-untyped-def]
    from podium_client import Podium, PodiumRefused

    run = podium.run(tiny)
    seen: list[tuple[str, str]] = []

    def work() -> None:
        run.submit(good)
        run.submit(b"id,target\nr1,1\n")
        podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})

    with Podium(podium.server.url, key_of(run)) as client:
        working = threading.Thread(target=work)
        working.start()
        for event in client.events(run.id):
            seen.append((event.name, event.data["state"]))
        working.join()
        after = list(client.events(run.id, event.id))
        with pytest.raises(PodiumRefused, match="404"):
            next(client.events("run_of_another"))

    assert ("submission", "graded") in seen
    assert ("submission", "rejected") in seen
    assert seen.count(("run", "closed")) == 1
    assert after == []


def test_a_stream_goes_on_after_its_server_was_killed(server_away: ServerAway) -> None:
    from podium_client import AsyncPodium, Podium

    server, slug = server_away.server.start(), server_away.competition
    states: list[str] = []

    async def follow(url: str, run: str, key: str) -> None:
        async with AsyncPodium(url, key, wait=100) as client:
            async for event in client.events(run):
                states.append(event.data["state"])
                if states == ["graded"]:
                    server.kill()
                    server.start()
                    admin.submit(run, server_away.file, idempotency_key="another")
                elif states.count("graded") > 1 and "closed" not in states:
                    closing.patch(f"/v1/runs/{run}", json={"state": "closed"})

    with Podium(server.url, server.key) as admin, server.client() as closing:
        made = admin.create_run(slug, 5, experiment="e", feedback="full")
        admin.submit(made["id"], server_away.file)
        asyncio.run(follow(server.url, made["id"], made["key"]))

    assert states[0] == "graded"
    assert states[-1] == "closed"
    assert server.stop() == 0


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_file_that_changes_before_another_attempt_is_not_sent(file, asynchronous):  # type: ignore[no-untyped-def]
    from podium_client import AsyncPodium, Podium, PodiumError

    with proxy((503, {}, b"busy"), (200, {}, b"{}")) as (address, asked):

        def change() -> None:
            while not asked:
                time.sleep(0.01)
            file.write_bytes(b"id,other\n")

        async def send() -> None:
            async with AsyncPodium(address, "pod_run_x") as client:
                await client.submit("run_x", file)

        changing = threading.Thread(target=change)
        changing.start()
        with Podium(address, "pod_run_x") as client:
            calls = {True: lambda: asyncio.run(send()), False: lambda: client.submit("run_x", file)}
            with pytest.raises(PodiumError, match=r"submission.csv changed while it was sent"):
                calls[asynchronous]()
        changing.join()


def test_an_answer_may_take_as_long_as_the_caller_waits(file, monkeypatch):  # type: ignore[no-untyped-def]
    from podium_client import AsyncPodium, Podium

    monkeypatch.setattr("podium_client.requests.ANSWER_SECONDS", 0.3)

    async def submit(address: str) -> Any:
        async with AsyncPodium(address, "pod_run_x", wait=0) as client:
            return await client.submit("run_x", file, wait=5)

    slow = 200, {"X-Seconds": "0.8"}, b"{}"
    with proxy(slow, slow) as (address, _), Podium(address, "pod_harness_x", wait=0) as client:
        assert client.grade("x", file, wait=5) == {}
        assert asyncio.run(submit(address)) == {}
