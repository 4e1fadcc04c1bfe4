"""Import MLE-bench's prepared data, one competition after another."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from app.domain.competition import TOML
from app.errors import BadCompetition
from app.importers.mle_bench import (
    DOJO_PREPARED,
    Sources,
    assemble,
    is_prepared,
    prepared_directory,
)
from app.services.competitions.import_folder import Progress, import_folder
from app.services.runtime.context import Context
from app.storage.database.records import VersionRecord


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The result of importing one competition."""

    slug: str
    state: Literal["imported", "present", "skipped", "wrong"]
    version: VersionRecord | None = None
    notes: tuple[str, ...] = ()
    problems: tuple[dict[str, Any], ...] = ()


def not_prepared(sources: Sources, slug: str) -> str:
    """The path where prepared data was looked for, and the command that makes it."""
    maker = (
        "MLE-Dojo's prepare/mle.py"
        if sources.prepared == DOJO_PREPARED
        else f"MLE-bench's `mlebench prepare -c {slug}`"
    )
    return (
        f"its data is not prepared: there is no {prepared_directory(sources, slug)}; {maker} makes "
        "it (docs/competitions.md)"
    )


def choose(context: Context, sources: Sources, slugs: Sequence[str], suite: str) -> list[str]:
    """The competitions to import: the named ones, a suite's, or all that have data."""
    if slugs:
        return list(slugs)
    if suite:
        return list(context.catalogue.suite(suite))
    root = context.settings.competitions_dir
    folders = sorted(file.parent.name for file in root.glob(f"*/{TOML}"))
    return [slug for slug in folders if is_prepared(sources, slug)]


def import_prepared(
    context: Context, sources: Sources, slugs: Sequence[str], progress: Progress | None = None
) -> Iterator[ImportOutcome]:
    """Import each of the competitions. An error in one does not stop the others."""
    for slug in slugs:
        folder = context.settings.competitions_dir / slug
        if not (folder / TOML).is_file():
            yield ImportOutcome(
                slug, "skipped", notes=("there is no competition folder of this name",)
            )
        elif not is_prepared(sources, slug):
            yield ImportOutcome(slug, "skipped", notes=(not_prepared(sources, slug),))
        else:
            yield _import_one(context, sources, folder, progress)


def _import_one(
    context: Context, sources: Sources, folder: Path, progress: Progress | None
) -> ImportOutcome:
    scratch = context.scratch()
    try:
        done = assemble(folder, sources, scratch)
        found = import_folder(context, done.folder, progress)
    except BadCompetition as error:
        return ImportOutcome(folder.name, "wrong", problems=tuple(error.problems))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    state: Literal["imported", "present"] = "imported" if found.created else "present"
    return ImportOutcome(folder.name, state, found.version, tuple(done.notes))
