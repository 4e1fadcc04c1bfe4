"""The medal rule: which places on a leaderboard of N teams win a medal.

Source: kaggle.com/progression. Integers only, so that no rounding of floats moves a place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Medal(StrEnum):
    """A medal, best first."""

    GOLD = "gold"
    SILVER = "silver"
    BRONZE = "bronze"


class MedalRule(StrEnum):
    """The rule of boards of fewer than ten teams: each medal at least once, or possibly none."""

    MLE_BENCH = "mle-bench"
    KAGGLE = "kaggle"


@dataclass(frozen=True, slots=True)
class MedalPlaces:
    """The last place that wins each medal; 0 where nobody does."""

    gold: int
    silver: int
    bronze: int


def medal_places(teams: int, rule: MedalRule = MedalRule.MLE_BENCH) -> MedalPlaces:
    """Last winning places on a board of `teams` teams.

    Kaggle rounds percentages down, so nine teams win no gold; MLE-bench gives every medal at
    least the first place. The two differ for N < 10 only.

    Raises:
        ValueError: `teams` is less than 1.

    >>> medal_places(3242)
    MedalPlaces(gold=16, silver=162, bronze=324)
    >>> medal_places(9, MedalRule.KAGGLE)
    MedalPlaces(gold=0, silver=1, bronze=3)
    """
    if teams < 1:
        raise ValueError(f"a leaderboard has at least one team, not {teams}")
    if teams < 100:
        places = (teams * 10 // 100, teams * 20 // 100, teams * 40 // 100)
    elif teams < 250:
        places = (10, teams * 20 // 100, teams * 40 // 100)
    elif teams < 1000:
        places = (10 + teams // 500, 50, 100)
    else:
        places = (10 + teams // 500, teams * 5 // 100, teams * 10 // 100)
    if rule is MedalRule.MLE_BENCH:
        places = (max(1, places[0]), max(1, places[1]), max(1, places[2]))
    return MedalPlaces(*places)
