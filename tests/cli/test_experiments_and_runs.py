"""Experiments, runs, results and keys by command: on the data directory, and over HTTP."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote

import httpx
import pyarrow.parquet
import pytest

from app.cli.remote import path_to, remote
from app.errors import Invalid, PodiumError, Unauthorized
from tests.cli.conftest import Done
from tests.factories import good_submission, write_competition
from tests.forkserver import run_podium
from tests.server import PodiumServer

Podium = Callable[..., Done]
TOO_LONG = (
    "an-experiment-with-a-name-that-is-much-longer-than-a-column-of-a-narrow-terminal-would-be"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodiumServer]:
    """A server with a competition; its data directory is the one of commands without --url."""
    home = tmp_path_factory.mktemp("podium")
    tiny = write_competition(home / "tiny")
    (home / "no-competitions").mkdir()
    (home / "no-competitions" / "suites.toml").write_text(
        '[suites.mine]\ntitle = "Mine"\ncompetitions = ["tiny", "nowhere"]\n'
    )
    started = PodiumServer(home / "data").start()
    done = run_podium(
        ["import", "folder", str(tiny)],
        env=started.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    yield started
    started.stop()


@pytest.fixture(params=["here", "elsewhere"])
def podium(request: pytest.FixtureRequest, server: PodiumServer, tmp_path: Path) -> Podium:
    """`podium` on the server's data directory, or from another directory over HTTP."""
    here = request.param == "here"
    variables = server.environment if here else {
        **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
        "PODIUM_URL": server.url, "PODIUM_KEY": server.key,
    }  # fmt: skip

    def run(*words: object) -> Done:
        return run_podium(
            words, cwd=tmp_path,
            env={**variables, "COLUMNS": "60"},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    run.mode = request.param  # type: ignore[attr-defined]
    return run


def test_from_an_experiment_to_its_results(
    podium: Podium, server: PodiumServer, tmp_path: Path
) -> None:
    name = f"{TOO_LONG}-{podium.mode}"  # type: ignore[attr-defined]
    made = podium("experiments", "create", name, "--agent", "a", "--model", "m", "--gpus", 1)
    assert made.returncode == 0, made.stderr
    assert name in podium("experiments", "list").stdout
    runs = podium(
        "runs", "create", "--experiment", name, "--competition", "tiny", "--seeds", 2,
        "--first-seed", 5, "--hours", 24, "--submissions-per-day", 3,
    )  # fmt: skip
    assert runs.returncode == 0, runs.stderr
    first, second = csv.DictReader(io.StringIO(runs.stdout))
    assert [first["seed"], second["seed"]] == ["5", "6"]
    with server.client(first["key"]) as agent:
        good = good_submission(server.data_dir.parent / "tiny", shift=0.12)
        sent = agent.post(
            f"/v1/runs/{first['run']}/submissions",
            content=good, headers={"Content-Type": "text/csv", "Prefer": "wait=30"},
        )  # fmt: skip
        assert sent.json()["state"] == "graded"

    listed = podium("runs", "list", "--experiment", name).stdout.splitlines()
    assert [line.split()[0] for line in listed[1:]] == [first["run"], second["run"]]
    assert "1 graded" in listed[1]
    assert "none" in listed[2]
    (limited, _) = json.loads(podium("runs", "list", "--experiment", name, "--json").stdout)
    limits = {name: value for name, value in limited["limits"].items() if value is not None}
    assert limits == {"hours": 24.0, "submissions_per_day": 3}

    results = podium("results", name).stdout.splitlines()
    assert [line.split()[:2] for line in results[1:]] == [["tiny", "5"], ["tiny", "6"]]
    assert "0.12" in results[1]
    assert "bronze" in results[1]
    rows = list(csv.DictReader(io.StringIO(podium("results", name, "--csv").stdout)))
    assert float(rows[0]["score"]) == pytest.approx(0.12)

    podium("experiments", "create", "measured", "--agent", "a", "--model", "m")
    assert "measured has no graded scores" in podium("uncertainty", "measured").stderr

    for command in ("results", "uncertainty"):
        markdown = podium(command, name, "--format", "markdown").stdout
        assert markdown.startswith("| competition | seed |")
        assert f"podium {command} {name}" in markdown.splitlines()[-1]
        flat = list(csv.DictReader(io.StringIO(podium(command, name, "--format", "csv").stdout)))
        assert float(flat[0]["score"]) == pytest.approx(0.12)
        assert "\\begin{tabular}" in podium(command, name, "--format", "latex").stdout
        document = json.loads(podium(command, name, "--format", "json").stdout)
        short = json.loads(podium(command, name, "--json").stdout)
        if command == "uncertainty":
            assert all(name in one.pop("origin")["query"] for one in (document, short))
        assert document == short
        file = tmp_path / f"{command}.parquet"
        podium(command, name, "--format", "parquet", "--out", str(file))
        assert pyarrow.parquet.read_table(file).num_rows == len(flat)
    if podium.mode == "here":  # type: ignore[attr-defined]  # reports are made beside the data
        soon = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
        now = json.loads(podium("report", name, "--padding", "fail", "--json").stdout)
        then = podium("report", name, "--padding", "fail", "--json", "--as-of", soon)
        assert json.loads(then.stdout)["groups"] == now["groups"]
        early = podium("report", name, "--as-of", "2020-01-01T00:00:00Z")
        assert early.returncode == 1
        assert early.stdout == ""
        assert "with a zone" in podium("report", name, "--as-of", "2026-05-01").stderr

    again = podium("runs", "new-key", second["run"], "--revoke-others")
    assert again.stdout.startswith("pod_run_")
    with server.client(second["key"]) as old, server.client(again.stdout.strip()) as new:
        assert old.get(f"/v1/runs/{second['run']}").status_code == 401
        assert new.get(f"/v1/runs/{second['run']}").status_code == 200

    assert podium("runs", "archive", second["run"], "--reason", "a test").returncode == 0
    assert second["run"] not in podium("runs", "list", "--experiment", name).stdout
    assert second["run"] in podium("runs", "list", "--archived").stdout
    assert podium("runs", "restore", second["run"], "--reason", "no").returncode == 0
    assert podium("runs", "close", "--experiment", name).stdout == "2 runs closed\n"
    assert first["run"] not in podium("runs", "list", "--state", "open").stdout


def test_a_run_that_had_no_failure_shows_the_kind_of_its_score(
    podium: Podium, server: PodiumServer
) -> None:
    name = f"no-failure-{podium.mode}"  # type: ignore[attr-defined]
    with server.client() as admin:
        body = {"experiment": name, "competition": "tiny"}
        made = admin.post("/v1/experiments", json={"name": name, "agent": "a", "model": "m"})
        assert made.status_code == 201
        good = good_submission(server.data_dir.parent / "tiny", shift=0.12)
        for seed, failure in enumerate(("none", "crash", "no_submission")):
            run = admin.post("/v1/runs", json={**body, "seed": seed}).json()["id"]
            if failure != "no_submission":
                headers = {"Content-Type": "text/csv", "Prefer": "wait=30"}
                admin.post(f"/v1/runs/{run}/submissions", content=good, headers=headers)
            done = admin.patch(f"/v1/runs/{run}", json={"state": "closed", "failure": failure})
            assert done.status_code == 200

    lines = podium("results", name).stdout.splitlines()

    assert [line.split()[:3] for line in lines[1:]] == [
        ["tiny", "0", "graded"], ["tiny", "1", "crash"], ["tiny", "2", "no_submission"],
    ]  # fmt: skip


def test_whole_ids_of_keys_of_one_role_can_be_copied(podium: Podium, server: PodiumServer) -> None:
    made = json.loads(podium("keys", "create", "researcher", "--name", "Ada", "--json").stdout)

    listed = podium("keys", "list", "--role", "researcher")
    lines = listed.stdout.splitlines()

    assert made["key"].startswith("pod_researcher_")
    assert made["id"] in [line.split()[0] for line in lines]
    assert "admin" not in listed.stdout
    assert "…" not in listed.stdout
    with server.client() as admin:
        over_http = {one["id"]: one for one in admin.get("/v1/keys?limit=1000").json()["items"]}
    assert made["created_at"] == over_http[made["id"]]["created_at"]  # times as over HTTP
    assert podium("keys", "revoke", made["id"]).returncode == 0


def test_what_cannot_be_made_is_a_sentence(podium: Podium) -> None:
    no_experiment = podium("runs", "create", "--experiment", "none", "--competition", "tiny")
    unknown = podium("runs", "create", "--experiment", "none", "--competition", "nowhere")

    suite = podium("runs", "create", "--experiment", "none", "--suite", "mine")
    no_suite = podium("runs", "create", "--experiment", "none", "--suite", "mle/bench")
    not_closed = podium("runs", "close", "--experiment", "none")
    not_listed = podium("runs", "list", "--experiment", "none")
    lists = [
        podium(*words, "none")
        for words in (("runs", "list", "--competition"), ("reviews", "list", "--competition"),
                      ("reviews", "list", "--experiment"), ("keys", "list", "--run"))
    ]  # fmt: skip

    for done in (no_experiment, unknown, suite, no_suite, not_closed, not_listed, *lists):
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
    assert "podium experiments create" in no_experiment.stderr
    assert "There is no experiment 'none'" in not_closed.stderr
    assert "There is no experiment 'none'" in not_listed.stderr
    for done, kind in zip(lists, ("competition", "competition", "experiment", "run"), strict=True):
        assert f"There is no {kind} 'none'" in done.stderr, done
    assert "There is no competition nowhere, or it is archived;" in unknown.stderr
    assert "`podium competitions list --archived`" in unknown.stderr
    assert "1 of 2 competitions are not imported: nowhere" in suite.stderr
    assert "There is no suite 'mle/bench'" in no_suite.stderr


def test_an_experiment_without_runs_lists_none(podium: Podium) -> None:
    name = f"without-runs-{podium.mode}"  # type: ignore[attr-defined]
    assert podium("experiments", "create", name, "--agent", "a", "--model", "m").returncode == 0

    listed = podium("runs", "list", "--experiment", name)

    assert (listed.returncode, listed.stdout, listed.stderr) == (0, "", "no runs\n")


def test_keys_of_runs_before_one_that_cannot_be_made_are_printed(
    podium: Podium, server: PodiumServer
) -> None:
    """They are shown once, and the same command would make no run of these seeds again."""
    name = f"in-part-{podium.mode}"  # type: ignore[attr-defined]
    podium("experiments", "create", name, "--agent", "a", "--model", "m")
    wanted = ("runs", "create", "--experiment", name, "--competition", "tiny")
    assert podium(*wanted, "--first-seed", 2).returncode == 0

    broken = podium(*wanted, "--seeds", 3)
    as_json = podium(*wanted, "--first-seed", -1, "--seeds", 3, "--json")

    assert broken.returncode == as_json.returncode == 1
    first, second = csv.DictReader(io.StringIO(broken.stdout))
    (third,) = json.loads(as_json.stdout)
    assert [one["seed"] for one in (first, second, third)] == ["0", "1", -1]
    for made in (first, second, third):
        with server.client(made["key"]) as agent:
            assert agent.get(f"/v1/runs/{made['run']}").status_code == 200
    assert "2 runs were made before this, and their keys are printed" in words(broken.stderr)
    assert "has a run of seed 2 at tiny" in words(broken.stderr)
    nothing = podium(*wanted, "--first-seed", 1)
    assert (nothing.returncode, nothing.stdout) == (1, "")


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_name_with_a_percent_sign_is_not_another_name(podium: Podium) -> None:
    """%62 is a b in an address, and what comes after ? or # is no part of its path."""
    names = ("tab", "ta%62", "mine?", "mine#1")
    for name in names:
        podium("experiments", "create", name, "--agent", "a", "--model", "m")

    for name in names[1:]:
        done = podium("experiments", "archive", name, "--reason", "a test")
        assert done.returncode == 0, done.stderr

    listed = [one["name"] for one in json.loads(podium("experiments", "list", "--json").stdout)]
    assert "tab" in listed
    assert not set(names[1:]) & set(listed)
    for name in names[1:]:
        assert podium("experiments", "restore", name, "--reason", "a test").returncode == 0


def test_an_address_has_a_name_in_each_part() -> None:
    for part in ("", ".", ".."):
        with pytest.raises(Invalid, match="is empty or means a folder"):
            path_to("keys", part)


def test_a_podium_that_does_not_answer_is_named(tmp_path: Path) -> None:
    done = run_podium(
        ["runs", "list", "--url", "http://127.0.0.1:9",
         "--key", "x"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    assert done.returncode == 1
    told = "http://127.0.0.1:9 (--url, PODIUM_URL) does not answer: Connection refused."
    assert told in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []


class OtherService(BaseHTTPRequestHandler):
    """A service at a mistyped address: each path answers with its last part as JSON.

    Paths below /v1 answer with an object of another service.
    """

    def do_GET(self) -> None:
        answer = unquote(self.path.partition("?")[0].rpartition("/")[2]).encode()
        if self.path.startswith("/v1/"):
            answer = b'{"status": "welcome"}'
        self.send_response(301 if answer.startswith(b"https://") else 200)
        self.send_header("Location", answer.decode("latin-1").partition("\n")[0][:99])
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_DELETE = do_PATCH = do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def other_service() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), OtherService) as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{service.server_port}"
        service.shutdown()
        thread.join()


class AwayAfterTwo(BaseHTTPRequestHandler):
    """A proxy whose server is away after two changes."""

    server_url = ""
    changes = 0

    def do_GET(self) -> None:
        type(self).changes += self.command == "PATCH"
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, answer = 502, b"away"
        if self.changes <= 2:
            kept = ("Authorization", "Content-Type")
            headers = {one: self.headers[one] for one in kept if one in self.headers}
            url = self.server_url + self.path
            got = httpx.request(self.command, url, content=body, headers=headers)
            status, answer = got.status_code, got.content
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status == 200 else "text/html")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_PATCH = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("form", "told"), [((), "2 runs closed\n"), (("--json",), '"closed"')], ids=["text", "json"]
)
def test_runs_that_were_closed_before_an_error_are_told(
    server: PodiumServer, tmp_path: Path, form: tuple[str, ...], told: str
) -> None:
    class Proxy(AwayAfterTwo):
        server_url = server.url

    name = f"half-closed-{len(form)}"
    with server.client() as admin:
        admin.post("/v1/experiments", json={"name": name, "agent": "a", "model": "m"})
        for seed in range(3):
            body = {"experiment": name, "competition": "tiny", "seed": seed}
            assert admin.post("/v1/runs", json=body).status_code == 201
        with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            done = run_podium(
                ["runs", "close", "--experiment", name, *form,
                 "--url", f"http://127.0.0.1:{proxy.server_port}", "--key", server.key],
                cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
            )  # fmt: skip
            proxy.shutdown()
        closed = admin.get(f"/v1/runs?experiment={name}&state=closed").json()["items"]

    assert done.returncode == 1
    assert "it answered 502" in done.stderr
    assert told in done.stdout
    assert len(closed) == 2
    if form:
        assert sorted(json.loads(done.stdout)["closed"]) == sorted(one["id"] for one in closed)


