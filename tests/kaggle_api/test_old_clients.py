"""kaggle 1.5.16, 1.6.17, which MLE-bench pins, and 1.7.4.5, by the variables of the manual."""

from __future__ import annotations

import base64
import zipfile

import pytest

from tests.factories import good_submission
from tests.kaggle_api.agent import bearer, told
from tests.kaggle_api.test_bad_calls import BODIES, is_refusal
from tests.kaggle_api.test_commands import rows
from tests.kaggle_api.test_proxy import NOBODY, forwarding
from tests.server import free_port

pytestmark = pytest.mark.parametrize("server", ["sqlite"], indirect=True)
REST = ["kaggle-1.6.17", "kaggle-1.7.4.5"]
CLIENTS = pytest.mark.parametrize("client", REST)


def csv_of(text: str) -> list[dict[str, str]]:
    """The table in the output: kaggle 1.7 prints each request and answer before it."""
    header = ("ref,", "name,", "fileName,", "teamId,")
    lines = text.splitlines()
    (first,) = (n for n, line in enumerate(lines) if line.startswith(header))
    return rows("\n".join(lines[first:]))


@CLIENTS
def test_list_files_and_download(podium, make_agent, client):
    folder = podium.folder()
    (folder / "public" / "images").mkdir()
    (folder / "public" / "images" / "1.png").write_bytes(b"a picture")
    assert podium.send_folder(folder).status_code == 201
    podium.competition()  # another one, which this run does not see
    agent = make_agent(podium.run(folder).document["key"], client)

    listed = agent.kaggle("list", "-v")
    files = agent.kaggle("files", folder.name, "-v")
    everything = agent.kaggle("download", folder.name)
    again = agent.kaggle("download", folder.name)
    one = agent.kaggle("download", folder.name, "-f", "train.csv")
    nested = agent.kaggle("download", folder.name, "-f", "images/1.png")
    missing = agent.kaggle("download", folder.name, "-f", "answers.csv")

    assert [row["ref"] for row in csv_of(listed.stdout)] == [folder.name], told(listed)
    assert {row["name"] for row in csv_of(files.stdout)} == {
        "sample_submission.csv", "train.csv", "images/1.png"
    }  # fmt: skip
    assert [ran.returncode for ran in (everything, again, one, nested, missing)] == [0, 0, 0, 0, 1]
    assert "Skipping" in told(again)
    with zipfile.ZipFile(agent.home / f"{folder.name}.zip") as packed:
        for name in packed.namelist():
            assert packed.read(name) == (folder / "public" / name).read_bytes()
    assert (agent.home / "train.csv").read_bytes() == (folder / "public/train.csv").read_bytes()
    assert (agent.home / "1.png").read_bytes() == b"a picture"
    assert "has no public file 'answers.csv'" in told(missing)
    assert "Traceback" not in told(missing)


def test_kaggle_1_5_lists_the_files_that_it_downloads(podium, tiny, good, make_agent):
    agent = make_agent(podium.run(tiny).document["key"], "kaggle-1.5.16")
    agent.write("s.csv", good)

    files = agent.kaggle("files", tiny.name, "-v")
    one = agent.kaggle("download", tiny.name, "-f", "train.csv")
    sent = agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "m")
    listed = agent.kaggle("submissions", tiny.name, "-v")
    missing = agent.kaggle("files", "nothing", "-v")

    assert {row["name"] for row in csv_of(files.stdout)} == {
        "sample_submission.csv", "train.csv"
    }, told(files)  # fmt: skip
    assert (agent.home / "train.csv").read_bytes() == (tiny / "public/train.csv").read_bytes()
    assert [ran.returncode for ran in (one, sent, listed, missing)] == [0, 0, 0, 1]
    assert [row["status"] for row in csv_of(listed.stdout)] == ["complete"]
    assert f"run is at the competition {tiny.name}" in told(missing)


