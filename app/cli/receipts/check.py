"""`podium verify FILE`: check a receipt, its place in the log, and the log, without a network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.cli.output import out
from app.errors import Invalid, NotFound
from app.receipts.allowed_signers import read_allowed_signers, read_revoked
from app.receipts.check import (
    CheckedReceipt,
    Trust,
    check_consistency,
    check_inclusion,
    check_receipt,
)
from app.regular_file import open_regular

LARGEST_FILE = 100_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """The files of a check; those that are not given are None."""

    receipt: Path | None
    signature: Path | None
    allowed_signers: Path | None
    revoked: Path | None
    log: list[Path]
    checkpoint: Path | None


def check(asked: Asked) -> dict[str, Any]:
    """Check what was asked for, and say what was found.

    Raises:
        BadReceipt, BadProof: something is wrong with the receipt or the log.
        NotFound, Invalid: a file is missing or cannot be read, or an option.
    """
    if asked.allowed_signers is None:
        raise Invalid(
            "Name the keys that you trust: --allowed-signers FILE, which Podium serves at "
            "/.well-known/podium/allowed_signers."
        )
    signers = read_allowed_signers(_text(asked.allowed_signers))
    trust = Trust(signers, read_revoked(_text(asked.revoked)) if asked.revoked else ())
    found: dict[str, Any] = {}
    checked = None
    if asked.receipt is not None:
        signature = asked.signature or asked.receipt.with_name(f"{asked.receipt.name}.sig")
        text = _text(signature) if asked.signature or signature.exists() else None
        checked = check_receipt(_bytes(asked.receipt), text, trust)
        found |= _about(checked)
    for file in asked.log:
        found |= _check_log(file, checked, asked.checkpoint, trust)
    return found


def print_checked(found: dict[str, Any]) -> None:
    """Print what was found, a line for each."""
    for name, value in found.items():
        if value is not None:
            out.print(f"{name}: {value}", markup=False, highlight=False, soft_wrap=True)


def _about(checked: CheckedReceipt) -> dict[str, Any]:
    predicate = checked.statement["predicate"]
    kind = checked.statement["predicateType"].split(":")[2]
    found = {
        "signature": f"good, of {checked.signer} at {predicate['timeCreated']}",
        "receipt": f"{predicate['id']}, {kind}",
        "supersedes": predicate["supersedes"],
    }
    if kind == "grade":
        competition, run = predicate["competition"], predicate["run"]
        medal = (predicate["standing"] or {}).get("medal") or "none"
        found |= {
            "file": checked.statement["subject"][0]["digest"]["sha256"],
            "competition": f"{competition['slug']}, version {competition['version']}",
            "run": f"{run['id']} of {run['experiment']}, seed {run['seed']}",
            "policy": run["policy"],
            "outcome": predicate["outcome"],
            "score": predicate["score"],
            "medal": medal,
        }
    elif kind == "experiment":
        outcomes = [one["outcome"] for one in predicate["attempts"]]
        counted = ", ".join(f"{outcomes.count(one)} {one}" for one in sorted(set(outcomes)))
        found |= {
            "experiment": predicate["experiment"]["name"],
            "attempts": f"{len(outcomes)} ({counted})" if outcomes else 0,
            "missing": len(predicate["missing"]),
            "departures": len(predicate["departures"]),
        }
    else:
        found["experiment"] = predicate["experiment"]["name"]
    return found


def _check_log(
    file: Path, receipt: CheckedReceipt | None, checkpoint: Path | None, trust: Trust
) -> dict[str, Any]:
    try:
        proof = json.loads(_bytes(file))
    except (ValueError, RecursionError):
        proof = None
    if not isinstance(proof, dict):
        raise Invalid(
            f"{file} is not a proof: save the answer of /v1/log/proofs/inclusion or of "
            "/v1/log/proofs/consistency."
        )
    if "from" in proof:
        if checkpoint is None:
            raise Invalid(
                f"{file} shows that the log only grew since a checkpoint: name the one that you "
                "kept, --checkpoint FILE."
            )
        new = check_consistency(proof, _text(checkpoint), trust)
        return {"log": f"{new.size} entries, and begins with those of {checkpoint}"}
    if receipt is None:
        raise Invalid(f"{file} is about an entry: name the receipt too, podium verify RECEIPT ...")
    found = check_inclusion(proof, receipt.data, trust)
    return {"in the log": f"entry {proof['index']} of {found.size}, log {found.origin}"}


def _text(file: Path) -> str:
    try:
        return _bytes(file).decode()
    except UnicodeDecodeError:
        raise Invalid(f"{file} is not a text file.") from None


def _bytes(file: Path) -> bytes:
    try:
        with open_regular(file) as opened:
            data = opened.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise NotFound(f"{file}: no such file or directory.") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Invalid(f"{file} cannot be read: {reason}. Name a file.") from None
    if len(data) > LARGEST_FILE:
        raise Invalid(f"{file} is larger than {LARGEST_FILE} bytes: it is not a receipt.")
    return data
