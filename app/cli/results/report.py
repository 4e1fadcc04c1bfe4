"""`podium report` and `podium compare`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated

import typer

from app.cli.context import podium
from app.cli.options import AsJson
from app.cli.results.options import (
    Csv,
    Form,
    FormOption,
    HowExcluded,
    KnownBaselines,
    Out,
    Paddings,
    Parquet,
    Starter,
    Suite,
    Threshold,
    moment_of,
    scope_of,
)
from app.domain.result_choices import RATES, Baselines, Excluded, GroupBy, Padding, SuccessGroupBy
from app.errors import Invalid

AsOf = Annotated[
    datetime | None,
    typer.Option(
        parser=moment_of,
        metavar="TIME",
        help="medal rates as they were at this time, with the regrades in force then "
        "(2026-05-01T12:00:00Z)",
    ),
]
Columns = Annotated[
    list[str],
    typer.Option(
        help="the columns of a board and their order, by name, separated by commas, as "
        "experiment,all,all.runs95; for one experiment too"
    ),
]


def report(
    experiments: Annotated[
        list[str],
        typer.Argument(help="an experiment, or several for a board over the same competitions"),
    ],
    suite: Suite = "",
    padding: Annotated[
        Padding | None,
        typer.Option(
            help="how missing results count; default for medals: none, for success: complete"
        ),
    ] = None,
    group_by: Annotated[
        GroupBy | None,
        typer.Option(help="medal rates also for each group of this kind; default: complexity"),
    ] = None,
    exclude_flags: Annotated[str, typer.Option(help="codes of flags, separated by commas")] = "",
    excluded: HowExcluded = Excluded.DROP,
    success: Annotated[
        bool | None,
        typer.Option(
            "--success/--medals",
            help="success against baselines, or medals; by default success if no competition has "
            "a human leaderboard",
        ),
    ] = None,
    threshold: Threshold = None,
    baselines: KnownBaselines = Baselines.REQUIRED,
    starter: Starter = None,
    as_of: AsOf = None,
    latex: Annotated[
        bool, typer.Option("--latex", help="a board for LaTeX: --format latex, for one too")
    ] = False,
    columns: Columns = [],  # noqa: B006
    as_json: AsJson = False,
    csv: Csv = False,
    parquet: Parquet = None,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Print the medal rates of experiments, or one's success against baselines.

    Several experiments make a board of medal rates over the same competitions, best first. Medal
    rates include the row of MLE-bench's leaderboard; --success prints a row for each competition.
    In a file or a pipe the tables are Markdown.
    """
    by_success = (threshold, starter) != (None, None) or baselines is Baselines.KNOWN
    if by_success and success is False:
        raise Invalid(
            "--threshold, --baselines and --starter need success against baselines: leave out "
            "--medals."
        )
    if success or by_success:
        _refuse_options_of_medals(experiments, group_by, as_of, columns)
    experiment = experiments[0]
    if latex and form not in (None, Form.LATEX):
        raise Invalid(f"Name one form, not latex and {form}.")
    form = Form.LATEX if latex else form
    is_board = len(experiments) > 1 or form is Form.LATEX or bool(columns)
    if form is Form.LATEX and (success or by_success):
        is_board = False
    from app.cli.results.forms import print_report
    from app.reports.medal_rates import board_report, medal_rates_report
    from app.reports.success_rates import success_report
    from app.services.results import board, experiment_results, success_rates
    from app.services.results.noise.experiment_noise import noise_of
    from app.services.results.only_baselines import has_only_baselines
    from app.storage.queries.regrades.in_force import Basis

    scope = scope_of(suite, padding or Padding.NONE, exclude_flags, excluded)
    scope = replace(scope, basis=Basis(as_of=as_of))
    with podium(doing="counting results") as context:
        is_open = success is None and not by_success and as_of is None and not columns
        if is_open and group_by is None and len(experiments) == 1:
            by_success = has_only_baselines(context, experiment, scope.suite)
        by = group_by or GroupBy.COMPLEXITY
        if success or by_success:
            scope = replace(scope, padding=padding or Padding.COMPLETE)
            asked = success_rates.SuccessScope(scope, threshold, baselines, starter)
            found = success_rates.success(context, experiment, asked, SuccessGroupBy.COMPETITION)
            shown = success_report(found)
        elif is_board:
            several = board.experiment_board(context, scope, by, experiments)
            if len(experiments) == 1 and several.absent:
                # Its own report says in detail why it cannot be counted.
                experiment_results.medal_rates(context, experiment, scope, by)
            shown = board_report(several, by, columns)
        else:
            rates = experiment_results.medal_rates(context, experiment, scope, by)
            shown = medal_rates_report(*rates, by, noise_of(context, rates[0]))
    print_report(shown, form=form, to=to, as_json=as_json, csv=csv, parquet=parquet)


def _refuse_options_of_medals(
    experiments: list[str], group_by: GroupBy | None, as_of: datetime | None, columns: list[str]
) -> None:
    """Refuse options that are only for medal rates, if success rates are requested."""
    if group_by is not None:
        raise Invalid(
            "--group-by is for medal rates: success against baselines has a row for each "
            "competition."
        )
    if as_of is not None:
        raise Invalid("--as-of is for medal rates: leave out what asks for success.")
    if len(experiments) > 1:
        raise Invalid("Success against baselines is reported for one experiment at a time.")
    if columns:
        raise Invalid("--columns is for a board of medal rates: leave out what asks for success.")


def compare(
    experiments: Annotated[list[str], typer.Argument(help="two or more experiments")],
    suite: Annotated[str, typer.Option(help="the suite; default: their common competitions")] = "",
    padding: Paddings = Padding.NONE,
    exclude_flags: Annotated[str, typer.Option(help="codes of flags, separated by commas")] = "",
    rate: Annotated[str, typer.Option(help=f"the rate: {', '.join(RATES)}")] = "any_medal",
    as_json: AsJson = False,
    csv: Csv = False,
    parquet: Parquet = None,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Compare two experiments, or all pairs of several, over the same competitions.

    For two it prints the paired difference with its tests; for more, intervals that hold for all
    pairs together, Holm's p, possible ranks, and letters that differ only for significant
    differences.
    """
    if rate not in RATES:
        raise Invalid(f"--rate is one of {', '.join(RATES)}, not {rate!r}.")
    if len(set(experiments)) < 2:
        raise Invalid("Name at least two different experiments.")
    from app.cli.results.forms import print_report
    from app.reports.comparisons import comparison_report, simultaneous_report
    from app.services.results import board

    scope = scope_of(suite, padding, exclude_flags, Excluded.DROP)
    with podium(doing="counting results") as context:
        if len(experiments) == 2:
            a, b = experiments
            shown = comparison_report(*board.compare(context, a, b, scope, rate), rate)
        else:
            several = board.compare_many(context, experiments, scope, rate)
            shown = simultaneous_report(*several, rate)
    print_report(shown, form=form, to=to, as_json=as_json, csv=csv, parquet=parquet)
