"""A competition's own metric.py: loaded from its source, and faults told without its words."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any

from app.errors import BadCompetition

METRIC_FILE = "metric.py"


def load_metric(source: str, name: str) -> Callable[..., Any]:
    """The function `score(answers, submission)` of a metric.py.

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
        exec(compile(source, METRIC_FILE, "exec"), module.__dict__)  # noqa: S102 - its purpose
    except SyntaxError as error:
        problem = (f"line {error.lineno}", f"this is not Python: {error.msg}")
    except (Exception, SystemExit) as error:  # whatever foreign code raises
        problem = ("", f"it fails while it is loaded: {where(error)}")
    function = getattr(module, "score", None)
    if problem is None and not callable(function):
        problem = ("score", "define a function score(answers, submission) that returns a float")
    if problem is not None:
        del sys.modules[module_name]
        raise BadCompetition([{"file": METRIC_FILE, "key": problem[0], "message": problem[1]}])
    score: Callable[..., Any] = function  # type: ignore[assignment]
    return score


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
