"""Pages of a list, by number or by cursor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paging:
    """Which part of a list is shown. Numbers of pages begin with 1."""

    number: int
    size: int
    total: int

    @property
    def first(self) -> int:
        """The number of the first item shown, from 1; 0 on an empty page."""
        return min(self.total, (self.number - 1) * self.size + 1)

    @property
    def last(self) -> int:
        """The number of the last item shown."""
        return min(self.total, self.number * self.size)

    @property
    def offset(self) -> int:
        """The number of items before the first one shown."""
        return (self.number - 1) * self.size

    @property
    def pages(self) -> int:
        """The number of pages, at least 1."""
        return max(1, -(-self.total // self.size))


@dataclass(frozen=True, slots=True)
class Shown:
    """Which part of a list with a cursor is shown: `count` items after `before`."""

    before: int
    count: int
    total: int

    @property
    def first(self) -> int:
        """The number of the first item shown, from 1; 0 on an empty page."""
        return self.before + 1 if self.count else 0

    @property
    def last(self) -> int:
        """The number of the last item shown."""
        return self.before + self.count if self.count else 0