@CLIENTS
@pytest.mark.parametrize("policy", ["none", "public", "full"])
def test_submit_submissions_and_leaderboard(podium, tiny, good, make_agent, client, policy):
    run = podium.run(tiny, feedback=policy)
    agent = make_agent(run.document["key"], client)
    agent.write("model_a.csv", good)

    sent = agent.kaggle("submit", tiny.name, "-f", "model_a.csv", "-m", "first, é")
    listed = csv_of(agent.kaggle("submissions", tiny.name, "-v").stdout)
    board = csv_of(agent.kaggle("leaderboard", tiny.name, "--show", "-v").stdout)
    packed = agent.kaggle("leaderboard", tiny.name, "--download", "-p", "board")

    assert sent.returncode == 0, told(sent)
    assert "Successfully submitted to Tiny" in sent.stdout
    (line,) = listed
    assert (line["fileName"], line["description"]) == ("model_a.csv", "first, é")
    assert line["status"].lower().endswith("complete")
    shown = (line["publicScore"] not in ("", "None"), line["privateScore"] not in ("", "None"))
    assert shown == (policy != "none", policy == "full")
    assert len(board) == (12 if policy == "full" else 1)
    assert packed.returncode == 0, told(packed)
    assert zipfile.is_zipfile(agent.home / "board" / f"{tiny.name}.zip")
    (kept,) = run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    assert kept["message"] == "first, é"


@CLIENTS
def test_every_refusal_is_one_sentence(podium, tiny, good, make_agent, client):
    run = podium.run(tiny, limits={"submissions_per_day": 1})
    other = podium.competition()
    agent = make_agent(run.document["key"], client)
    agent.write("good.csv", good)
    agent.write("bad.csv", b"id,target\nr1,x\n")
    submit = lambda name: agent.kaggle("submit", tiny.name, "-f", name, "-m", "m")  # noqa: E731

    refused = [
        (submit("bad.csv"), "not a valid submission. (1) "),
        (agent.kaggle("files", other.name), f"run is at the competition {tiny.name}"),
    ]
    assert submit("good.csv").returncode == 0
    refused.append((submit("good.csv"), "may send 1 submissions in 24 hours"))
    stranger = make_agent("pod_run_wrong", client)
    refused.append((stranger.kaggle("files", tiny.name), "key"))
    elsewhere = agent.run("datasets", "list")
    refused.append((elsewhere, "Podium does not serve GET /api/v1/datasets/list"))

    for ran, words in refused:
        assert ran.returncode == 1, told(ran)
        assert words in told(ran)
        assert "Traceback" not in told(ran)


@CLIENTS
def test_a_researchers_key_looks_and_does_not_submit(podium, tiny, good, make_agent, client):
    agent = make_agent(podium.researcher_key(), client)
    agent.write("s.csv", good)

    files = agent.kaggle("files", tiny.name, "-v")
    sent = agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "m")

    assert "train.csv" in files.stdout
    assert (sent.returncode, "Submissions belong to a run" in told(sent)) == (1, True)


@CLIENTS
def test_a_wrong_key_is_told_with_the_variable_that_has_it(tiny, make_agent, client):
    told_of_key = told(make_agent("pod_run_wrong", client).kaggle("files", tiny.name))

    assert "This key is not known here. Set KAGGLE_KEY, or KAGGLE_API_TOKEN, to" in told_of_key
    assert "Authorization: Bearer <key>" not in told_of_key


def test_1_7_takes_an_api_token(podium, tiny, make_agent):
    key = podium.run(tiny).document["key"]
    both = lambda key: {**bearer(key), "KAGGLE_USERNAME": "any", "KAGGLE_KEY": "any"}  # noqa: E731
    agent = make_agent(key, "kaggle-1.7.4.5", both)

    assert "train.csv" in agent.kaggle("files", tiny.name, "-v").stdout


