"""Receipts over HTTP: what is signed, who may read it, and what verifiers say of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import time
from pathlib import Path

import pytest

from app.receipts.allowed_signers import read_allowed_signers
from app.receipts.check import Trust, check_consistency, check_inclusion, check_receipt
from app.receipts.errors import BadReceipt
from tests.api.conftest import Podium, Run
from tests.factories import good_submission
from tests.forkserver import run_podium
from tests.server import PodiumServer

POLICIES = ["none", "validity", "public", "full"]


def closed(podium: Podium, folder: Path, feedback: str = "none", **more) -> tuple[Run, dict]:
    """A run with one graded submission that was closed, and that submission as an admin sees it."""
    run = podium.run(folder, feedback=feedback, **more)
    sent = run.submit(good_submission(folder, shift=0.12)).json()["id"]
    podium.settled(sent)
    assert close(podium, run.id) == 200
    return run, podium.admin.get(f"/v1/submissions/{sent}").json()


def close(podium: Podium, run: str) -> int:
    return podium.admin.patch(f"/v1/runs/{run}", json={"state": "closed"}).status_code


def receipts_of(podium: Podium, run: str) -> list[dict]:
    found = podium.admin.get(f"/v1/runs/{run}/receipts")
    assert found.status_code == 200, found.text
    return found.json()["items"]


def trust_in(podium: Podium) -> Trust:
    text = podium.client().get("/.well-known/podium/allowed_signers")
    assert text.status_code == 200
    return Trust(read_allowed_signers(text.text))


def checked(podium: Podium, receipt: str) -> dict:
    """The predicate of a receipt whose signature is good."""
    data = podium.admin.get(f"/v1/receipts/{receipt}")
    signature = podium.admin.get(f"/v1/receipts/{receipt}.sig")
    assert data.headers["content-type"] == "application/vnd.in-toto+json"
    found = check_receipt(data.content, signature.text, trust_in(podium))
    return {"subject": found.statement["subject"], **found.statement["predicate"]}


def test_a_closed_run_has_a_receipt_of_its_grade(podium: Podium, tiny: Path) -> None:
    run, grade = closed(podium, tiny)

    [receipt] = receipts_of(podium, run.id)
    stated = checked(podium, receipt["id"])

    file = good_submission(tiny, shift=0.12)
    [subject] = stated["subject"]
    assert subject["digest"] == {"sha256": hashlib.sha256(file).hexdigest()}
    assert stated["id"] == receipt["id"]
    assert stated["score"] == repr(grade["grade"]["score"])
    names = ("medal", "better", "equal", "worse")
    assert {name: stated["standing"][name] for name in names} == {
        name: grade["grade"][name] for name in names
    }
    assert stated["competition"]["slug"] == tiny.name
    assert stated["competition"]["version"] == grade["competition_version"]
    assert stated["run"]["id"] == run.id
    assert stated["run"]["policy"] == "none"
    assert stated["outcome"] == "graded"
    assert stated["exposure"]["submissions"] == 1
    assert stated["exposure"]["private_scores"] == 0
    answers = hashlib.sha256((tiny / "private" / "answers.csv").read_bytes()).hexdigest()
    text = podium.admin.get(f"/v1/receipts/{receipt['id']}").text
    assert answers not in text
    assert receipt["sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_ssh_keygen_verifies_what_is_served(podium: Podium, tiny: Path, tmp_path: Path) -> None:
    run, _ = closed(podium, tiny)
    [receipt] = receipts_of(podium, run.id)
    data = podium.admin.get(f"/v1/receipts/{receipt['id']}").content
    (tmp_path / "sig").write_text(podium.admin.get(f"/v1/receipts/{receipt['id']}.sig").text)
    allowed = podium.client().get("/.well-known/podium/allowed_signers").text
    (tmp_path / "allowed").write_text(allowed)
    revoked = podium.client().get("/.well-known/podium/revoked_keys").text
    (tmp_path / "revoked").write_text(revoked)

    for body, good in ((data, True), (data.replace(b"graded", b"gradeD"), False)):
        found = subprocess.run(
            ["ssh-keygen", "-Y", "verify", "-f", tmp_path / "allowed", "-I", allowed.split()[0],
             "-n", "podium-receipt@v1", "-s", tmp_path / "sig", "-r", tmp_path / "revoked"],
            input=body, capture_output=True, check=False,
        )  # fmt: skip
        assert (found.returncode == 0) is good, found
        assert (b"Good" in found.stdout) is good


def test_the_envelope_has_the_same_bytes(podium: Podium, tiny: Path) -> None:
    run, _ = closed(podium, tiny)
    [receipt] = receipts_of(podium, run.id)
    envelope = podium.admin.get(f"/v1/receipts/{receipt['id']}.dsse")
    data = podium.admin.get(f"/v1/receipts/{receipt['id']}").content

    assert envelope.headers["content-type"] == "application/vnd.dsse.envelope.v1+json"
    assert check_receipt(envelope.content, None, trust_in(podium)).data == data


def test_the_same_facts_have_one_receipt_and_other_facts_supersede_it(
    podium: Podium, tiny: Path
) -> None:
    run, _ = closed(podium, tiny)
    [first] = receipts_of(podium, run.id)
    assert close(podium, run.id) == 200

    again = podium.admin.post(f"/v1/runs/{run.id}/receipts")

    assert (again.status_code, again.json()) == (200, first)
    podium.admin.patch(f"/v1/runs/{run.id}", json={"failure": "crash"})
    old, new = receipts_of(podium, run.id)
    assert old == first
    assert new["supersedes"] == first["id"]
    assert checked(podium, new["id"])["run"]["failure"] == "crash"
    assert checked(podium, new["id"])["supersedes"] == first["id"]


def test_an_open_run_has_no_receipt(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    refused = podium.admin.post(f"/v1/runs/{run.id}/receipts")
    assert refused.status_code == 409
    assert "is open" in refused.json()["detail"]
    assert receipts_of(podium, run.id) == []


def test_runs_without_a_grade_have_receipts_that_say_so(podium: Podium, tiny: Path) -> None:
    nothing, rejected = podium.run(tiny), podium.run(tiny)
    sent = rejected.submit(b"id,target\nr1,abc\n").json()["id"]
    podium.settled(sent)
    for run, outcome in ((nothing, "missing"), (rejected, "rejected")):
        assert close(podium, run.id) == 200
        [receipt] = receipts_of(podium, run.id)
        stated = checked(podium, receipt["id"])
        assert (stated["outcome"], stated["score"], stated["standing"]) == (outcome, None, None)
        assert stated["subject"][0]["digest"]["sha256"]


def test_a_run_closed_before_its_grade_gets_its_receipt_later(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny, feedback="none")
    run.client.post(
        f"/v1/runs/{run.id}/submissions",
        content=good_submission(tiny, shift=0.12),
        headers={"Content-Type": "text/csv"},
    )
    assert close(podium, run.id) == 200

    deadline = time.monotonic() + 40
    while not (found := receipts_of(podium, run.id)):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert checked(podium, found[0]["id"])["outcome"] == "graded"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_runs_key_reads_its_receipt_under_full_only_and_after_the_close(
    podium: Podium, tiny: Path, policy: str
) -> None:
    other, _ = closed(podium, tiny, feedback="full")
    run = podium.run(tiny, feedback=policy)
    podium.settled(run.submit(good_submission(tiny, shift=0.12)).json()["id"])
    assert run.client.get(f"/v1/runs/{run.id}/receipts").json()["items"] == []
    assert close(podium, run.id) == 200

    [own] = receipts_of(podium, run.id)
    [others] = receipts_of(podium, other.id)
    listed = run.client.get(f"/v1/runs/{run.id}/receipts").json()["items"]
    statuses = {
        run.client.get(f"/v1/receipts/{own['id']}{ending}").status_code
        for ending in ("", ".sig", ".dsse")
    }

    assert listed == ([own] if policy == "full" else [])
    assert statuses == ({200} if policy == "full" else {404})
    assert run.client.get(f"/v1/receipts/{others['id']}").status_code == 404
    assert run.client.get(f"/v1/runs/{other.id}/receipts").status_code == 404


def test_a_harness_reads_the_receipts_of_its_experiments_runs(podium: Podium, tiny: Path) -> None:
    run, grade = closed(podium, tiny)
    [receipt] = receipts_of(podium, run.id)
    own = podium.client(podium.harness_key(run.document["experiment"]))
    other = podium.client(podium.harness_key(podium.experiment()))

    assert own.get(f"/v1/receipts/{receipt['id']}").status_code == 200
    assert other.get(f"/v1/receipts/{receipt['id']}").status_code == 404
    assert other.get(f"/v1/runs/{run.id}/receipts").status_code == 404
    shown = podium.admin.get(f"/v1/runs/{run.id}/exposure").json()
    assert shown["harness_totals"]["private_scores"] == 1
    assert next(one["submission"] for one in shown["disclosed"]) == grade["id"]


def test_a_harness_is_not_told_flags_by_a_receipt(podium: Podium) -> None:
    folder = podium.folder()
    toml = folder / "competition.toml"
    flag = '\n[[flags]]\ncode = "kept_code"\nnote = "the labels lie in train.csv"\n'
    toml.write_text(toml.read_text() + flag)
    assert podium.send_folder(folder).status_code == 201
    run, _ = closed(podium, folder)
    [receipt] = receipts_of(podium, run.id)
    harness = podium.client(podium.harness_key(run.document["experiment"]))

    assert checked(podium, receipt["id"])["competition"]["flags"] == ["kept_code"]
    assert harness.get(f"/v1/receipts/{receipt['id']}").status_code == 404
    assert harness.get(f"/v1/runs/{run.id}/receipts").json()["items"] == []


def test_a_receipt_is_in_the_public_log(podium: Podium, tiny: Path) -> None:
    run, _ = closed(podium, tiny)
    [receipt] = receipts_of(podium, run.id)
    data = podium.admin.get(f"/v1/receipts/{receipt['id']}").content
    public = podium.client()
    older = public.get("/v1/log/checkpoint").text
    size = int(older.split("\n")[1])

    proof = public.get(f"/v1/log/proofs/inclusion?receipt={receipt['id']}").json()
    found = check_inclusion(proof, data, trust_in(podium))
    closed(podium, tiny)
    grown = public.get(f"/v1/log/proofs/consistency?from={size}").json()
    new = check_consistency(grown, older, trust_in(podium))

    assert proof["index"] == receipt["index"] < found.size
    assert new.size > size
    assert public.get(f"/v1/log/checkpoint?size={size}").text == older


def test_the_log_tells_the_public_nothing_but_digests(podium: Podium, tiny: Path) -> None:
    run, grade = closed(podium, tiny)
    [receipt] = receipts_of(podium, run.id)
    public = podium.client()

    found = public.get(f"/v1/log/entries?start={receipt['index']}&limit=1").json()

    [entry] = found["items"]
    assert entry["sha256"] == receipt["sha256"]
    assert entry["kind"] == "receipt"
    assert set(entry) == {"index", "kind", "sha256", "at", "leaf"}
    assert set(json.loads(entry["leaf"])) == {"kind", "sha256", "at"}
    for hidden in (run.id, grade["id"], repr(grade["grade"]["score"]), receipt["id"], tiny.name):
        assert hidden not in json.dumps(found)


def test_an_amendment_is_an_entry_of_the_log(podium: Podium) -> None:
    name = podium.experiment()
    change = {"reason": "the paper names another", "model": "another-model"}
    assert podium.admin.patch(f"/v1/experiments/{name}", json=change).status_code == 200
    public = podium.client()
    last = int(public.get("/v1/log/checkpoint").text.split("\n")[1]) - 1

    shown = podium.admin.get(f"/v1/log/entries/{last}").json()

    record = json.loads(shown["record"])
    assert shown["kind"] == "amendment"
    assert hashlib.sha256(shown["record"].encode()).hexdigest() == shown["sha256"]
    assert (record["experiment"], record["after"]) == (name, {"model": "another-model"})
    assert record["reason"] == change["reason"]
    assert "another" not in public.get(f"/v1/log/entries?start={last}").text
    assert public.get(f"/v1/log/entries/{last}").status_code == 401


@pytest.fixture(scope="module")
def two_receipts(server: PodiumServer, tiny: Path) -> None:
    """The server's log has two receipts at least."""
    with contextlib.ExitStack() as clients:
        podium = Podium(server, tiny.parent, clients)
        for _ in range(2):
            closed(podium, tiny)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("inclusion", 422), ("inclusion?receipt=rcp_x", 404), ("inclusion?index=99999999", 404),
        ("inclusion?index=1&receipt=rcp_x", 422), ("inclusion?index=0&size=99999999", 404),
        ("inclusion?index=2&size=2", 422), ("inclusion?index=-1", 422),
        ("consistency", 422), ("consistency?from=99999999", 422),
        ("consistency?from=1&to=99999999", 404), ("consistency?from=x", 422),
        ("consistency?from=1&until=3", 422), ("inclusion?index=99999999999999999999", 422),
    ],
)  # fmt: skip
def test_bad_questions_about_the_log_are_refused(
    podium: Podium, two_receipts: None, query: str, status: int
) -> None:
    assert podium.client().get(f"/v1/log/proofs/{query}").status_code == status


