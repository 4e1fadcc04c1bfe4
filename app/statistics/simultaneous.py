"""All paired differences of several experiments at once, with errors that hold for all together.

Among twenty equal experiments, some pair differs at p < 0.05 by a paired t test nearly always.
Here all intervals together are right with a probability of 95 %: the critical value is the 95 %
quantile of the largest |t| over all pairs, where each competition's vector of centred differences
has a random sign (a wild bootstrap; Mammen 1993, Romano and Wolf 2005). Each t has the standard
error of its own resample: with fixed ones, few competitions gave too many false differences.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from app.domain.result_choices import RATES
from app.statistics.attempts import Grid
from app.statistics.comparison import within_range
from app.statistics.estimates import DIGITS, SEED, Interval, mean_in_percent
from app.units import PERCENT

Array = NDArray[np.float64]
LEVEL = 0.05
RESAMPLES = 4_000
PAIRS_AT_ONCE = 250  # bounds the memory of the resamples


@dataclass(frozen=True, slots=True)
class Pair:
    """The difference a - b in percentage points.

    `simultaneous95` holds for all pairs together, cut off at -100 and 100. It is None where the
    difference is the same at every competition: nothing is known of its spread. `p` is that of the
    paired t test, there of the exact sign test, and None where all differences are 0; `p_holm` is
    `p` after Holm's correction. `ahead` names the better one where the interval, if there is one,
    leaves out 0 and `p_holm` is below 0.05, and where that follows from two other pairs.
    """

    a: str
    b: str
    difference: float
    sem: float | None
    simultaneous95: Interval | None
    p: float | None
    p_holm: float | None
    ahead: str | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """One experiment among the others.

    `ranks` is the first and the last possible rank: 1 plus those that are ahead of it, and the
    number of those that it is not ahead of. Experiments that share a letter cannot be told apart.
    """

    experiment: str
    mean: float
    ranks: tuple[int, int]
    letters: str


@dataclass(frozen=True, slots=True)
class Simultaneous:
    """All pairs, and the experiments, best first. `critical` is the critical value of |t|."""

    competitions: int
    critical: float | None
    experiments: list[Ranked]
    pairs: list[Pair]


def compare_all(
    names: Sequence[str], grids: Sequence[Grid], rate: str = "any_medal"
) -> Simultaneous:
    """Compare all pairs of grids over the same competitions; seeds are averaged within each.

    Raises:
        ValueError: the grids are not over the same competitions.
    """
    if any(grid.competitions != grids[0].competitions for grid in grids):
        raise ValueError("a paired comparison needs the same competitions everywhere")
    at = RATES.index(rate)
    shares = np.stack([PERCENT * grid.shares[:, at] for grid in grids], axis=1)
    count, many = shares.shape
    means = [mean_in_percent(grid.shares[:, at].tolist(), count) for grid in grids]
    order = sorted(range(many), key=lambda one: (-round(means[one], 9), names[one]))
    left, right = (np.array(side) for side in zip(*combinations(order, 2), strict=True))
    differences = shares[:, left] - shares[:, right]
    # Equal shares of thirds can differ in their last bits.
    differences[np.abs(differences) < 1e-9] = 0.0
    mean = np.round(np.array(means)[left] - np.array(means)[right], DIGITS)
    sem = np.zeros(len(mean)) if count < 2 else differences.std(axis=0, ddof=1) / np.sqrt(count)
    known = sem > 1e-9
    critical = _critical(differences[:, known] - mean[known]) if known.any() else None
    p = np.ones(len(mean))
    p[known] = 2 * stdtr(count - 1, -np.abs(mean[known]) / sem[known])
    # Of the same sign everywhere: the p value of the exact two-sided sign test.
    constant = ~known & (mean != 0.0)
    p[constant] = 2.0 ** (1 - count)
    adjusted = holm(p)
    # A reach of 0 for differences that do not vary. The pair's first has the higher mean. Either
    # criterion alone is right for many competitions; with few, they fail at different places.
    reach = np.where(known, (critical or 0.0) * sem, 0.0)
    is_ahead = (mean - reach > 0) & (adjusted < LEVEL)
    apart = _with_conclusions(
        {
            (names[i], names[j])
            for i, j, is_so in zip(left.tolist(), right.tolist(), is_ahead, strict=True)
            if is_so
        }
    )
    pairs = []
    for number, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        difference, is_tested = float(mean[number]), bool(known[number] or constant[number])
        interval = (difference - float(reach[number]), difference + float(reach[number]))
        pairs.append(
            Pair(
                a=names[i],
                b=names[j],
                difference=difference,
                sem=float(sem[number]) if count > 1 else None,
                simultaneous95=within_range(interval) if known[number] else None,
                p=float(p[number]) if is_tested else None,
                p_holm=float(adjusted[number]) if is_tested else None,
                ahead=names[i] if (names[i], names[j]) in apart else None,
            )
        )
    sorted_names = [names[one] for one in order]
    letters = letters_of(sorted_names, apart)
    ranked = [
        Ranked(
            name,
            means[order[place]],
            (1 + sum(b == name for _, b in apart), many - sum(a == name for a, _ in apart)),
            letters[name],
        )
        for place, name in enumerate(sorted_names)
    ]
    return Simultaneous(count, critical, ranked, pairs)


def _with_conclusions(ahead: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Add each pair that follows: whoever is ahead of one is ahead of all those behind that one.

    >>> sorted(_with_conclusions({("x", "y"), ("y", "z")}))
    [('x', 'y'), ('x', 'z'), ('y', 'z')]
    """
    found, count = set(ahead), 0
    while count < len(found):
        count = len(found)
        behind: dict[str, set[str]] = {}
        for a, b in found:
            behind.setdefault(a, set()).add(b)
        found |= {(a, c) for a, b in found for c in behind.get(b, ())}
    return found


