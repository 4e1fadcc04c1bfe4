"""Further statistics in a terminal: `podium scores`, `pass-at-k`, `sensitivity` and so on."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.context import podium
from app.cli.options import AsJson
from app.cli.results.options import (
    Convention,
    Csv,
    Experiment,
    Flags,
    FormOption,
    HowExcluded,
    Out,
    Paddings,
    Parquet,
    Rate,
    RateOption,
    ScaleName,
    Suite,
    scope_of,
    whole_numbers,
)
from app.domain.result_choices import Axis, Excluded, Padding
from app.errors import Invalid

LATEST_MOMENT = 1e12  # as over HTTP


def scores(
    experiment: Experiment,
    against: Annotated[
        str | None, typer.Option(help="another experiment: the probability to score higher")
    ] = None,
    suite: Suite = "",
    padding: Paddings = Padding.NONE,
    exclude_flags: Flags = "",
    excluded: HowExcluded = Excluded.DROP,
    scale: Annotated[ScaleName, typer.Option(help="the scale of the scores")] = ScaleName(
        "percentile"
    ),
    percentile: Annotated[
        Convention | None, typer.Option(help="the convention of the percentiles, or mid-rank")
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(help="the score of the optimality gap: 100, or 1 on other scales"),
    ] = None,
    as_json: AsJson = False,
    csv: Csv = False,
    parquet: Parquet = None,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Print an experiment's percentiles or normalised scores: mean, IQM, profile and more."""
    from app.cli.results.forms import print_report
    from app.reports.score_summaries import scores_report
    from app.services.results.scores import score_summaries

    with podium(doing="counting results") as context:
        found = score_summaries.scores(
            context, experiment, scope_of(suite, padding, exclude_flags, excluded),
            scale=scale.value, convention=percentile and percentile.value, target=target,
            against=against,
        )  # fmt: skip
    print_report(scores_report(found), form=form, to=to, as_json=as_json, csv=csv, parquet=parquet)


def pass_at_k(
    experiment: Experiment,
    k: Annotated[str, typer.Option("-k", help="one or several numbers, separated by commas")] = "1",
    suite: Suite = "",
    padding: Paddings = Padding.NONE,
    exclude_flags: Flags = "",
    excluded: HowExcluded = Excluded.DROP,
    rate: RateOption = Rate("any_medal"),
    as_json: AsJson = False,
    csv: Csv = False,
    parquet: Parquet = None,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Print the chance that the best of k attempts counts."""
    from app.cli.results.forms import print_report
    from app.reports.comparisons import pass_at_k_report
    from app.services.results import experiment_results

    ks = tuple(sorted(set(whole_numbers("-k", k))))
    if not ks:
        raise Invalid("-k takes a whole number, or several, separated by commas, as 1,2,3.")
    with podium(doing="counting results") as context:
        scope = scope_of(suite, padding, exclude_flags, excluded)
        counted, found, public = experiment_results.pass_at_k(
            context, experiment, scope, ks, rate.value
        )
    shown = pass_at_k_report(counted, found, rate.value, public)
    print_report(shown, form=form, to=to, as_json=as_json, csv=csv, parquet=parquet)


def sensitivity(
    experiment: Experiment,
    suite: Suite = "",
    padding: Paddings = Padding.NONE,
    exclude_flags: Flags = "",
    excluded: HowExcluded = Excluded.DROP,
    rate: RateOption = Rate("any_medal"),
    as_json: AsJson = False,
    csv: Csv = False,
    parquet: Parquet = None,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Print a rate without each flag and each competition, and with each padding."""
    from app.cli.results.forms import print_report
    from app.reports.sensitivity import sensitivity_report
    from app.services.results import sensitivity as sensitivities

    with podium(doing="counting results") as context:
        scope = scope_of(suite, padding, exclude_flags, excluded)
        found = sensitivities.sensitivity(context, experiment, scope, rate.value)
    print_report(
        sensitivity_report(found), form=form, to=to, as_json=as_json, csv=csv, parquet=parquet
    )


def items(
    suite: Annotated[str, typer.Argument(help="the suite")],
    experiment: Annotated[
        list[str], typer.Option(help="only this experiment; may be repeated")
    ] = [],  # noqa: B006
    padding: Paddings = Padding.FAIL,
    exclude_flags: Flags = "",
    excluded: HowExcluded = Excluded.DROP,
    rate: RateOption = Rate("any_medal"),
    as_json: AsJson = False,
    csv: Csv = False,
    parquet: Parquet = None,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Print how well each competition of a suite separates the experiments."""
    from app.cli.results.forms import print_report
    from app.reports.items import items_report
    from app.services.results import board

    if not suite:
        raise Invalid("Name a suite, as mle-bench: its competitions are compared.")
    scope = scope_of(suite, padding, exclude_flags, excluded)
    with podium(doing="counting results") as context:
        found = board.items(context, scope, rate.value, experiment)
    shown = items_report(scope, *found, rate.value)
    print_report(shown, form=form, to=to, as_json=as_json, csv=csv, parquet=parquet)


def curve(
    experiment: Experiment,
    axis: Annotated[Axis, typer.Option(help="what the medals are shown against")] = Axis.HOURS,
    at: Annotated[
        str, typer.Option(help="moments, separated by commas; default: spread evenly")
    ] = "",
    suite: Suite = "",
    padding: Paddings = Padding.NONE,
    exclude_flags: Flags = "",
    excluded: HowExcluded = Excluded.DROP,
    as_json: AsJson = False,
    csv: Csv = False,
    parquet: Parquet = None,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Print medals over hours, tokens or dollars, and the regret of each choice."""
    from app.cli.results.forms import print_report
    from app.reports.medals_over_time import curves_report
    from app.services.results import medals_over_time

    try:
        moments = tuple(sorted({float(part) for part in at.split(",") if part.strip()}))
    except ValueError:
        moments = (-1.0,)
    if not all(0 <= moment < LATEST_MOMENT for moment in moments):  # nor is that true of nan
        raise Invalid(f"--at takes numbers from 0, separated by commas, as 1,2.5, not {at!r}.")
    with podium(doing="counting results") as context:
        scope = scope_of(suite, padding, exclude_flags, excluded)
        found = medals_over_time.curves(context, experiment, scope, axis, moments)
    shown = curves_report(experiment, found)
    print_report(shown, form=form, to=to, as_json=as_json, csv=csv, parquet=parquet)
