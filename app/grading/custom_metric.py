"""A competition's own metric.py: loaded from its source, and faults told without its words."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from app.errors import BadCompetition

METRIC_FILE = "metric.py"


@dataclass(frozen=True, slots=True)
class CustomMetric:
    """The functions of a metric.py.

    What `prepare(answers)` makes once of the answers is what `score` gets in their place.
    """

    score: Callable[..., Any]
    prepare: Callable[[Any], Any] | None


def load_metric(source: str, name: str) -> CustomMetric:
    """The function `score(answers, submission)` of a metric.py, and `prepare(answers)` if any.

    The module is run here: do that only where foreign code may run.

    Raises:
        BadCompetition: it does not compile, fails while it is loaded, or has no function `score`.
    """
    module_name = "podium_metric_" + re.sub(r"\W", "_", name)
    module = ModuleType(module_name)
    module.__file__ = METRIC_FILE
    # Dataclasses and pickle look a class's module up by its name.
    sys.modules[module_name] = module
    problem = None
    try:
        exec(compile_metric(source), module.__dict__)  # noqa: S102 - its purpose
    except SyntaxError as error:
        problem = (f"line {error.lineno}", f"this is not Python: {error.msg}")
    except (Exception, SystemExit) as error:  # whatever foreign code raises
        problem = ("", f"it fails while it is loaded: {where(error)}")
    score, prepare = getattr(module, "score", None), getattr(module, "prepare", None)
    if problem is None and not callable(score):
        problem = ("score", "define a function score(answers, submission) that returns a float")
    if problem is None and prepare is not None and not callable(prepare):
        problem = ("prepare", "prepare must be a function of the answers; call it something else")
    if problem is not None:
        del sys.modules[module_name]
        raise BadCompetition([{"file": METRIC_FILE, "key": problem[0], "message": problem[1]}])
    return CustomMetric(score, prepare)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def compile_metric(source: str) -> CodeType:
    """The code of a metric.py. Nothing of it is run here.

    Raises:
        SyntaxError, ValueError: it is not Python.
    """
    return compile(source, METRIC_FILE, "exec")


def where(error: BaseException) -> str:
    """The kind of an exception and the line it comes from; its text may hold answers, so not that.

    >>> try:
    ...     [][0]
    ... except IndexError as error:
    ...     where(error).split(" at ")[0]
    'IndexError'
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == METRIC_FILE] or frames
    if not own:
        return type(error).__name__
    file = own[-1].filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{type(error).__name__} at {file}:{own[-1].lineno}"