def _critical(centred: Array) -> float:
    """The 95 % quantile of the largest |t|, over random signs of the rows."""
    count = len(centred)
    signs = np.random.default_rng(SEED).choice(np.array([-1.0, 1.0]), (RESAMPLES, count))
    largest = np.zeros(RESAMPLES)
    for start in range(0, centred.shape[1], PAIRS_AT_ONCE):
        part = centred[:, start : start + PAIRS_AT_ONCE]
        # Into the same two arrays: to get the memory of new ones took nearly as long as to compute.
        t = signs @ part
        t /= count
        spread = t**2
        spread *= count
        np.subtract((part**2).sum(axis=0), spread, out=spread)
        spread /= count * (count - 1)
        # A resample in which all differences agree has no spread; its t is as large as can be.
        np.maximum(spread, 1e-12, out=spread)
        np.sqrt(spread, out=spread)
        np.abs(t, out=t)
        t /= spread
        np.maximum(largest, t.max(axis=1), out=largest)
    return float(np.quantile(largest, 0.95, method="higher"))


def holm(p: Array) -> Array:
    """Holm's step-down correction of p values.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, steps)
    return adjusted


def letters_of(names: Sequence[str], apart: set[tuple[str, str]]) -> dict[str, str]:
    """Letters for names: two names share a letter exactly if they do not differ significantly.

    Each letter stands for names of which none is apart from another: two that have no letter in
    common yet get one, with all that fit, in the order of `names`. Letters for all such sets, as
    by Piepho (2004), could be millions: 25 pairs apart within themselves alone have 2^25.

    >>> letters_of(["x", "y", "z"], {("x", "z")})
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    together = {
        name: {other for other in names if not {(name, other), (other, name)} & apart}
        for name in names
    }
    columns: list[list[str]] = []
    shared = {name: set[str]() for name in names}
    for name in names:
        for other in names:
            if other in shared[name] or other not in together[name]:
                continue
            group = {name, other}
            for third in names:
                if group <= together[third]:
                    group.add(third)
            for one in group:
                shared[one] |= group
            columns.append([one for one in names if one in group])
    found = dict.fromkeys(names, "")
    place = {name: at for at, name in enumerate(names)}
    columns.sort(key=lambda column: [place[name] for name in column])
    for letter, column in zip(_letters(), columns, strict=False):
        for name in column:
            found[name] += letter
    return found


def _letters() -> Iterator[str]:
    """The letters a to z, then longer ones with a dot before each, so that they can be joined."""
    yield from string.ascii_lowercase
    length = 2
    while True:
        for word in product(string.ascii_lowercase, repeat=length):
            yield f".{''.join(word)}"
        length += 1
