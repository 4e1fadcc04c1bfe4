"""`podium harbor-task SLUG DIR`: a competition as a task of Harbor."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from app.cli.context import current_entry, podium
from app.cli.harbor.task_folder import Download, HarborTask, write_task
from app.cli.options import Key, Url
from app.cli.output import out
from app.cli.remote import Remote, path_to, remote
from app.domain.states import CompetitionStatus
from app.errors import Invalid, NeedsData, TakesNoSubmissions


def harbor_task(
    slug: Annotated[str, typer.Argument(help="the competition's slug")],
    folder: Annotated[Path, typer.Argument(help="the folder to make", metavar="DIR")],
    verifier_url: Annotated[
        str, typer.Option(help="the address of Podium for verifiers; default: --url")
    ] = "",
    url: Url = "",
    key: Key = "",
) -> None:
    """Write a competition as a task of Harbor, whose verifier asks Podium to grade.

    The folder has the description, the public files, and a verifier with a container of its own. It
    has no answers and no key: set PODIUM_KEY to the key of a harness where Harbor runs.
    """
    address = (verifier_url or url).rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise Invalid("Name the address of Podium for verifiers: --verifier-url https://...")
    if there := remote(url, key):
        with there:
            _from_elsewhere(there, slug, folder, address)
    else:
        _from_here(slug, folder, address)
    out.print(f"wrote {folder}", markup=False, highlight=False)


def _from_here(slug: str, folder: Path, address: str) -> None:
    with podium() as context:
        entry = current_entry(context, slug)
        version = entry.version
        metric = entry.competition.metric
        _refuse_ungraded(slug, version.status.value, is_measured=metric.measured)
        files = context.catalogue.public_files.of(version.id)
        digests = {file["name"]: file["sha256"] for file in files}
        task = HarborTask(
            slug, entry.competition.title, f"sha256:{version.content_hash}", metric.name,
            metric.higher_is_better, entry.description or "", tuple(digests), address,
        )  # fmt: skip

        def copy(name: str, path: Path) -> None:
            with context.catalogue.files.lease_public(version, name, digests[name]) as lease:
                shutil.copyfile(lease.path, path)

        _write(task, folder, copy, sum(file["bytes"] for file in files))


def _from_elsewhere(there: Remote, slug: str, folder: Path, address: str) -> None:
    place = path_to("competitions", slug)
    found = there.get(place)
    _refuse_ungraded(slug, found["status"], is_measured=found["measured"] is not None)
    task = HarborTask(
        slug, found["title"], f"sha256:{found['content_hash']}", found["metric"]["name"],
        found["metric"]["higher_is_better"], there.text(f"{place}/description"),
        tuple(file["name"] for file in found["files"]), address,
    )  # fmt: skip

    def download(name: str, path: Path) -> None:
        there.download(f"{place}/files/{quote(name)}", path)

    _write(task, folder, download, sum(file["bytes"] for file in found["files"]))


def _write(task: HarborTask, folder: Path, download: Download, total: int) -> None:
    from app.cli.progress import file_progress

    with file_progress(task.slug, total) as progress:

        def counted(name: str, path: Path) -> None:
            progress(name, 0)
            download(name, path)
            progress(name, path.stat().st_size)

        write_task(task, folder, counted)


def _refuse_ungraded(slug: str, status: str, *, is_measured: bool) -> None:
    if is_measured:
        raise TakesNoSubmissions(f"{slug} takes no submissions: a harness measures its results.")
    if status != CompetitionStatus.READY.value:
        raise NeedsData(f"{slug} cannot be graded yet: an admin has to import its data.")
