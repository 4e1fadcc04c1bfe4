"""The choices of whoever asks for results: how missing ones count, groups, rates and axes."""

from __future__ import annotations

from enum import StrEnum

RATES = (
    "any_medal",
    "gold",
    "silver",
    "bronze",
    "above_median",
    "valid_submission",
    "made_submission",
)


class Padding(StrEnum):
    """How a (competition, seed) without a result counts."""

    NONE = "none"  # the statistic is refused, and the missing results are listed
    FAIL = "fail"  # it counts as a failure: no submission was made
    COMPLETE = "complete"  # a seed that misses any competition is left out
    AVAILABLE = "available"  # each competition counts with the results that it has


class Excluded(StrEnum):
    """The treatment of attempts at competitions with an excluded flag."""

    DROP = "drop"  # the competition is left out
    FAIL = "fail"  # its attempts count as failures


class Reviews(StrEnum):
    """Whether runs that reviews exclude count."""

    APPLY = "apply"  # they have no result
    IGNORE = "ignore"  # they count like all others


class GroupBy(StrEnum):
    """The property by which competitions are grouped."""

    COMPLEXITY = "complexity"
    CATEGORY = "category"
    TAG = "tag"
    RESOURCES = "resources"


class SuccessGroupBy(StrEnum):
    """The property by which success rates are grouped."""

    COMPETITION = "competition"
    CATEGORY = "category"
    TAG = "tag"


class Baselines(StrEnum):
    """The treatment of runs at competitions without a known baseline."""

    REQUIRED = "required"  # the statistic is refused, and they are listed
    KNOWN = "known"  # they are left out, and listed


class Axis(StrEnum):
    """The quantity on the horizontal axis."""

    HOURS = "hours"
    TOKENS = "tokens"
    DOLLARS = "dollars"


class PictureKind(StrEnum):
    """The kinds of pictures."""

    MEDAL_RATES = "medal-rates"
    LEADERBOARD = "leaderboard"
    MEDALS_OVER_TIME = "medals-over-time"
    COMPARISON = "comparison"
    COST = "cost"
    HEAT_MAP = "heat-map"
