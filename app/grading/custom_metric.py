"""Load a competition's own metric.py from its source, and name its errors without their texts."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from app.domain.competition import METRIC_FILE
from app.errors import BadCompetition

LONGEST_TEXT = 200
_shows_texts = False


@dataclass(frozen=True, slots=True)
class CustomMetric:
    """The functions of a metric.py.

    `prepare` is called once with the answers; `score` then gets its result in their place.
    """

    score: Callable[..., Any]
    prepare: Callable[[Any], Any] | None


def load_metric(source: str, name: str) -> CustomMetric:
    """The function `score(answers, submission)` of a metric.py, and `prepare(answers)` if any.

    The code of the module runs here: call this only in a process that may run foreign code.

    Raises:
        BadCompetition: it does not compile, fails while it is loaded, or has no function `score`.
    """
    module_name = "podium_metric_" + re.sub(r"\W", "_", name)
    module = ModuleType(module_name)
    module.__file__ = METRIC_FILE
    # Dataclasses and pickle find a class's module by its name.
    sys.modules[module_name] = module
    problem = None
    try:
        exec(compile_metric(source), module.__dict__)  # noqa: S102 - running metric.py is the purpose
    except SyntaxError as error:
        problem = (f"line {error.lineno}", f"this is not Python: {error.msg}")
    except ModuleNotFoundError as error:
        # A name that the source has cannot be an answer that the module read.
        name = str(error.name)
        what = f" (there is no module {name!r})" if name in source else ""
        problem = ("", f"it fails while it is loaded: {where(error)}{what}")
    except (Exception, SystemExit) as error:  # foreign code may raise anything
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
    """Compile a metric.py, without running it.

    Raises:
        SyntaxError, ValueError: it is not Python.
    """
    return compile(source, METRIC_FILE, "exec")


def show_texts() -> None:
    """From now on, show the texts of exceptions too.

    Call this only in a process of `podium check` or `podium grade`, whose user has the answers.
    """
    global _shows_texts  # noqa: PLW0603 - set once, when a process starts
    _shows_texts = True


def where(error: BaseException) -> str:
    """The type of an exception and its line. Not its text, which may contain answers.

    After `show_texts`, the text follows.

    >>> try:
    ...     [][0]
    ... except IndexError as error:
    ...     where(error).split(" at ")[0]
    'IndexError'
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == METRIC_FILE] or frames
    text = f": {' '.join(str(error).split())[:LONGEST_TEXT]}" if _shows_texts else ""
    if not own:
        return type(error).__name__ + text
    file = own[-1].filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{type(error).__name__} at {file}:{own[-1].lineno}{text}"
