"""The scorer and the task that Inspect finds by the entry point, named podium_inspect/..."""

from podium_inspect.scorer import podium_scorer
from podium_inspect.tasks import competitions

__all__ = ["competitions", "podium_scorer"]
