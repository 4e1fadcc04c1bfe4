"""`podium keys`: create, list and revoke keys."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.table import Table

from app.cli.context import podium
from app.cli.output import AsJson, out, print_json
from app.domain.states import Role
from app.errors import Invalid, NotFound
from app.services.auth import new_key
from app.storage.queries import keys

app = typer.Typer(help="Create, list and revoke keys.", no_args_is_help=True)
DURATION = re.compile(r"(\d+)([hd])")


@app.command()
def create(
    role: Annotated[
        Role, typer.Argument(help="admin or researcher; a run's key is made with its run")
    ],
    name: Annotated[str, typer.Option(help="the name of its holder")] = "",
    expires: Annotated[str, typer.Option(help="lifetime, as 12h or 90d; without: unlimited")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a key. It is printed once and stored only as a hash."""
    if role is Role.RUN:
        raise Invalid("A run's key is made with its run: podium runs create, or POST /v1/runs.")
    key, record = new_key(role, name, expires_in=_duration(expires))
    with podium() as context:
        context.database.write(lambda session: keys.add_key(session, record))
    if as_json:
        print_json({"id": record.id, "role": role.value, "name": name, "key": key,
                    "expires_at": record.expires_at})  # fmt: skip
    else:
        typer.echo(key)


@app.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """List ids, roles and holders of keys, never the keys."""
    with podium() as context, context.database.read() as session:
        found = keys.list_keys(session)
    if as_json:
        print_json(
            [{"id": k.id, "role": k.role.value, "name": k.name, "run": k.run_id,
              "created_at": k.created_at, "expires_at": k.expires_at, "revoked_at": k.revoked_at}
             for k in found]
        )  # fmt: skip
        return
    table = Table("id", "role", "name", "created", "expires", "revoked")
    for key in found:
        times = (key.created_at, key.expires_at, key.revoked_at)
        table.add_row(
            key.id, key.role.value, key.name, *(f"{t:%Y-%m-%d %H:%M}" if t else "" for t in times)
        )
    out.print(table)


@app.command()
def revoke(key_id: Annotated[str, typer.Argument(help="the key's id, from `keys list`")]) -> None:
    """Revoke a key at once."""
    with podium() as context:
        known = context.database.write(
            lambda session: keys.revoke_key(session, key_id, datetime.now(UTC))
        )
    if not known:
        raise NotFound(f"There is no key {key_id!r}.")
    typer.echo(f"revoked {key_id}")


def _duration(text: str) -> timedelta | None:
    if not text:
        return None
    match = DURATION.fullmatch(text)
    if match is None:
        raise Invalid(f"--expires {text!r} is not a lifetime: write 12h or 90d.")
    count = int(match[1])
    return timedelta(hours=count) if match[2] == "h" else timedelta(days=count)
