"""A scorer and a task for Inspect AI, which ask a Podium to grade."""

from podium_inspect.scorer import podium_scorer
from podium_inspect.tasks import competitions

__all__ = ["competitions", "podium_scorer"]
