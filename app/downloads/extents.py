"""The ranges of bytes of a file that are downloaded."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

Range = tuple[int, int]  # the first byte, and the first one after it


class Extents:
    """Ranges of bytes, sorted and disjoint.

    >>> there = Extents([(0, 10), (20, 30)])
    >>> there.missing(5, 25)
    [(10, 20)]
    >>> there.add(10, 20)
    >>> there.ranges()
    [(0, 30)]
    """

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in ranges:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        """Note that the bytes from `start` to before `end` are there."""
        if start >= end:
            return
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def remove(self, start: int, end: int) -> None:
        """Note that the bytes from `start` to before `end` are not there."""
        before, self._starts, self._ends = self.ranges(), [], []
        for one, other in before:
            self.add(one, min(other, start))
            self.add(max(one, end), other)

    def missing(self, start: int, end: int) -> list[Range]:
        """The parts of a range that are not there, in order."""
        found = []
        for place in range(bisect_right(self._ends, start), len(self._starts)):
            if self._starts[place] >= end:
                break
            if start < self._starts[place]:
                found.append((start, self._starts[place]))
            start = self._ends[place]
        return [*found, (start, end)] if start < end else found

    def ranges(self) -> list[Range]:
        """All that is there, in order."""
        return list(zip(self._starts, self._ends, strict=True))

    def total(self) -> int:
        """The number of bytes that are there."""
        return sum(self._ends) - sum(self._starts)
