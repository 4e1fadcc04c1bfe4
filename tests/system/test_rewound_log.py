"""A Podium that was set back to an older backup cannot hide it from who kept a checkpoint."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from pathlib import Path

from tests.api.conftest import Podium
from tests.api.test_receipts import closed, receipts_of
from tests.forkserver import run_podium
from tests.server import PodiumServer


def command(*words: object, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if "PODIUM" not in name}
    if data is not None:
        environment["PODIUM_DATA_DIR"] = str(data)
    return run_podium(
        words,
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def keep(podium: Podium, folder: Path, *proofs: str) -> None:
    """The records of an outsider: the checkpoint, the keys, and answers about the log."""
    folder.mkdir(exist_ok=True)
    public = podium.client()
    (folder / "checkpoint.txt").write_text(public.get("/v1/log/checkpoint").text)
    allowed = public.get("/.well-known/podium/allowed_signers").text
    (folder / "allowed_signers").write_text(allowed)
    for name in proofs:
        (folder / "consistency.json").write_text(public.get(f"/v1/log/proofs/{name}").text)


def test_a_restored_backup_is_found_out(tmp_path: Path) -> None:
    data, before, after = tmp_path / "data", tmp_path / "before", tmp_path / "after"
    server = PodiumServer(data, "").start()
    with contextlib.ExitStack() as clients:
        podium = Podium(server, tmp_path / "folders", clients)
        folder = podium.competition()
        run, _ = closed(podium, folder)
        made = command("backup", tmp_path / "backup", data=data)
        assert made.returncode == 0, made.stderr
        with_keys = command("backup", tmp_path / "keys", "--signing-keys", data=data)
        assert with_keys.returncode == 0, with_keys.stderr
        closed(podium, folder)
        keep(podium, before)
        size = int((before / "checkpoint.txt").read_text().split("\n")[1])
        [receipt] = receipts_of(podium, run.id)
        saved = command("receipts", "save", receipt["id"], tmp_path / "saved", data=data)
        assert saved.returncode == 0, saved.stderr
    assert server.stop() == 0

    for backup, new_keys in (("backup", 1), ("keys", 0)):
        restored = tmp_path / f"from-{backup}"
        assert command("restore", tmp_path / backup, data=restored).returncode == 0
        key, server = server.key, PodiumServer(restored, "").start()
        server.key = key
        with contextlib.ExitStack() as clients:
            podium = Podium(server, tmp_path / "folders", clients)
            while int(podium.client().get("/v1/log/checkpoint").text.split("\n")[1]) <= size:
                closed(podium, folder)
            keep(podium, after, f"consistency?from={size}")
            keys = podium.client().get("/v1/signing-keys").json()
        assert server.stop() == 0

        allowed = ["--allowed-signers", after / "allowed_signers"]
        old = ["--checkpoint", before / "checkpoint.txt"]
        found = command("verify", "--log", after / "consistency.json", *old, *allowed)

        assert len(keys) == 1 + new_keys
        assert found.returncode == 1
        assert "an older backup was restored" in " ".join(found.stderr.split())
        shown = command("verify", data=restored)
        assert shown.returncode == 0, shown.stderr
        # A receipt of before the backup stays good: a new key adds a line and deletes none.
        good = command("verify", tmp_path / "saved" / "receipt.json", *allowed)
        assert good.returncode == 0, good.stderr


def test_a_saved_receipt_is_checked_without_a_network(tmp_path: Path) -> None:
    data, saved = tmp_path / "data", tmp_path / "saved here"
    server = PodiumServer(data, "").start()
    with contextlib.ExitStack() as clients:
        podium = Podium(server, tmp_path / "folders", clients)
        folder = podium.competition()
        run, grade = closed(podium, folder)
        [receipt] = receipts_of(podium, run.id)
        where = ["--url", server.url, "--key", server.key]
        made = command("receipts", "save", receipt["id"], saved, *where)
        assert made.returncode == 0, made.stderr
        told = command(*shlex.split(made.stdout)[1:])
        assert told.returncode == 0, told.stderr
        listed = command("receipts", "list", run.document["experiment"], *where)
        assert receipt["id"] in listed.stdout
        issued = command("receipts", "issue", run.document["experiment"], *where)
        assert issued.stdout.startswith("rcp_"), issued.stderr
        keep(podium, tmp_path / "old")
        size = int((tmp_path / "old" / "checkpoint.txt").read_text().split("\n")[1])
        rotated = command("receipts", "keys", "rotate", data=data)
        assert rotated.returncode == 0, rotated.stderr
        closed(podium, folder)
        keep(podium, tmp_path / "new", f"consistency?from={size}")
        stolen = command(
            "receipts", "keys", "revoke", receipt["key"], "--reason", "a copy was lost", data=data
        )
        assert stolen.returncode == 0, stolen.stderr
        again = command("receipts", "issue", run.document["experiment"], data=data)
        assert again.returncode == 0, again.stderr
        first, second = receipts_of(podium, run.id)
        assert (first["id"], second["supersedes"]) == (receipt["id"], receipt["id"])
        assert first["key"] != second["key"]
        revoked = podium.client().get("/.well-known/podium/revoked_keys").text
        listed = command("receipts", "keys", "list", data=data)
        assert "a copy was lost" in listed.stdout
    assert server.stop() == 0
    file = saved / "receipt.json"
    allowed = ["--allowed-signers", saved / "allowed_signers"]

    good = command("verify", file, *allowed, "--log", saved / "inclusion.json")
    assert good.returncode == 0, good.stderr
    assert f"score: {grade['grade']['score']!r}" in good.stdout
    assert "in the log: entry" in good.stdout
    grown = command(
        "verify", "--log", tmp_path / "new" / "consistency.json",
        "--checkpoint", tmp_path / "old" / "checkpoint.txt",
        "--allowed-signers", tmp_path / "new" / "allowed_signers",
    )  # fmt: skip
    assert grown.returncode == 0, grown.stderr
    (tmp_path / "revoked").write_text(revoked)
    for more, wrong in (
        (["--revoked", tmp_path / "revoked"], "was revoked"),
        (["--log", saved / "receipt.json"], "has no checkpoint"),
        (["--signature", saved / "none"], "no such file"),
    ):
        refused = command("verify", file, *allowed, *more)
        assert refused.returncode == 1
        assert wrong in " ".join(refused.stderr.split())
    assert "--allowed-signers FILE" in command("verify", file).stderr
    file.write_bytes(file.read_bytes().replace(b"graded", b"gradeD", 1))
    refused = command("verify", file, *allowed)
    assert refused.returncode == 1
    assert "was changed" in " ".join(refused.stderr.split())