def test_verify_tells_runs_without_a_file_from_seeds_without_a_run(
    podium: Podium, tiny: Path, tmp_path: Path
) -> None:
    name, other = podium.experiment(), podium.competition()
    graded = podium.run(tiny, experiment=name, seed=0)
    podium.settled(graded.submit(good_submission(tiny)).json()["id"])
    for run in (graded, podium.run(other, experiment=name, seed=1)):
        assert close(podium, run.id) == 200
    made = podium.admin.post(f"/v1/experiments/{name}/receipts", json={"padding": "fail"}).json()
    envelope, allowed = tmp_path / "receipt.dsse", tmp_path / "allowed"
    envelope.write_bytes(podium.admin.get(f"/v1/receipts/{made['id']}.dsse").content)
    allowed.write_text(podium.client().get("/.well-known/podium/allowed_signers").text)

    done = run_podium(
        ["verify", str(envelope), "--allowed-signers", str(allowed)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert "attempts: 2 (1 graded, 1 without a submission)\nmissing: 2\n" in done.stdout


def test_an_experiments_receipt_has_all_attempts(podium: Podium, tiny: Path) -> None:
    name = podium.experiment()
    runs = [podium.run(tiny, experiment=name, seed=seed, feedback="none") for seed in range(4)]
    podium.settled(runs[0].submit(good_submission(tiny, shift=0.12)).json()["id"])
    podium.settled(runs[1].submit(b"id,target\nr1,abc\n").json()["id"])
    for run in runs[:3]:
        assert close(podium, run.id) == 200
    podium.admin.patch(f"/v1/runs/{runs[2].id}", json={"failure": "out_of_memory"})

    first = podium.admin.post(f"/v1/experiments/{name}/receipts", json={"padding": "fail"})
    again = podium.admin.post(f"/v1/experiments/{name}/receipts", json={"padding": "fail"})

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    stated = checked(podium, first.json()["id"])
    assert [one["outcome"] for one in stated["attempts"]] == [
        "graded", "rejected", "missing", "open",
    ]  # fmt: skip
    assert stated["attempts"][2]["failure"] == "out_of_memory"
    assert stated["attempts"][0]["receipt"] == receipts_of(podium, runs[0].id)[-1]["id"]
    assert stated["padding"] == "fail"
    assert stated["suite"]["competitions"] == [tiny.name]
    close(podium, runs[3].id)
    third = podium.admin.post(f"/v1/experiments/{name}/receipts", json={"padding": "fail"})
    assert third.json()["supersedes"] == first.json()["id"]
    listed = podium.admin.get(f"/v1/experiments/{name}/receipts?kind=experiment").json()["items"]
    assert [one["id"] for one in listed] == [first.json()["id"], third.json()["id"]]
    pages = podium.admin.get(f"/v1/experiments/{name}/receipts?limit=2").json()
    assert len(pages["items"]) == 2
    assert pages["next_cursor"]


def plan_for(folder: Path, **more) -> dict:
    return {
        "competitions": [folder.name], "seeds": [0, 1], "feedback": "none", "padding": "fail",
        **more,
    }  # fmt: skip


def test_a_frozen_experiment_lists_what_departs(podium: Podium, tiny: Path) -> None:
    name, other = podium.experiment(), podium.competition()
    address = f"/v1/experiments/{name}/freeze"
    frozen = podium.admin.post(address, json=plan_for(tiny, limits={"submissions_total": 3}))
    assert frozen.status_code == 201, frozen.text
    assert podium.admin.post(
        address, json=plan_for(tiny, limits={"submissions_total": 3})
    ).json() == (frozen.json())
    assert podium.admin.post(address, json=plan_for(tiny, seeds=[7])).status_code == 409
    plan = checked(podium, frozen.json()["id"])["plan"]
    assert (plan["runs"], plan["suite"]["competitions"]) == (2, [tiny.name])
    limits = {"submissions_total": 3}

    def codes() -> list[str]:
        return [one["code"] for one in podium.admin.get(address).json()["departures"]]

    assert codes() == ["missing_run", "missing_run"]
    podium.run(tiny, experiment=name, seed=0, feedback="none", limits=limits)
    podium.run(tiny, experiment=name, seed=1, feedback="none", limits=limits)
    assert codes() == []
    podium.run(tiny, experiment=name, seed=2, feedback="full")
    podium.run(other, experiment=name, seed=0, feedback="none", limits=limits)
    change = {"reason": "a slip", "model": "m2"}
    podium.admin.patch(f"/v1/experiments/{name}", json=change)
    assert sorted(codes()) == ["competition", "limits", "model_amended", "policy", "seed"]
    made = podium.admin.post(f"/v1/experiments/{name}/receipts", json={"padding": "complete"})
    stated = checked(podium, made.json()["id"])
    assert stated["freeze"] == frozen.json()["id"]
    found = sorted(one["code"] for one in stated["departures"])
    assert found == ["competition", "limits", "model_amended", "padding", "policy", "seed"]


def test_a_selected_file_that_is_rejected_departs_from_a_plan_of_the_last(
    podium: Podium, tiny: Path
) -> None:
    name = podium.experiment()
    address = f"/v1/experiments/{name}/freeze"
    plan = plan_for(tiny, seeds=[0], selection="last")
    assert podium.admin.post(address, json=plan).status_code == 201
    run = podium.run(tiny, experiment=name, feedback="none")
    run.submit(good_submission(tiny))
    rejected = run.submit(b"id,target\nr1,none\n").json()["id"]
    podium.settled(rejected)
    assert podium.admin.get(address).json()["departures"] == []
    chosen = run.client.put(f"/v1/runs/{run.id}/selected", json={"submission": rejected})
    assert chosen.status_code == 200, chosen.text

    assert podium.admin.get(address).json()["departures"] == [
        {
            "code": "selection",
            "text": f"{tiny.name}, seed 0 ({run.id}): its final submission was selected; "
            "planned: last",
        }
    ]


def test_an_experiment_that_has_begun_is_not_frozen(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    name = run.document["experiment"]
    refused = podium.admin.post(f"/v1/experiments/{name}/freeze", json=plan_for(tiny))
    assert refused.status_code == 409
    assert run.id in refused.json()["detail"]
    assert podium.admin.get(f"/v1/experiments/{name}/freeze").status_code == 404


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"competitions": ["none-such"]}, 404), ({"competitions": []}, 422),
        ({"suite": "mle-bench-low"}, 422), ({"competitions": [], "suite": "none-such"}, 404),
        ({"seeds": []}, 422), ({"selection": "best"}, 422),
    ],
)  # fmt: skip
def test_bad_plans_are_refused(podium: Podium, tiny: Path, more: dict, status: int) -> None:
    address = f"/v1/experiments/{podium.experiment()}/freeze"
    assert podium.admin.post(address, json=plan_for(tiny, **more)).status_code == status


def test_keys_are_listed_in_the_forms_of_verifiers(podium: Podium, tiny: Path) -> None:
    closed(podium, tiny)
    [*_, key] = podium.client().get("/v1/signing-keys").json()
    assert key["public_key"].startswith("ssh-ed25519 ")
    assert key["verifier_key"].startswith(f"{key['name']}+")
    assert "BEGIN PUBLIC KEY" in key["pem"]
    assert key["public_key"] in podium.client().get("/.well-known/podium/allowed_signers").text


def test_another_podiums_keys_refuse_a_receipt(podium: Podium, tiny: Path) -> None:
    run, _ = closed(podium, tiny)
    [receipt] = receipts_of(podium, run.id)
    data = podium.admin.get(f"/v1/receipts/{receipt['id']}").content
    signature = podium.admin.get(f"/v1/receipts/{receipt['id']}.sig").text
    with pytest.raises(BadReceipt, match="not allowed"):
        check_receipt(data, signature, Trust([]))
