"""`podium experiments`: create, list, amend and archive experiments."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.archive import add_archive_commands
from app.cli.context import ALL, podium
from app.cli.lazy import Group
from app.cli.options import AsJson, Key, Url
from app.cli.output import print_json, print_line
from app.cli.remote import Document, path_to, remote
from app.cli.tables import moment, print_table
from app.domain.states import LARGEST_SEED, LEAST_SEED, ArchivalKind
from app.domain.wording import counted

if TYPE_CHECKING:
    from app.storage.database.records import ExperimentRecord

MOST = 2**53  # of hours, processors and the like: infinity cannot be stored

app = typer.Typer(
    cls=Group, help="Create, list, amend and archive experiments.", no_args_is_help=True
)
add_archive_commands(app, ArchivalKind.EXPERIMENT)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="its name")],
    agent: Annotated[str, typer.Option(help="the agent")],
    model: Annotated[str, typer.Option(help="the model that the agent uses")],
    notes: Annotated[str, typer.Option(help="notes for readers of results")] = "",
    hours: Annotated[float | None, typer.Option(min=0, max=MOST, help="hours of each run")] = None,
    cpus: Annotated[
        float | None, typer.Option(min=0, max=MOST, help="processors of each run")
    ] = None,
    gpus: Annotated[float | None, typer.Option(min=0, max=MOST, help="GPUs of each run")] = None,
    gpu_kind: Annotated[str | None, typer.Option(help="the kind of these GPUs")] = None,
    memory_gb: Annotated[
        float | None, typer.Option(min=0, max=MOST, help="memory of each run")
    ] = None,
    internet: Annotated[
        bool | None, typer.Option("--internet/--no-internet", help="whether runs reach it")
    ] = None,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Create an experiment: one agent and model, with the same resources for all runs.

    The resources are notes for readers of results and for groups of medal rates. Podium does not
    enforce them; the limits of a run are options of `podium runs create`.
    """
    resources: Document = {
        "hours": hours, "cpus": cpus, "gpus": gpus, "gpu_kind": gpu_kind, "memory_gb": memory_gb,
        "internet": internet,
    }  # fmt: skip
    given = resources if any(value is not None for value in resources.values()) else None
    if there := remote(url, key):
        body = {"name": name, "agent": agent, "model": model, "notes": notes, "resources": given}
        with there:
            document = there.post("/v1/experiments", body).having("name")
    else:
        from app.services.experiments import experiments

        new = experiments.NewExperiment(name, agent, model, notes, given)
        with podium() as context:
            record, _ = experiments.create(context, new)
        document = _shown(record)
    if as_json:
        print_json(document)
    else:
        print_line(document["name"])


@app.command()
def amend(
    name: Annotated[str, typer.Argument(help="the experiment's name")],
    reason: Annotated[str, typer.Option(help="why, for later readers")],
    agent: Annotated[str | None, typer.Option(help="the agent")] = None,
    model: Annotated[str | None, typer.Option(help="the model that the agent uses")] = None,
    notes: Annotated[str | None, typer.Option(help="notes for readers of results")] = None,
    hours: Annotated[float | None, typer.Option(min=0, max=MOST, help="hours of each run")] = None,
    cost_usd: Annotated[
        float | None, typer.Option(min=0, max=MOST, help="dollars of each run")
    ] = None,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Change an experiment's agent, model, notes, hours or cost; what was before is kept."""
    resources = {"hours": hours, "cost_usd": cost_usd}
    given = {name: value for name, value in resources.items() if value is not None}
    fields: Document = {"agent": agent, "model": model, "notes": notes, "resources": given or None}
    changes = {name: value for name, value in fields.items() if value is not None}
    if there := remote(url, key):
        with there:
            path = path_to("experiments", name)
            document = there.patch(path, {"reason": reason, **changes}).having("after")
    else:
        from app.services.experiments import amendments

        with podium() as context:
            document = asdict(amendments.amend(context, name, changes, reason=reason, by=None))
    if as_json:
        print_json(document)
    else:
        print_line(f"amended {name}: {', '.join(document['after'])}")


@app.command("withdraw-imports")
def withdraw_imports(
    name: Annotated[str, typer.Argument(help="the experiment's name")],
    reason: Annotated[str, typer.Option(help="why, for later readers")],
    competition: Annotated[str | None, typer.Option(help="only of this competition")] = None,
    seed: Annotated[
        int | None, typer.Option(min=LEAST_SEED, max=LARGEST_SEED, help="only of this seed")
    ] = None,
    url: Url = "",
    key: Key = "",
) -> None:
    """Withdraw imported results, so that corrected ones can be imported; they are kept."""
    if there := remote(url, key):
        body = {"reason": reason, "competition": competition, "seed": seed}
        with there:
            found = there.post(path_to("experiments", name, "withdraw-imports"), body)
        count = found["results"]
    else:
        from app.services.experiments import amendments

        with podium() as context:
            count = amendments.withdraw_imports(
                context, name, competition=competition, seed=seed, reason=reason, by=None
            ).results
    print_line(f"withdrew {counted(count, 'imported result')} of {name}")


@app.command("amendments")
def list_amendments(
    name: Annotated[str, typer.Argument(help="the experiment's name")],
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """List what was changed or withdrawn of an experiment, oldest first."""
    if there := remote(url, key):
        with there:
            found = list(there.items(path_to("experiments", name, "amendments")))
    else:
        from app.services.experiments import amendments

        with podium() as context:
            found = [asdict(one) for one in amendments.history(context, name, None, ALL)[0]]
    if as_json:
        print_json(found)
        return
    rows = [
        (moment(one["at"]), one["kind"], one["results"] or "",
         ", ".join(f"{field}: {value}" for field, value in one["before"].items())
         if one["after"] else "", one["reason"])
        for one in found
    ]  # fmt: skip
    print_table(("at", "kind", "results", "before", "reason"), rows, "nothing was amended")


@app.command("list")
def list_experiments(
    archived: Annotated[bool, typer.Option("--archived", help="also archived ones")] = False,
    url: Url = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """List experiments."""
    if there := remote(url, key):
        with there:
            found = list(there.items("/v1/experiments", archived=archived))
    else:
        from app.services.experiments import experiments

        with podium() as context:
            records, _ = experiments.page(context, None, ALL, archived=archived)
        found = [_shown(one) for one in records]
    if as_json:
        print_json(found)
        return
    print_table(
        ("name", "agent", "model", "created"),
        [(one["name"], one["agent"], one["model"], moment(one["created_at"])) for one in found],
        "no experiments",
    )


def _shown(record: ExperimentRecord) -> Document:
    return {
        "name": record.name, "agent": record.agent, "model": record.model, "notes": record.notes,
        "resources": record.resources, "created_at": record.created_at,
    }  # fmt: skip
