"""One experiment's attempts in columns: very many of them take little time and memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from app.domain.medals import Medal

MEDALS = (None, Medal.GOLD, Medal.SILVER, Medal.BRONZE)
# An attempt's outcome as a number: a flag in each of its three lowest bits, and above them the
# medal's position in MEDALS.
MADE, VALID, ABOVE_MEDIAN, ONE_MEDAL = 1, 2, 4, 8
KINDS = ONE_MEDAL * len(MEDALS)


class Attempt(NamedTuple):
    """The outcome of one run; (experiment, competition, seed) is its key."""

    experiment: str
    competition: str
    seed: int
    made: bool = False
    valid: bool = False
    medal: Medal | None = None
    above_median: bool = False

    @property
    def outcomes(self) -> tuple[bool, ...]:
        """Whether the attempt counts for each of `RATES`; only the best medal counts."""
        medal = self.medal
        return (
            medal is not None,
            medal is Medal.GOLD,
            medal is Medal.SILVER,
            medal is Medal.BRONZE,
            self.above_median,
            self.valid,
            self.made,
        )


def outcome_of(*, made: bool, valid: bool, medal: Medal | None, above_median: bool) -> int:
    """An attempt's outcome as a number.

    >>> outcome_of(made=True, valid=True, medal=Medal.GOLD, above_median=False)
    11
    """
    flags = made * MADE + valid * VALID + above_median * ABOVE_MEDIAN
    return flags + MEDALS.index(medal) * ONE_MEDAL


def attempt_of(experiment: str, competition: str, seed: int, outcome: int) -> Attempt:
    """The attempt with this key and this outcome of `outcome_of`.

    >>> attempt_of("a", "b", 0, 11).outcomes
    (True, True, False, False, False, True, True)
    """
    return Attempt(
        experiment, competition, seed,
        made=bool(outcome & MADE),
        valid=bool(outcome & VALID),
        medal=MEDALS[outcome // ONE_MEDAL],
        above_median=bool(outcome & ABOVE_MEDIAN),
    )  # fmt: skip


@dataclass(slots=True)
class Attempts:
    """Attempts of one experiment. Row n of each column belongs to attempt n."""

    experiment: str | None = None
    competitions: list[str] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    outcomes: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, attempts: Iterable[Attempt]) -> Attempts:
        """These attempts.

        Raises:
            ValueError: they are of several experiments.
        """
        found = cls()
        for one in attempts:
            found.append(one)
        return found

    def append(self, one: Attempt) -> None:
        """Add an attempt.

        Raises:
            ValueError: it is of another experiment.
        """
        outcome = outcome_of(
            made=one.made, valid=one.valid, medal=one.medal, above_median=one.above_median
        )
        self.extend(Attempts(one.experiment, [one.competition], [one.seed], [outcome]))

    def extend(self, others: Attempts) -> None:
        """Add attempts of the same experiment.

        Raises:
            ValueError: they are of another experiment.
        """
        if self.experiment not in (None, others.experiment):
            raise ValueError(
                f"attempts are of one experiment, not of {self.experiment} and {others.experiment}"
            )
        self.experiment = others.experiment
        self.competitions += others.competitions
        self.seeds += others.seeds
        self.outcomes += others.outcomes

    def copy(self) -> Attempts:
        """A copy to which attempts can be added."""
        return Attempts(
            self.experiment, list(self.competitions), list(self.seeds), list(self.outcomes)
        )

    def seeds_at(self, competitions: Collection[str]) -> set[int]:
        """The seeds of the attempts at these competitions."""
        if set(self.competitions) <= set(competitions):
            return set(self.seeds)
        pairs = zip(self.competitions, self.seeds, strict=True)
        return {seed for slug, seed in pairs if slug in competitions}

    def __len__(self) -> int:
        return len(self.seeds)

    def __iter__(self) -> Iterator[Attempt]:
        for row in zip(self.competitions, self.seeds, self.outcomes, strict=True):
            yield attempt_of(self.experiment or "", *row)
