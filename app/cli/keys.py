"""`podium keys`: create, list and revoke keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.context import ALL, podium
from app.cli.lazy import Group
from app.cli.options import AsJson, Key, Url
from app.cli.output import print_json, print_line, print_new_key
from app.cli.remote import Document, path_to, remote
from app.cli.tables import moment, print_table
from app.domain.states import Role

if TYPE_CHECKING:
    from app.services.operations.keys import NewKey
    from app.storage.database.records import KeyRecord

app = typer.Typer(cls=Group, help="Create, list and revoke keys.", no_args_is_help=True)


@app.command()
def create(
    role: Annotated[
        Role | None,
        typer.Argument(help="admin, researcher or harness; a run's key is made with its run"),
    ] = None,
    role_option: Annotated[
        Role | None, typer.Option("--role", help="the same as the argument")
    ] = None,
    experiment: Annotated[
        str, typer.Option(help="the experiment of a harness's key, which grades its runs alone")
    ] = "",
    name: Annotated[str, typer.Option(help="the name of its holder")] = "",
    expires: Annotated[str, typer.Option(help="lifetime, as 12h or 90d; default: unlimited")] = "",
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Make a key. It is printed once and stored only as a hash."""
    from app.services.operations import keys

    chosen = role or role_option
    if chosen is None or (role and role_option and role is not role_option):
        raise typer.BadParameter("name one role: keys create researcher, or --role researcher")
    keys.refuse_unfit(chosen, experiment)
    if there := remote(url, key):
        body: Document = {"role": chosen.value, "name": name, "expires": expires}
        with there:
            made = there.post(
                "/v1/keys", body | ({"experiment": experiment} if experiment else {})
            ).having("key")
            print_new_key(
                made, as_json=as_json, revoke=lambda: there.delete(path_to("keys", made["id"]))
            )
    else:
        with podium() as context:
            new = keys.create(context, chosen, name, expires, experiment or None)
            print_new_key(
                created(new), as_json=as_json, revoke=lambda: keys.revoke(context, new.record.id)
            )


@app.command("list")
def list_keys(
    role: Annotated[Role | None, typer.Option(help="only keys of this role")] = None,
    run: Annotated[str, typer.Option(help="only keys of this run")] = "",
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """List ids, roles and holders of keys, never the keys."""
    if there := remote(url, key):
        with there:
            found = list(there.items("/v1/keys", role=role and role.value, run=run))
    else:
        from app.services.operations import keys

        with podium() as context:
            records, _ = keys.page(context, role=role, run=run or None, limit=ALL)
        found = [shown(one) for one in records]
    if as_json:
        print_json(found)
        return
    print_table(
        ("id", "role", "experiment", "created", "expires", "revoked", "name"),
        [
            (one["id"], one["role"], one["experiment"], moment(one["created_at"]),
             moment(one["expires_at"]), moment(one["revoked_at"]), one["name"])
            for one in found
        ],
        "no keys",
    )  # fmt: skip


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="the key's id, from `keys list`")],
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Revoke a key at once."""
    if there := remote(url, key):
        with there:
            found = there.delete(path_to("keys", key_id)).having("id")
    else:
        from app.services.operations import keys

        with podium() as context:
            found = shown(keys.revoke(context, key_id))
    if as_json:
        print_json(found)
    else:
        print_line(f"revoked {found['id']}")


def shown(record: KeyRecord) -> Document:
    """A key's holder, as `GET /v1/keys` shows it."""
    return {
        "id": record.id, "role": record.role.value, "name": record.name, "run": record.run_id,
        "experiment": record.experiment,
        "created_at": record.created_at, "expires_at": record.expires_at,
        "revoked_at": record.revoked_at,
    }  # fmt: skip


def created(made: NewKey) -> Document:
    """A new key, as `POST /v1/keys` shows it."""
    return {**shown(made.record), "key": made.key, "revoked": list(made.revoked)}
