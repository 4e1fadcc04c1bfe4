"""`podium verify FILE`: check a receipt, its place in the log, and the log, without a network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from app.cli.output import out
from app.domain.wording import counted
from app.errors import Invalid, NotFound
from app.receipts.allowed_signers import read_allowed_signers, read_revoked
from app.receipts.check import (
    CheckedReceipt,
    Trust,
    check_consistency,
    check_inclusion,
    check_one_log,
    check_receipt,
    kept_checkpoint,
)
from app.receipts.checkpoints import Checkpoint
from app.receipts.dsse import read_envelope
from app.receipts.errors import BadReceipt
from app.regular_file import open_regular

LARGEST_RECEIPT = 100_000_000
# `missing` counts seeds without a run separately.
WORDS = {"missing": "without a submission"}
LARGEST_OTHER = 4_000_000  # parsing a line of allowed signers takes up to seventy times its bytes


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
    """Check the given files. Returns the results.

    Raises:
        BadReceipt, BadProof: something is wrong with the receipt or the log.
        NotFound, Invalid: a file is missing or cannot be read, or an option.
        BadParameter: there is a signature for nothing that has one of its own.
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
    data = None if asked.receipt is None else _bytes(asked.receipt, LARGEST_RECEIPT)
    if asked.signature and (data is None or read_envelope(data) is not None):
        raise typer.BadParameter(
            "it is for a receipt in a file of its own: an envelope has its signatures in it, and "
            "an answer about the log has one of its own. Leave out --signature.",
            param_hint="--signature",
        )
    if asked.receipt is not None and data is not None:
        signature = asked.signature or asked.receipt.with_name(f"{asked.receipt.name}.sig")
        text = _text(signature) if asked.signature or signature.exists() else None
        checked = check_receipt(data, text, trust)
        found |= _facts(checked)
    return found | _check_logs(asked, checked, trust) | {"not checked": _left_out(asked)}


def print_checked(found: dict[str, Any]) -> None:
    """Print the results, one line for each."""
    for name, value in found.items():
        if value is not None:
            out.print(f"{name}: {value}", markup=False, highlight=False, soft_wrap=True)


def _left_out(asked: Asked) -> str | None:
    """The checks that were left out because their files were not named."""
    missing = {
        "whether the key was revoked (--revoked FILE)": asked.revoked is None,
        "whether the public log has the receipt (--log FILE)": not asked.log,
        "whether others see the same log (--checkpoint FILE)": asked.checkpoint is None,
    }
    return "; ".join(what for what, is_missing in missing.items() if is_missing) or None


def _facts(checked: CheckedReceipt) -> dict[str, Any]:
    try:
        return _about(checked)
    except (AttributeError, IndexError, KeyError, TypeError):
        raise BadReceipt(
            f"{checked.signer} signed this file, but it lacks what a receipt of Podium says."
        ) from None


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
        counted = ", ".join(
            f"{outcomes.count(one)} {WORDS.get(one, one)}" for one in sorted(set(outcomes))
        )
        found |= {
            "experiment": predicate["experiment"]["name"],
            "attempts": f"{len(outcomes)} ({counted})" if outcomes else 0,
            "imported": len(predicate["imported"]) or None,
            "withdrawn": predicate["withdrawn"] or None,
            "missing": len(predicate["missing"]),
            "departures": len(predicate["departures"]),
        }
    else:
        found["experiment"] = predicate["experiment"]["name"]
    return found


def _check_logs(asked: Asked, receipt: CheckedReceipt | None, trust: Trust) -> dict[str, Any]:
    kept = None if asked.checkpoint is None else _text(asked.checkpoint)
    if kept is not None and not asked.log:
        raise Invalid("--checkpoint FILE is compared with answers about the log: --log FILE.")
    found: dict[str, Any] = {}
    included: list[Checkpoint] = []
    others = [] if kept is None else [kept_checkpoint(kept, trust)]
    for file in asked.log:
        proof = _proof(file)
        if "from" not in proof:
            if receipt is None:
                raise Invalid(
                    f"{file} is about an entry: name the receipt too, podium verify RECEIPT ..."
                )
            one = check_inclusion(proof, receipt.data, trust)
            included.append(one)
            found["in the log"] = f"entry {proof['index']} of {one.size}, log {one.origin}"
        elif kept is None:
            raise Invalid(
                f"{file} shows that the log only grew since a checkpoint: name the one that you "
                "kept, --checkpoint FILE."
            )
        else:
            others.append(check_consistency(proof, kept, trust))
            entries = counted(others[-1].size, "entry", "entries")
            found["log"] = f"{entries}, and begins with those of {asked.checkpoint}"
    if receipt is not None and asked.log and not included:
        raise Invalid(
            "No file of --log is about the receipt: name the answer of "
            "/v1/log/proofs/inclusion?receipt=ID too."
        )
    for one in included if others else ():
        check_one_log(one, others)
    if kept is not None and "log" not in found:
        found["log"] = f"that of {asked.checkpoint}"
    return found


def _proof(file: Path) -> dict[str, Any]:
    try:
        proof = json.loads(_bytes(file))
    except (ValueError, RecursionError):
        proof = None
    if not isinstance(proof, dict):
        raise Invalid(
            f"{file} is not a proof: save the answer of /v1/log/proofs/inclusion or of "
            "/v1/log/proofs/consistency."
        )
    return proof


def _text(file: Path) -> str:
    try:
        return _bytes(file).decode()
    except UnicodeDecodeError:
        raise Invalid(f"{file} is not a text file.") from None


def _bytes(file: Path, most: int = LARGEST_OTHER) -> bytes:
    try:
        with open_regular(file) as opened:
            data = opened.read(most + 1)
    except FileNotFoundError:
        raise NotFound(f"{file}: no such file or directory.") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Invalid(f"{file} cannot be read: {reason}. Name a file.") from None
    if len(data) > most:
        raise Invalid(f"{file} is larger than {most} bytes: no such file of a Podium is.")
    return data
