"""The runs of one `podium runs create`: made here, or on a Podium elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.cli.remote import Document, Remote, path_to
from app.domain.feedback import Feedback
from app.domain.states import CompetitionStatus
from app.domain.wording import first_few
from app.errors import NeedsData, NotFound, PodiumError
from app.services.competitions import queries
from app.services.experiments.create_run import NewRun, create
from app.services.operations import keys
from app.services.runtime.archival import suite_slugs
from app.services.runtime.context import Context

NAMED = 100  # competitions in an error text


@dataclass(frozen=True, slots=True)
class RunBatch:
    """The runs to make: one for each competition of the suite, or of the list, and each seed."""

    experiment: str
    suite: str
    competitions: tuple[str, ...]
    seeds: range
    feedback: Feedback
    limits: dict[str, Any]


def create_here(context: Context, batch: RunBatch) -> Iterator[Document]:
    """Make the runs in this Podium, one after the other. Yields each with its key.

    Raises:
        NotFound, NeedsData: competitions are not imported, or have no data; all are named. No run
            was made.
        Conflict: a run exists already. The runs before it in the batch were made.
    """
    if batch.suite:
        slugs = sorted(suite_slugs(context, batch.suite) or ())
    else:
        slugs = list(batch.competitions)
    found = queries.current_versions(context, slugs)
    _refuse_unready(slugs, {each.slug: each.status.value for each in found})
    for slug in slugs:
        for seed in batch.seeds:
            new = NewRun(batch.experiment, slug, seed, batch.feedback, batch.limits)
            run, key = create(context, new)
            yield {"run": run.id, "competition": slug, "seed": seed, "key": key}


def create_elsewhere(there: Remote, batch: RunBatch) -> Iterator[Document]:
    """Do the same over HTTP."""
    query = {"suite": batch.suite, "archived": not batch.suite}
    states = {one["slug"]: one["status"] for one in there.items("/v1/competitions", **query)}
    slugs = list(batch.competitions)
    if batch.suite:
        members = there.get(path_to("suites", batch.suite))["competitions"]
        slugs = [
            one["slug"]
            for one in members
            if one["slug"] in states or one["status"] == "not_imported"
        ]
    _refuse_unready(slugs, states)
    for slug in slugs:
        for seed in batch.seeds:
            body = {
                "experiment": batch.experiment, "competition": slug, "seed": seed,
                "feedback": batch.feedback.value, "limits": batch.limits,
            }  # fmt: skip
            run = there.post("/v1/runs", body)
            yield {"run": run["id"], "competition": slug, "seed": seed, "key": run["key"]}


def revoke_here(context: Context, made: list[Document]) -> int:
    """Revoke the keys of new runs. Returns the number of keys."""
    ids = [one.id for run in made for one in keys.page(context, run=run["run"], limit=None)[0]]
    for each in ids:
        keys.revoke(context, each)
    return len(ids)


def revoke_elsewhere(there: Remote, made: list[Document]) -> int:
    """Do the same over HTTP. A researcher may not revoke keys, so then none is revoked."""
    try:
        ids = [one["id"] for run in made for one in there.items("/v1/keys", run=run["run"])]
        for each in ids:
            there.delete(f"/v1/keys/{each}")
    except PodiumError:
        return 0
    return len(ids)


def _refuse_unready(slugs: list[str], states: dict[str, str]) -> None:
    unknown = [slug for slug in slugs if slug not in states]
    if unknown:
        count = f"{len(unknown)} of {len(slugs)} competitions are not imported"
        one = f"There is no competition {unknown[0]}, or it is archived"
        what = one if len(slugs) == 1 else count
        named = "" if len(slugs) == 1 else f": {first_few(unknown, NAMED)}"
        raise NotFound(
            f"{what}{named}; `podium competitions list --archived` shows all that are imported. No "
            "run was made."
        )
    needy = [slug for slug in slugs if states[slug] != CompetitionStatus.READY.value]
    if needy:
        raise NeedsData(
            f"{len(needy)} of {len(slugs)} competitions have no data: {first_few(needy, NAMED)}. "
            "An admin has to import it, or name the others with --competition. No run was made."
        )
