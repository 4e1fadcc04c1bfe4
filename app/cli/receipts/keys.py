"""`podium receipts keys`: list, rotate and revoke the signing keys of this data directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.context import podium
from app.cli.lazy import Group
from app.cli.options import AsJson
from app.cli.output import print_json, print_line
from app.cli.remote import Document
from app.cli.tables import moment, print_table

if TYPE_CHECKING:
    from app.storage.queries.trust.signing_keys import SigningKeyRecord

app = typer.Typer(cls=Group, help="List, rotate and revoke signing keys.", no_args_is_help=True)


@app.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """List the keys that sign receipts, oldest first. The first receipt makes the first key."""
    from app.services.receipts import log_view

    with podium() as context:
        found = [_shown(one) for one in log_view.keys(context)]
    if as_json:
        print_json(found)
        return
    print_table(
        ("id", "name", "from", "until", "revoked", "reason"),
        [
            (one["id"], one["name"], moment(one["valid_after"]), moment(one["valid_before"]),
             moment(one["revoked_at"]), one["reason"])
            for one in found
        ],
        "no keys yet",
    )  # fmt: skip


@app.command()
def rotate() -> None:
    """Retire the key that signs and make a new one. What the old one signed stays good."""
    from app.services.receipts import keys

    with podium() as context:
        print_line(keys.rotate(context).id)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="the key's id, from `receipts keys list`")],
    reason: Annotated[str, typer.Option(help="why; everybody can read it")],
) -> None:
    """Revoke a stolen key: nothing that it signed counts any more. The next receipt has a new key.

    Its receipts stay in the log; issue them again (`podium receipts issue EXPERIMENT`).
    """
    from app.services.receipts import keys

    with podium() as context:
        keys.revoke(context, key_id, reason)
    print_line(f"revoked {key_id}")


def _shown(one: SigningKeyRecord) -> Document:
    from app.receipts.sshsig import public_line

    return {
        "id": one.id, "name": one.name, "public_key": public_line(one.public),
        "valid_after": one.valid_after, "valid_before": one.valid_before,
        "revoked_at": one.revoked_at, "reason": one.reason,
    }  # fmt: skip