def test_a_redirection_is_named(other_service: str) -> None:
    with (
        remote(other_service, "key") as there,
        pytest.raises(PodiumError, match="sends to https://podium: name the address"),
    ):
        there.post(f"/{quote('https://podium', safe='')}", {})


@pytest.mark.parametrize(
    ("words", "lacks"),
    [
        ("keys revoke key_1", "id"),
        ("keys revoke key_1 --json", "id"),
        ("keys create researcher --json", "key"),
        ("runs new-key run_1 --json", "key"),
        ("runs list --json", "items"),
        ("results first --json", "items"),
        ("reviews show run_1", "signals"),
        ("experiments create first --agent a --model m --json", "name"),
        ("experiments amend first --agent a --reason r --json", "after"),
        ("receipts issue first --json", "items"),
    ],
)
def test_nothing_is_done_by_a_service_that_is_no_podium(
    other_service: str, words: str, lacks: str
) -> None:
    done = run_podium(
        [*words.split(), "--url", other_service, "--key", "x"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (1, "")
    assert f"an answer without '{lacks}', which a Podium of this version does not" in done.stderr


@pytest.mark.parametrize(
    "answer", ["[]", "null", "{}", '{"items": null}', '{"items": [1]}', "[" * 20_000, "{", "NaN"]
)
def test_answers_of_a_service_that_is_no_podium_are_refused(
    other_service: str, answer: str
) -> None:
    with remote(other_service, "key") as there, pytest.raises(PodiumError, match="URL"):
        list(there.items(f"/{quote(answer, safe='[')}"))


@pytest.mark.parametrize("name", ["x" * 70_000, "\udcff"])
def test_a_name_that_fits_no_address_is_refused(podium: Podium, name: str) -> None:
    done = podium("experiments", "amend", name, "--agent", "b", "--reason", "a test")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_a_reason_that_is_no_utf_8_is_refused(podium: Podium) -> None:
    """It goes to the public log in a record, which could not be written."""
    podium("experiments", "create", "in-latin-1", "--agent", "a", "--model", "m")

    done = podium("experiments", "archive", "in-latin-1", "--reason", "a \udcff b")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "utf-8" in done.stderr.lower()


@pytest.mark.parametrize(
    ("url", "key", "error", "said"),
    [
        ("http://x", "", Unauthorized, "A key is needed"),
        ("x:7777", "k", Invalid, "write http://host:port"),
    ],
)
def test_an_address_needs_a_key_and_a_scheme(
    url: str, key: str, error: type[PodiumError], said: str
) -> None:
    with pytest.raises(error, match=said):
        remote(url, key)
