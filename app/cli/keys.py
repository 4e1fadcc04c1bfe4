"""`podium keys`: create, list and revoke keys."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.context import podium
from app.cli.lazy import Group
from app.cli.options import AsJson, Key, Url
from app.cli.output import print_json, print_line, print_new_key
from app.cli.remote import Document, path_to, remote
from app.cli.tables import moment, print_table
from app.domain.states import Role
from app.errors import Invalid

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
    expires: Annotated[
        str | None, typer.Option(help="lifetime, as 12h or 90d; default: unlimited")
    ] = None,
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
    if expires == "":  # as from a variable that is not set: it would be a key without end
        raise Invalid("--expires is empty: write hours or days, as 12h or 90d, or leave it out.")
    if there := remote(url, key):
        body: Document = {"role": chosen.value, "name": name, "expires": expires or ""}
        with there:
            made = there.post(
                "/v1/keys", body | ({"experiment": experiment} if experiment else {})
            ).having("key")
            print_new_key(
                made, as_json=as_json, revoke=lambda: there.delete(path_to("keys", made["id"]))
            )
    else:
        from app.reports.keys import new_key_document

        with podium() as context:
            new = keys.create(context, chosen, name, expires or "", experiment or None)
            print_new_key(
                new_key_document(new),
                as_json=as_json,
                revoke=lambda: keys.revoke(context, new.record.id),
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
            if run and not found:
                there.get(path_to("runs", run))  # else a run that does not exist has no keys
    else:
        from app.reports.keys import key_document
        from app.services.operations import keys

        with podium() as context:
            found = [key_document(one) for one in keys.listed(context, role, run)]
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
        from app.reports.keys import key_document
        from app.services.operations import keys

        with podium() as context:
            found = key_document(keys.revoke(context, key_id))
    if as_json:
        print_json(found)
    else:
        print_line(f"revoked {found['id']}")
