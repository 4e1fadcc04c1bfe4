"""`podium selection`: what the choice of final submissions cost."""

from __future__ import annotations

from app.cli.context import podium
from app.cli.options import AsJson
from app.cli.results.options import (
    Convention,
    ConventionOption,
    Csv,
    Experiment,
    Flags,
    FormOption,
    HowExcluded,
    Out,
    Paddings,
    Parquet,
    Suite,
    scope_of,
)
from app.domain.result_choices import Excluded, Padding


def selection(
    experiment: Experiment,
    suite: Suite = "",
    padding: Paddings = Padding.NONE,
    exclude_flags: Flags = "",
    excluded: HowExcluded = Excluded.DROP,
    percentile: ConventionOption = Convention("mid-rank"),
    as_json: AsJson = False,
    csv: Csv = False,
    parquet: Parquet = None,
    form: FormOption = None,
    to: Out = None,
) -> None:
    """Print what the choice of final submissions cost in medals and places, and the shake-up."""
    from app.cli.results.forms import print_report
    from app.reports.selection import selection_report
    from app.services.results.choice import selection as choices

    scope = scope_of(suite, padding, exclude_flags, excluded)
    with podium(doing="counting results") as context:
        found = choices.selection(context, experiment, scope, percentile.value)
    shown = selection_report(found)
    print_report(shown, form=form, to=to, as_json=as_json, csv=csv, parquet=parquet)
