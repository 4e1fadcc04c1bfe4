"""Refuse a filter that left a list empty if it names something that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.cli.context import current_entry
from app.cli.remote import Remote, path_to

if TYPE_CHECKING:
    from app.services.runtime.context import Context


def refuse_unknown_there(there: Remote, experiment: str, competition: str) -> None:
    """Check that the experiment and the competition of a filter exist; "" means no filter.

    Raises:
        NotFound: one does not.
    """
    if experiment:
        there.get(path_to("experiments", experiment))
    if competition:
        there.get(path_to("competitions", competition))


def refuse_unknown_here(context: Context, experiment: str, competition: str) -> None:
    """As `refuse_unknown_there`, for the Podium of this data directory.

    Raises:
        NotFound: one does not exist.
    """
    from app.services.experiments import experiments

    if experiment:
        experiments.find(context, experiment)
    if competition:
        current_entry(context, competition)
