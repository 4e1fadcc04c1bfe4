"""`podium new`: a competition from a table of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, err, out, print_json, working
from app.errors import Invalid
from app.read_settings import read_settings


def new(
    slug: Annotated[str, typer.Argument(help="the name of the competition and of its folder")],
    data: Annotated[Path, typer.Option(help="the table: a CSV or Parquet file")],
    target: Annotated[str, typer.Option(help="the column to predict")],
    id_column: Annotated[
        str, typer.Option("--id", help="the column with ids; without: Podium makes ids")
    ] = "",
    group: Annotated[
        str, typer.Option(help="split so that rows with the same value here stay together")
    ] = "",
    time: Annotated[
        str, typer.Option(help="split so that the latest rows by this column are predicted")
    ] = "",
    random: Annotated[
        bool, typer.Option("--random", help="do not keep the shares of the classes in the split")
    ] = False,
    metric: Annotated[str, typer.Option(help="the metric; without: proposed by the target")] = "",
    test_share: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="share of the rows that are predicted")
    ] = 0.2,
    public_share: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="share of these whose score may be public")
    ] = 0.3,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="chooses rows and ids")] = 0,
    title: Annotated[str, typer.Option(help="the title; without: the name in words")] = "",
    baseline: Annotated[
        bool, typer.Option(help="train and grade scikit-learn's defaults as the baseline")
    ] = True,
    into: Annotated[Path, typer.Option(help="where the folder is made")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Make a complete competition folder from a table of your own, and check it."""
    # pandas and scikit-learn, which no other command needs
    from app.preparation.split import How
    from app.services.competitions.check_competition import check_folder
    from app.services.competitions.new_competition import Choices, new_competition
    from app.services.grading.grade_folder import grade_with_folder, local_graders

    if sum(map(bool, (group, time, random))) > 1:
        raise Invalid("Name one of --group, --time and --random.")
    how: How | None = "group" if group else "time" if time else "random" if random else None
    choices = Choices(
        data, target, title, id_column or None, how, group or time or None, test_share,
        public_share, metric, seed, baseline,
    )  # fmt: skip
    settings = read_settings()
    with working(f"{slug}: splitting the table" + ", training the baseline" * baseline):
        made = new_competition(
            into / slug, choices, lambda folder, file: grade_with_folder(settings, folder, file)[1]
        )
    with local_graders(settings) as graders, working(f"{slug}: checking the folder"):
        checked = check_folder(graders, made.folder)
    if as_json:
        print_json({
            "folder": str(made.folder), "metric": made.target.metric, "kind": made.target.kind,
            "reason": made.target.reason, "split": made.how, "train_rows": made.train_rows,
            "public_rows": made.public_rows, "private_rows": made.private_rows,
            "baseline": made.baseline_score, "leaks": made.leaks,
            "problems": list(checked.problems),
        })  # fmt: skip
    else:
        out.print(f"{made.folder}: a {made.how} split, seed {seed}", highlight=False)
        out.print(
            f"  target: {target}, {made.target.kind}: {made.target.reason}",
            highlight=False, markup=False,
        )  # fmt: skip
        out.print(f"  metric: {made.target.metric} (--metric chooses another)", highlight=False)
        out.print(
            f"  rows: {made.train_rows} to train on, {made.public_rows} public, "
            f"{made.private_rows} private",
            highlight=False,
        )
        if made.baseline_score is not None:
            out.print(f"  baseline: {made.baseline_score:.6g} by scikit-learn's defaults")
        for each in made.leaks:
            err.print(f"  leak: {each}", markup=False, highlight=False)
    for problem in checked.problems:
        err.print(f"{problem['file']}: {problem['message']}", markup=False, highlight=False)
    if checked.problems:
        raise typer.Exit(1)
    if not as_json:
        out.print(
            f"Read description.md and competition.toml, then: podium import folder {made.folder}",
            highlight=False, markup=False,
        )  # fmt: skip
