"""`podium new`: a competition from the user's own table, or from Kaggle's train table."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.options import AsJson, regular
from app.errors import Invalid

if TYPE_CHECKING:
    from app.services.competitions.kaggle_table import KaggleTable
    from app.settings import Settings

TEST_SHARE, KAGGLE_TEST_SHARE = 0.2, 0.1  # the second is that of half of MLE-bench's splits


def new(
    slug: Annotated[
        str,
        typer.Argument(help="the name of the competition and of its folder; default: Kaggle's"),
    ] = "",
    data: Annotated[Path | None, typer.Option(help="the table: a CSV or Parquet file")] = None,
    from_kaggle: Annotated[
        str,
        typer.Option(metavar="SLUG", help="a competition on Kaggle: its train table is downloaded"),
    ] = "",
    table: Annotated[
        str, typer.Option(help="Kaggle's file with the train table, if there are several")
    ] = "",
    target: Annotated[
        str, typer.Option(help="the column to predict; default: by Kaggle's sample submission")
    ] = "",
    id_column: Annotated[
        str,
        typer.Option("--id", help="the column with ids; default: as in Kaggle's, or Podium's own"),
    ] = "",
    group: Annotated[
        str, typer.Option(help="split so that rows with the same value here stay together")
    ] = "",
    time: Annotated[
        str, typer.Option(help="split so that the latest rows by this column are predicted")
    ] = "",
    random: Annotated[
        bool,
        typer.Option(
            "--random", help="do not keep the shares of the classes (always on with --from-kaggle)"
        ),
    ] = False,
    metric: Annotated[str, typer.Option(help="the metric; default: proposed by the target")] = "",
    test_share: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=0.9, help="share of predicted rows; default: 0.2, with Kaggle's table 0.1"
        ),
    ] = None,
    public_share: Annotated[
        float,
        typer.Option(min=0.01, max=0.9, help="share of the test rows whose score may be public"),
    ] = 0.3,
    search_share: Annotated[
        float,
        typer.Option(min=0, max=0.9, help="share of the other test rows that agents may search on"),
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="chooses rows and ids")] = 0,
    title: Annotated[str, typer.Option(help="the title; default: the name in words")] = "",
    baseline: Annotated[
        bool, typer.Option(help="train and grade scikit-learn's defaults as the baseline")
    ] = True,
    leaderboard: Annotated[
        Path | None,
        typer.Option(
            help="a leaderboard.csv for it", exists=True, dir_okay=False, callback=regular
        ),
    ] = None,
    into: Annotated[Path, typer.Option(help="where the folder is made")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Make a complete competition folder from a table of your own or of Kaggle, and check it.

    Give --data and --target, or --from-kaggle. From Kaggle's archive it downloads only the train
    table and the sample submission. Then a random tenth of the rows, chosen by the seed, is the
    test set, as in about half of MLE-bench's competitions.
    """
    from app.cli.folders.new_output import print_made
    from app.cli.progress import working
    from app.preparation.from_table.split import How
    from app.read_settings import read_settings
    from app.services.competitions.check_competition import check_folder
    from app.services.competitions.new_competition import (
        NewCompetitionChoices,
        new_competition,
        require_new,
    )
    from app.services.grading.grade_folder import grade_with_folder, local_graders

    if sum(map(bool, (group, time, random))) > 1:
        raise Invalid("Name one of --group, --time and --random.")
    if (data is None) == (not from_kaggle):
        raise Invalid("Name a file with --data, or a competition on Kaggle with --from-kaggle.")
    if data is not None and (not slug or not target or table):
        raise Invalid("With --data name the competition and --target; --table is for Kaggle's.")
    how: How | None = "group" if group else "time" if time else None
    if random or (from_kaggle and how is None):
        how = "random"
    folder = into / (slug or from_kaggle)
    require_new(folder)
    settings = read_settings()
    with contextlib.ExitStack() as stack:
        origin = ids_note = ""
        if data is None:
            found = stack.enter_context(_of_kaggle(settings, from_kaggle, table, target, id_column))
            data, target, id_column = found.file, found.predicted.target, found.predicted.id or ""
            origin = f"{found.member} of Kaggle's competition {from_kaggle}"
            ids_note = found.predicted.made_because
        share = test_share or (KAGGLE_TEST_SHARE if from_kaggle else TEST_SHARE)
        choices = NewCompetitionChoices(
            data, target, title, id_column or None, how, group or time or None, share,
            public_share, search_share, metric, seed, baseline, leaderboard, origin,
        )  # fmt: skip
        with working(f"{folder.name}: splitting the table" + ", training the baseline" * baseline):
            made = new_competition(
                folder, choices, lambda made, file: grade_with_folder(settings, made, file)[1]
            )
    with local_graders(settings) as graders, working(f"{folder.name}: checking the folder"):
        problems = check_folder(graders, made.folder).problems
    print_made(made, choices, problems, ids_note, as_json=as_json)
    if problems:
        raise typer.Exit(1)


@contextlib.contextmanager
def _of_kaggle(
    settings: Settings, slug: str, table: str, target: str, id_column: str
) -> Iterator[KaggleTable]:
    from app.cli.output import print_note
    from app.cli.progress import file_progress
    from app.importers.kaggle_source import KaggleSource
    from app.services.competitions.kaggle_table import ChosenTable, kaggle_table

    wanted = ChosenTable(slug, table, target, id_column)
    with contextlib.ExitStack() as stack:
        with file_progress("downloading") as progress:
            found = stack.enter_context(
                kaggle_table(
                    settings,
                    KaggleSource(print_note),
                    wanted,
                    print_note,
                    lambda size: progress(slug, size),
                )
            )
        yield found
