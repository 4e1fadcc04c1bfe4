"""Data of competitions: medal lines from Podium, public files where the harness has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from mlebench.podium import PodiumError, from_environment

if TYPE_CHECKING:
    from mlebench.registry import Competition


@dataclass(frozen=True)
class MedalLines:
    """The scores that the medals and the median of the human leaderboard need."""

    gold_threshold: float | None
    silver_threshold: float | None
    bronze_threshold: float | None
    median_threshold: float | None
    is_lower_better: bool


def get_leaderboard(competition: Competition) -> MedalLines:
    """The medal lines of the competition. The table of teams stays on Podium.

    Raises:
        PodiumError: Podium does not answer, or has no such competition.
    """
    report = from_environment().lines(competition.id)
    return MedalLines(**{name: report[name] for name in MedalLines.__dataclass_fields__})


def is_dataset_prepared(competition: Competition, grading_only: bool = False) -> bool:
    """Whether Podium can grade the competition, and without `grading_only` its public files exist.

    Raises:
        PodiumError: Podium does not answer.
    """
    if not grading_only:
        return competition.public_dir.is_dir() and any(competition.public_dir.iterdir())
    try:
        get_leaderboard(competition)
    except PodiumError as error:
        if " answered 404" in str(error):
            return False
        raise
    return True


def download_and_prepare_dataset(*args: Any, **kwargs: Any) -> NoReturn:
    """Podium prepares competitions, on its own machine.

    Raises:
        PodiumError: always.
    """
    raise PodiumError(
        "podium-mlebench prepares no data: an admin of Podium runs `podium import kaggle SLUG`, "
        "and agents download the public files from Podium."
    )
