"""`podium receipts`: issue and save receipts, and manage the keys that sign them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.context import ALL, podium
from app.cli.lazy import Group
from app.cli.options import AsJson, Key, Url
from app.cli.output import print_json, print_line, print_note
from app.cli.receipts.keys import app as keys
from app.cli.remote import Document, Refused, Remote, path_to, remote
from app.cli.tables import moment, print_table
from app.domain.result_choices import Padding
from app.errors import Conflict

if TYPE_CHECKING:
    from app.storage.queries.trust.receipts import ReceiptRecord

app = typer.Typer(cls=Group, help="Issue, list and save signed receipts.", no_args_is_help=True)
app.add_typer(keys, name="keys")
Experiment = Annotated[str, typer.Argument(help="the experiment's name")]


@app.command()
def issue(
    experiment: Experiment,
    suite: Annotated[
        str, typer.Option(help="competitions of this suite without a run are listed as missing")
    ] = "",
    padding: Annotated[
        Padding, typer.Option(help="how rates count missing results")
    ] = Padding.NONE,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Sign all attempts of an experiment as they stand now, and closed runs without a receipt.

    If the facts have not changed, it prints the same receipt again.
    """
    if there := remote(url, key):
        with there:
            made = _issue_there(there, experiment, suite, padding)
    else:
        from app.cli.receipts.here import issue_all

        found = issue_all(experiment, suite or None, padding)
        made = _shown(found)
    if as_json:
        print_json(made)
    else:
        print_line(made["id"])


@app.command("list")
def list_receipts(
    experiment: Experiment, url: Url = "", key: Key = "", as_json: AsJson = False
) -> None:
    """List the receipts of an experiment and of its runs, oldest first."""
    if there := remote(url, key):
        with there:
            found = list(there.items(path_to("experiments", experiment, "receipts")))
    else:
        from app.services.receipts import read

        with podium() as context:
            records, _ = read.of_experiment(context, experiment, kind=None, after=None, limit=ALL)
        found = [_shown(one) for one in records]
    if as_json:
        print_json(found)
        return
    print_table(
        ("id", "kind", "run", "entry", "created", "supersedes"),
        [
            (one["id"], one["kind"], one["run"], one["index"], moment(one["created_at"]),
             one["supersedes"])
            for one in found
        ],
        "no receipts",
    )  # fmt: skip


@app.command()
def save(
    receipt: Annotated[str, typer.Argument(help="the receipt's id")],
    folder: Annotated[Path, typer.Argument(help="a folder for the files; made if it is new")],
    url: Url = "",
    key: Key = "",
) -> None:
    """Save a receipt, its signature, the keys and its proof, to be checked without a network."""
    if there := remote(url, key):
        with there:
            files = _files_there(there, receipt)
    else:
        from app.cli.receipts.here import files_of

        files = files_of(receipt)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_bytes(text.encode())
    except OSError as error:
        raise Conflict(f"{folder} cannot be written: {error.strerror}.") from None
    words = [
        "podium", "verify", f"{folder}/receipt.json",
        "--allowed-signers", f"{folder}/allowed_signers",
        "--revoked", f"{folder}/revoked_keys", "--log", f"{folder}/inclusion.json",
    ]  # fmt: skip
    print_line(shlex.join(words))


def _issue_there(there: Remote, experiment: str, suite: str, padding: Padding) -> Document:
    for run in there.items("/v1/runs", experiment=experiment, archived=True):
        if run["state"] == "closed" and not there.get(f"/v1/runs/{run['id']}/receipts")["items"]:
            try:
                there.post(f"/v1/runs/{run['id']}/receipts", {})
            except Refused as reason:
                print_note(reason.detail)
    body: Document = {"padding": padding.value, **({"suite": suite} if suite else {})}
    return there.post(path_to("experiments", experiment, "receipts"), body).having("id")


def _files_there(there: Remote, receipt: str) -> dict[str, str]:
    proof = there.get("/v1/log/proofs/inclusion", receipt=receipt)
    return {
        "receipt.json": there.text(path_to("receipts", receipt)),
        "receipt.json.sig": there.text(path_to("receipts", f"{receipt}.sig")),
        "inclusion.json": json.dumps(proof, indent=2),
        "checkpoint.txt": proof["checkpoint"],
        "allowed_signers": there.text("/.well-known/podium/allowed_signers"),
        "revoked_keys": there.text("/.well-known/podium/revoked_keys"),
    }


def _shown(one: ReceiptRecord) -> Document:
    return {
        "id": one.id, "kind": one.kind.value, "experiment": one.experiment, "run": one.run_id,
        "submission": one.submission_id, "index": one.number, "key": one.key_id,
        "supersedes": one.supersedes, "created_at": one.created_at,
    }  # fmt: skip
