"""Nothing that a run's key can reach depends on the private answers.

The same requests go to two competitions that differ in their answers alone. Apart from ids and
times, the answers over HTTP must be the same bytes; under the policy `public` they may differ in
the public score. Nor does a run's key see what an admin wrote for readers of results.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import CSV, Podium, Run
from tests.factories import good_submission, write_competition
from tests.server import PodiumServer

TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")
# These differ between any two runs, whatever their answers are.
VOLATILE = [
    (re.compile(r"(run|sub|key)_[0-9a-f]{26}"), "ID"),
    (TIME, "TIME"),
    (re.compile(r'"run_seconds":[0-9.e-]+'), '"run_seconds":0'),
    (re.compile(r"experiment-[0-9-]+"), "EXPERIMENT"),
    (re.compile(r'"request_id":"[^"]+"'), ""),
]
BAD_FILES = {
    "not_csv": b"id,target\nr1,1,2,3\n",
    "empty_file": b"",
    "encoding": "id,target\nr1,1\n".encode("utf-16"),
    "missing_column": b"id,other\nr1,1\n",
    "duplicate_column": b"id,target,target\nr1,1,1\n",
    "row_count": b"id,target\n",
    "missing_id": b"id,target\nr1,1\n",
    "unknown_id": b"id,target\nx1,1\n",
    "duplicate_id": b"id,target\nr1,1\nr1,1\n",
    "missing_value": b"id,target\nr1,\n",
    "not_a_number": b"id,target\nr1,abc\n",
    "not_finite": b"id,target\nr1,inf\n",
    "out_of_range": b"id,target\nr1,99999\n",
}
COLUMNS = {"target": {"kind": "number", "min": -1000, "max": 1000}}
Transcript = list[tuple[str, str]]  # requests and their answers, which are normalised


@pytest.fixture
def twins(podium: Podium, tmp_path: Path) -> tuple[Path, Path]:
    """One slug, imported twice: two versions with the same files but other answers."""
    slug = podium.folder().name
    shutil.rmtree(podium.folders / slug)
    return tuple(  # type: ignore[return-value]
        write_competition(tmp_path / name / slug, columns=COLUMNS, seed=seed)
        for name, seed in (("one", 1), ("two", 2))
    )


@pytest.mark.parametrize("policy", ["none", "validity", "search", "public"])
def test_a_runs_answers_do_not_depend_on_private_answers(
    podium: Podium, twins: tuple[Path, Path], policy: str
) -> None:
    one, two = twins
    assert (one / "private/answers.csv").read_bytes() != (two / "private/answers.csv").read_bytes()
    file = good_submission(one, shift=0.5)

    transcripts = []
    for folder in twins:
        assert podium.send_folder(folder).status_code == 201
        run = podium.run(folder, feedback=policy)
        transcripts.append(everything_a_run_can_ask(run, folder.name, file))

    for first, second in zip(*transcripts, strict=True):
        asked, answer = first
        other = second[1]
        if policy == "public":
            assert hidden(answer, "public_score") == hidden(other, "public_score"), asked
        else:
            assert answer == other, asked
    if policy == "public":
        assert public_scores(transcripts[0]) != public_scores(transcripts[1])


@pytest.fixture(scope="module")
def searched(
    server: PodiumServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str, str | None], Transcript]]:
    """What a run of a policy can learn, with the answers or with others in the rows of one usage.

    Each is asked once: that of unchanged answers is compared with several.
    """
    home = tmp_path_factory.mktemp("searched")
    with contextlib.ExitStack() as clients:
        podium = Podium(server, home, clients)

        @functools.cache
        def transcript(policy: str, changed: str | None) -> Transcript:
            slug = f"searched-{policy}-{os.getpid()}"
            usage = ("Search", "Private", "Public")
            folder = write_competition(
                home / str(changed) / slug, columns=COLUMNS, seed=1, usage=usage
            )
            file = good_submission(folder, shift=0.5)
            answers = folder / "private" / "answers.csv"
            lines = answers.read_text().splitlines()
            if changed is not None:
                assert sum(line.endswith(changed) for line in lines) > 1
                lines = [f"{line.split(',')[0]},7.5,{changed}" if line.endswith(changed) else line
                         for line in lines]  # fmt: skip
                answers.write_text("\n".join(lines) + "\n")
            assert podium.send_folder(folder).status_code == 201
            run = podium.run(folder, feedback=policy)
            return everything_a_run_can_ask(run, slug, file)

        yield transcript


@pytest.mark.parametrize("policy", ["none", "validity", "search", "public"])
@pytest.mark.parametrize("differs", ["Search", "Private"])
def test_rows_to_search_on_are_told_by_the_policy_search_alone_and_tell_of_no_other_row(
    searched: Callable[[str, str | None], Transcript], policy: str, differs: str
) -> None:
    transcripts = [searched(policy, rows) for rows in (None, differs)]

    told = [re.findall(r'"search_score":([0-9.]+)', "".join(a for _, a in t)) for t in transcripts]
    if policy == "search" and differs == "Search":
        assert told[0]
        assert told[0] != told[1]
        transcripts = [[(q, hidden(a, "search_score")) for q, a in t] for t in transcripts]
    for (asked, answer), (_, other) in zip(*transcripts, strict=True):
        assert answer == other, asked
    assert bool(told[0]) == (policy == "search")


GRADE = (
    "score",
    "search_score",
    "public_score",
    "medal",
    "better",
    "equal",
    "worse",
    "percentile",
    "above_median",
)


def test_a_harness_sees_of_the_answers_the_grades_of_its_runs_alone(
    podium: Podium, twins: tuple[Path, Path]
) -> None:
    file = good_submission(twins[0], shift=0.5)

    transcripts = []
    for folder in twins:
        assert podium.send_folder(folder).status_code == 201
        run = podium.run(folder, feedback="none")
        transcripts.append(everything_a_run_can_ask(by_harness(podium, run), folder.name, file))

    graded = 0
    for (asked, answer), (_, other) in zip(*transcripts, strict=True):
        graded += answer != other
        for field in GRADE:
            answer, other = hidden_value(answer, field), hidden_value(other, field)
        assert answer == other, asked
    assert graded


def test_a_harness_sees_nothing_of_another_experiments_runs(
    podium: Podium, twins: tuple[Path, Path]
) -> None:
    file = good_submission(twins[0], shift=0.5)

    for folder in twins:
        assert podium.send_folder(folder).status_code == 201
        run = podium.run(folder, feedback="full")
        sent = run.submit(file).json()["id"]
        harness = podium.client(podium.harness_key(podium.experiment()))
        for path in ("", "/submissions", "/exposure", "/events", "/trajectory"):
            assert harness.get(f"/v1/runs/{run.id}{path}").status_code in (403, 404), path
        for path in (f"/v1/submissions/{sent}", f"/v1/submissions/{sent}/file"):
            assert harness.get(path).status_code in (403, 404), path


def by_harness(podium: Podium, run: Run) -> Run:
    """The run, asked with the key of a harness of its experiment."""
    key = podium.harness_key(run.document["experiment"])
    return Run(run.id, run.document, podium.client(key))


def hidden_value(answer: str, field: str) -> str:
    return re.sub(rf'"{field}":([-0-9.e]+|true|false|null|"[a-z]+")', f'"{field}":0', answer)


WRITTEN_FOR_READERS = """
category = "kept-category"
complexity = "high"
tags = ["kept-tag"]
[[flags]]
code = "kept_code"
note = "kept-note: the labels lie in train.csv"
"""


@pytest.mark.parametrize(
    ("policy", "harness"),
    [("none", False), ("validity", False), ("public", False), ("full", False), ("public", True)],
)
def test_a_run_sees_nothing_that_was_written_for_readers_of_results(
    podium: Podium, tmp_path: Path, policy: str, harness: bool
) -> None:
    folder = write_competition(tmp_path / podium.folder().name, columns=COLUMNS)
    toml = folder / "competition.toml"
    top, rest = toml.read_text().split("[", 1)
    head, flags = WRITTEN_FOR_READERS.split("[[", 1)
    toml.write_text(f"{top}{head}[{rest}\n[[{flags}")
    assert podium.send_folder(folder).status_code == 201
    run = podium.run(folder, feedback=policy)
    run = by_harness(podium, run) if harness else run

    seen = everything_a_run_can_ask(run, folder.name, good_submission(folder))
    admins = podium.admin.get(f"/v1/competitions/{folder.name}").json()

    assert admins["flags"] == [{"code": "kept_code", "note": admins["flags"][0]["note"]}]
    assert "kept-note" in admins["flags"][0]["note"]
    assert admins["tags"] == ["kept-tag"]
    hidden_words = ["kept-note", "kept-tag", *([] if policy == "full" else ["kept_code"])]
    for asked, answer in seen:
        assert not [word for word in hidden_words if word in answer], (asked, answer)
        assert '"suites":["' not in answer, asked
        assert '"complexity":"high"' not in answer, asked


def everything_a_run_can_ask(run: Run, slug: str, file: bytes) -> Transcript:
    """Every endpoint and every violation code, as (request, normalised answer)."""
    transcript: Transcript = []

    def ask(method: str, path: str, **more: Any) -> str:
        response = run.client.request(method, path, **more)
        transcript.append((f"{method} {path}", normalised(response)))
        return response.text

    submissions = f"/v1/runs/{run.id}/submissions"
    experiment = run.document["experiment"]
    waiting = {**CSV, "Prefer": "wait=30"}
    sent = json.loads(ask("POST", submissions, content=file, headers=waiting))["id"]
    for code, bad in BAD_FILES.items():
        stored = ask("POST", submissions, content=bad, headers=waiting)
        if json.loads(stored)["state"] == "rejected":
            assert code in stored
        assert code in ask("POST", f"/v1/runs/{run.id}/validate", content=bad, headers=CSV)
    ask("POST", f"/v1/runs/{run.id}/validate", content=file, headers=CSV)
    for path in ("", "/description", "/files", "/sample-submission", "/leaderboard",
                 "/standing?score=0.5", "/files/train.csv", "/files/answers.csv"):  # fmt: skip
        ask("GET", f"/v1/competitions/{slug}{path}")
    for path in ("/v1/competitions", "/v1/runs", f"/v1/runs/{run.id}", submissions,
                 f"/v1/submissions/{sent}", f"/v1/submissions/{sent}/file",
                 f"/v1/submissions/{sent}/uncertainty", f"/v1/experiments/{experiment}/uncertainty",
                 f"/v1/runs/{run.id}/exposure", f"/v1/runs/{run.id}/reported-scores",
                 f"/v1/runs/{run.id}/trajectory", f"/v1/experiments/{experiment}/success-rates",
                 f"/v1/runs/{run.id}/receipts", f"/v1/experiments/{experiment}/receipts",
                 f"/v1/experiments/{experiment}/freeze", "/v1/log/entries/0", "/v1/receipts/rcp_x",
                 f"/v1/experiments/{experiment}/outcomes", f"/v1/competitions/{slug}/results",
                 f"/v1/competitions/{slug}/regrades", "/v1/regrades/rgr_x",
                 "/v1/experiments", "/openapi.json", "/SKILL.md", "/llms.txt"):  # fmt: skip
        ask("GET", path)
    for page in ("/", f"/experiments/{experiment}", f"/experiments/{experiment}/medals-over-time",
                 f"/runs/{run.id}", f"/submissions/{sent}", f"/competitions/{slug}",
                 "/competitions", "/compare", "/operations", "/suites", "/suites/mle-bench",
                 "/suites/mle-bench/items", "/operations/keys", "/operations/imports",
                 f"/experiments/{experiment}/receipts", f"/runs/{run.id}/changes",
                 f"/runs/{run.id}/close", f"/comparison.svg?a={experiment}&b=x", "/cost.vl.json",
                 f"/experiments/{experiment}/heat-map.vl.json", "/suites/mle-bench/medal-rates.svg",
                 "/suites/mle-bench/medal-rates.png", "/suites/mle-bench/medal-rates.pdf",
                 f"/experiments/{experiment}/heat-map.png", "/cost.pdf", "/operations/reviews",
                 f"/operations/reviews/{run.id}", "/operations/imports/imp_x",
                 f"/experiments/{experiment}/medals-over-time.vl.json",
                 f"/competitions/{slug}/leaderboard.vl.json"):  # fmt: skip
        ask("GET", page, headers={"Accept": "text/html"})
        assert transcript[-1][1].startswith("[403,"), page
        if "." not in page:
            for form in ("csv", "json"):
                ask("GET", f"{page}?format={form}", headers={"Accept": "text/html"})
                assert transcript[-1][1].startswith(("[403,", "[422,")), page
    ask("POST", f"/v1/runs/{run.id}/reported-scores", json={"score": 1, "evidence": {"file": "f"}})
    evaluated = f"/v1/experiments/{experiment}/mlagentbench-results?competition={slug}"
    ask("POST", evaluated, content=b"{}")
    ask("PUT", f"/v1/runs/{run.id}/selected", json={"submission": sent})
    ask("PATCH", f"/v1/runs/{run.id}", json={"state": "closed"})
    ask("POST", f"/v1/runs/{run.id}/receipts")
    ask("POST", f"/v1/experiments/{experiment}/receipts", json={})
    return transcript


@pytest.mark.parametrize("policy", ["none", "validity", "public"])
def test_a_closed_runs_receipt_tells_its_key_and_the_public_nothing(
    podium: Podium, twins: tuple[Path, Path], policy: str
) -> None:
    """Two runs with other answers, and a third whose file is rejected: each adds one entry."""
    file, anybody = good_submission(twins[0], shift=0.5), podium.client()
    seen = []
    for folder, sent in ((twins[0], file), (twins[1], file), (twins[1], b"id,target\nr1,x\n")):
        assert podium.send_folder(folder).status_code in (200, 201)
        run = podium.run(folder, feedback=policy)
        submission = run.submit(sent).json()["id"]
        while podium.admin.get(f"/v1/submissions/{submission}").json()["state"] in (
            "queued", "grading",
        ):  # fmt: skip
            time.sleep(0.05)
        podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
        [receipt] = podium.admin.get(f"/v1/runs/{run.id}/receipts").json()["items"]
        stated = podium.admin.get(f"/v1/receipts/{receipt['id']}").json()["predicate"]
        answers = [run.client.get(f"/v1/runs/{run.id}/receipts")]
        answers += [
            run.client.get(f"/v1/receipts/{receipt['id']}{ending}")
            for ending in ("", ".sig", ".dsse")
        ]
        entry = anybody.get(f"/v1/log/entries?start={receipt['index']}&limit=1")
        proof = anybody.get(f"/v1/log/proofs/inclusion?receipt={receipt['id']}")
        for public in (entry, proof):
            told = TIME.sub("", public.text)  # its digits may be those of a score
            for hidden_fact in (run.id, submission, stated["score"] or "rejected", folder.name):
                assert hidden_fact not in told
        leaf = json.loads(entry.json()["items"][0]["leaf"])
        shown = [re.sub(receipt["id"], "ID", normalised(one)) for one in answers]
        seen.append((shown, sorted(leaf), leaf["kind"]))
        assert [one.status_code for one in answers] == [200, 404, 404, 404]
    assert seen[0] == seen[1] == seen[2]


def normalised(response: Any) -> str:
    lasting = {
        name: value for name, value in response.headers.items()
        if name not in ("date", "x-request-id", "last-modified")
    }  # fmt: skip
    shown = json.dumps([response.status_code, lasting]) + response.text
    shown = re.sub(r'"content-length": "\d+"', "", shown)  # numbers of other lengths: times, ids
    for pattern, replacement in VOLATILE:
        shown = pattern.sub(replacement, shown)
    # Two imports of one slug are two versions: that number is how many there were, not an answer.
    return re.sub(r'"(version|competition_version)":\d+', r'"\1":0', shown)


def hidden(answer: str, field: str) -> str:
    return re.sub(rf'"{field}":[-0-9.e]+', f'"{field}":0', answer)


def public_scores(transcript: Transcript) -> list[str]:
    return [s for _, answer in transcript for s in re.findall(r'"public_score":[-0-9.e]+', answer)]
