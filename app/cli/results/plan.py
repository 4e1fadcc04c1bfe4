"""`podium plan`: what difference so many seeds and competitions can detect."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.context import podium
from app.cli.options import AsJson
from app.cli.results.options import (
    Csv,
    FormOption,
    Out,
    Paddings,
    Parquet,
    Rate,
    RateOption,
    Suite,
    scope_of,
    whole_numbers,
)
from app.domain.result_choices import Excluded, Padding
from app.errors import Invalid


def plan(
    experiments: Annotated[
        list[str] | None, typer.Argument(help="two experiments whose spreads are taken")
    ] = None,
    between: Annotated[
        float | None, typer.Option(min=0, max=100, help="stated spread over competitions, points")
    ] = None,
    within: Annotated[
        float | None, typer.Option(min=0, max=100, help="stated spread of an attempt, points")
    ] = None,
    competitions: Annotated[
        str, typer.Option(help="numbers of competitions; default: as many as the experiments have")
    ] = "",
    seeds: Annotated[str, typer.Option(help="numbers of seeds")] = "1,2,3,5,8,16",
    power: Annotated[
        float, typer.Option(min=0.1, max=0.99, help="the chance to find the difference")
    ] = 0.8,
    suite: Suite = "",
    padding: Paddings = Padding.NONE,
    rate: RateOption = Rate("any_medal"),
    as_json: AsJson = False,
    csv: Csv = False,
    parquet: Parquet = None,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Print what difference so many seeds and competitions can detect.

    The spreads are those of two experiments here, or stated by --between and --within.
    """
    from app.cli.results.forms import print_report
    from app.reports.planning import plan_report
    from app.services.results.planning import from_experiments, from_spread
    from app.statistics.planning import Spread

    if (between is None) != (within is None) or (between is not None and experiments):
        raise Invalid("Give either two experiments, or --between and --within together.")
    counts, numbers = whole_numbers("--competitions", competitions), whole_numbers("--seeds", seeds)
    if between is not None and within is not None:
        spread = Spread(between, within)
        found = from_spread(spread, counts, numbers, power=power, rate=rate.value)
    elif not experiments:
        raise Invalid("Give two experiments, or --between and --within.")
    else:
        scope = scope_of(suite, padding, "", Excluded.DROP)
        with podium(doing="counting results") as context:
            found = from_experiments(
                context, experiments, scope, counts, numbers, power=power, rate=rate.value
            )
    print_report(plan_report(found), form=form, to=to, as_json=as_json, csv=csv, parquet=parquet)
