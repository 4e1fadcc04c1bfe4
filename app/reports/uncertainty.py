"""Reports of the noise of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from app.domain.wording import counted
from app.reports.document.page import ReportPage, Table
from app.reports.document.report import NamedRows, Report
from app.reports.document.tables import cell
from app.services.results.noise.experiment_noise import FinalScore, RateNoise, rate_noise
from app.storage.queries.noise.uncertainties import UncertaintyRecord

FINAL = ("competition", "seed", "run", "submission", "score", "medal")
NOISE = ("standard_error", "low", "high", "medals", "reason", "resamples", "undefined", "rows",
         "estimated_at")  # fmt: skip
MEDALS = ("gold", "silver", "bronze", "none")
REGRADED = "a regrade gave the score, and the noise is estimated of first grades"
MEANING = (
    "The noise is that of the test rows: how far scores would differ with other rows like these. "
    "Other seeds of the agent differ more."
)


def uncertainty_document(kept: UncertaintyRecord | None) -> dict[str, Any]:
    """The noise of a score as fields; all null if it was not estimated."""
    found = {name: None if kept is None else getattr(kept, name) for name in NOISE}
    # A run has a seed too, and is in the same row.
    return {**found, "resampling_seed": None if kept is None else kept.seed}


def noise_report(name: str, scores: Sequence[FinalScore]) -> Report:
    """The final scores of an experiment with their noise, and the medals within it.

    Runs that a review excludes have no result, so they are not among them.
    """
    items = [_fields(one) | _noise(one) for one in scores if not one.is_excluded]
    rates = [asdict(one) for one in rate_noise(scores)]
    return noise_report_of({"experiment": name, "items": items, "rates": rates})


def noise_report_of(document: Mapping[str, Any]) -> Report:
    """The same report from its JSON."""
    rows = []
    for item in document["items"]:
        flat = {name: value for name, value in item.items() if name != "medals"}
        medals = item["medals"] or {}
        chances = {f"chance_{medal}": medals.get(medal) for medal in MEDALS}
        rows.append({"experiment": document["experiment"], **flat, **chances})
    rates = [RateNoise(**rate) for rate in document["rates"]]
    shown = ("competition", "seed", "score", "standard_error", "low", "high", "medal",
             *(f"chance_{medal}" for medal in MEDALS), "reason")  # fmt: skip

    def page() -> ReportPage:
        table = Table(shown, [[cell(row[key]) for key in shown] for row in rows])
        return ReportPage([table], [*noise_notes(rates), MEANING])

    names = [name for name in (*FINAL, *NOISE) if name != "medals"]
    shares = [f"chance_{medal}" for medal in MEDALS]
    columns = ("experiment", *names, "resampling_seed", *shares)
    return Report(document, rows or NamedRows(columns, []), page)


def noise_notes(rates: Sequence[RateNoise]) -> list[str]:
    """A line about the noise of the any-medal rate; no line if no noise is known.

    >>> noise_notes([RateNoise("any_medal", 8, 1, 5, 2, 1)])
    ['Noise of the test rows: of 5 medals 2 are nearer to their line than their noise, and 1 of 3 \
scores without a medal is as near to one. Of 1 score the noise is not known.']
    """
    if not rates or not rates[0].measured:
        return []
    one = rates[0]
    lost = one.measured - one.won
    text = (
        f"Noise of the test rows: of {one.won} medals {one.won_within_noise} "
        f"{'is' if one.won_within_noise == 1 else 'are'} nearer to their line than their noise, "
        f"and {one.lost_within_noise} of {lost} scores without a medal "
        f"{'is' if one.lost_within_noise == 1 else 'are'} as near to one."
    )
    if one.unmeasured:
        text += f" Of {counted(one.unmeasured, 'score')} the noise is not known."
    return [text]


def _noise(one: FinalScore) -> dict[str, Any]:
    found = uncertainty_document(one.kept)
    return found if one.regrade is None else {**found, "reason": REGRADED}


def _fields(one: FinalScore) -> dict[str, Any]:
    return {name: getattr(one, name) for name in FINAL}
