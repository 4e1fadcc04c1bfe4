"""What Inspect finds by the entry point: the scorer and the task, named podium_inspect/..."""

from podium_inspect.scorer import podium_scorer
from podium_inspect.tasks import competitions

__all__ = ["competitions", "podium_scorer"]
