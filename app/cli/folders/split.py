"""`podium split`: rows of the answers that agents may search on."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.options import AsJson
from app.cli.output import import_command, out, print_json


def split(
    slug: Annotated[str, typer.Argument(help="the competition, or the path of its folder")],
    search: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="share of the private rows to search on")
    ],
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="chooses the rows")] = 0,
    as_json: AsJson = False,
) -> None:
    """Make private rows of a competition rows to search on, in a new folder to import.

    The folder is in the data directory, below `split`. This command imports nothing.
    """
    from app.cli.progress import working
    from app.read_settings import read_settings
    from app.services.competitions.folders import competition_folder
    from app.services.competitions.split_search import split_search

    settings = read_settings()
    folder = competition_folder(settings.competitions_dir, slug)
    with working(f"{folder.name}: splitting"):
        made = split_search(folder, settings.data_dir, share=search, seed=seed)
    if as_json:
        print_json({"folder": str(made.folder), "seed": seed, "rows": made.rows})
        return
    rows = ", ".join(f"{count} {usage}" for usage, count in made.rows.items())
    out.print(f"{folder.name}: {rows}, seed {seed}", markup=False, highlight=False)
    out.print(
        f"To import it as a new version: {import_command(made.folder)}",
        markup=False, highlight=False, soft_wrap=True,
    )  # fmt: skip
