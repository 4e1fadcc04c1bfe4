"""A cache of decoded competitions: the most recently used ones, within a budget of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from app.graders.version_folder import VersionFolder

T = TypeVar("T")


class VersionCache(Generic[T]):
    """The results of `load(folder)`, cached by folder: a version never changes.

    A result that is larger than the budget is returned and not cached. `kept_bytes` is the size of
    those that are cached.

    >>> from pathlib import Path
    >>> cache = VersionCache(10, load=lambda folder: folder.path.name, size=len)
    >>> folders = [VersionFolder("a", Path(name)) for name in ("one", "one", "fifteen long")]
    >>> [cache.get(folder) for folder in folders], cache.kept_bytes
    (['one', 'one', 'fifteen long'], 3)
    """

    def __init__(
        self, budget: int, *, load: Callable[[VersionFolder], T], size: Callable[[T], int]
    ) -> None:
        self._budget = budget
        self._load = load
        self._size = size
        self._kept: OrderedDict[VersionFolder, tuple[T, int]] = OrderedDict()
        self.kept_bytes = 0

    def get(self, folder: VersionFolder) -> T:
        """The version in this directory, loaded if it is not kept. `load`'s errors pass through."""
        found = self._kept.get(folder)
        if found is not None:
            self._kept.move_to_end(folder)
            return found[0]
        loaded = self._load(folder)
        size = self._size(loaded)
        if size <= self._budget:
            while self.kept_bytes + size > self._budget:
                _, (_, freed) = self._kept.popitem(last=False)
                self.kept_bytes -= freed
            self._kept[folder] = (loaded, size)
            self.kept_bytes += size
        return loaded