def test_the_python_package_of_mle_bench_works(podium, tiny, make_agent):
    run = podium.run(tiny, feedback="public")
    agent = make_agent(run.document["key"], REST[0])
    agent.write("s.csv", good_submission(tiny))

    ran = agent.python(f"""
from kaggle.api.kaggle_api_extended import KaggleApi
api = KaggleApi()
api.authenticate()
api.competition_download_files("{tiny.name}", path="data", quiet=True)
print(api.competition_submit("s.csv", "from python", "{tiny.name}"))
(one,) = api.competition_submissions("{tiny.name}")
print(one.status, one.publicScore)
(line,) = api.competition_leaderboard_view("{tiny.name}")
""")

    assert ran.returncode == 0, told(ran)
    assert ran.stdout.strip().splitlines()[-1].startswith("complete 0.")


@pytest.mark.parametrize(
    "client",
    ["kaggle-1.5.16", *REST, "kaggle-1.8.4", "kaggle-2.0.2", "kaggle-2.1.2", "kaggle-2.2.5"],
)
def test_no_client_opens_a_connection_elsewhere(podium, tiny, make_agent, client):
    """The documented variables lead every version here: a name lookup would end it."""
    agent = make_agent(podium.run(tiny).document["key"], client)
    (agent.home / "sitecustomize.py").write_text(
        "import socket\n"
        "ask = socket.getaddrinfo\n"
        "def only_here(host, *more, **named):\n"
        "    if host not in ('127.0.0.1', 'localhost'):\n"
        "        raise SystemExit(f'looked up {host}')\n"
        "    return ask(host, *more, **named)\n"
        "socket.getaddrinfo = only_here\n"
    )
    agent.is_started = True  # only a start reads sitecustomize.py
    agent.extra["PYTHONPATH"] = str(agent.home)

    ran = agent.kaggle("files", tiny.name, "-v")
    agent.extra |= {"KAGGLE_API_ENVIRONMENT": "", "KAGGLE_API_ENDPOINT": "https://www.kaggle.com"}
    away = agent.kaggle("files", tiny.name, "-v")

    assert "train.csv" in ran.stdout, told(ran)
    assert "looked up" in told(away)  # so the trap works


def test_broken_forms_and_queries_are_refused(podium, tiny):
    run, base = podium.run(tiny), "/api/v1/competitions"
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    for body in (b"", b"--x", b"\xff" * 99, *BODIES):
        for path in ("submission-url", f"submissions/submit/{tiny.name}",
                     f"{tiny.name}/submissions/url/5/1"):  # fmt: skip
            for headers in ({}, form):
                answer = run.client.post(f"{base}/{path}", content=body, headers=headers)
                if answer.status_code >= 400:
                    is_refusal(answer)
    for path in (f"{tiny.name}/submissions/url/-5/1", f"{tiny.name}/submissions/url/9e9/1",
                 "submissions/submit/..%2F..", "nothing/submissions/url/1/1"):  # fmt: skip
        is_refusal(run.client.post(f"{base}/{path}", files={"fileName": (None, "s.csv")}))
    for path in ("list?page=x", "list?pageSize=-1", "list?pageToken=%00", "data/list/none",
                 f"data/download/{tiny.name}/..%2Fprivate%2Fanswers.csv"):  # fmt: skip
        is_refusal(run.client.get(f"{base}/{path}"))


def test_only_kaggle_1_7_gets_errors_with_status_200(podium, tiny):
    run = podium.run(tiny)
    ask = lambda agent: run.client.get(  # noqa: E731
        "/api/v1/competitions/data/list/none", headers={"User-Agent": agent}
    )

    old, usual = ask("kaggle-api/v1.7.0"), ask("Swagger-Codegen/1/python")

    assert (old.status_code, usual.status_code) == (200, 404)
    assert old.json() == usual.json()


def test_the_key_is_not_printed_behind_the_forwarder(podium, tiny, make_agent, tmp_path):
    """kaggle 1.7 prints its Authorization header, so behind `podium proxy` it has no key."""
    run = podium.run(tiny)
    key = run.document["key"]
    with forwarding(podium.server.url, key, tmp_path, free_port()) as address:
        agent = make_agent(key, REST[1], lambda key: NOBODY, address)
        said = told(agent.kaggle("files", tiny.name, "-v"))

    assert "train.csv" in said
    assert key not in said
    assert base64.b64encode(f"agent:{key}".encode()).decode() not in said
