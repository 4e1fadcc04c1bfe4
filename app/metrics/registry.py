"""The registry of metrics: their kinds, columns and parameters, and checks of their use."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from app.domain.columns import Column
from app.domain.competition import Competition
from app.domain.form import SubmissionForm
from app.domain.metric_aliases import metric_of
from app.domain.metric_choice import higher_is_better
from app.domain.toml_errors import value_message

# The kinds as the domain declares them, read from there so that they are stated once.
KINDS: frozenset[str] = frozenset(
    kind
    for model in get_args(get_args(Column)[0])
    for kind in get_args(model.model_fields["kind"].annotation)
)

Bound = Callable[[Any, Any], float]
Prepare = Callable[[Any], Any]
Check = Callable[[SubmissionForm, Mapping[str, Any]], list[str]]
Function = TypeVar("Function", bound=Callable[..., float])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a metric: its type, and its default unless it is required."""

    name: str
    type: TypeAdapter[Any]
    required: bool
    default: Any

    def problem_of(self, value: Any) -> str | None:
        """The mistakes in a value."""
        try:
            self.type.validate_python(value, strict=True)
        except ValidationError as error:
            reasons = dict.fromkeys(value_message(each) for each in error.errors())
            return f"{self.name} = {value!r}: " + "; ".join(reasons)
        return None


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric, and the submissions it fits.

    `kinds` are the kinds of columns it takes; `columns` says whether it takes several of them;
    `minimum` is the smallest value it is defined for; `check` says what else must hold between
    the declared columns and the parameters. `prepare` makes of the answers, once for all
    submissions, what the function also takes in their place.
    """

    name: str
    function: Callable[..., float]
    kinds: frozenset[str]
    columns: Literal["one", "any"]
    minimum: float | None
    parameters: Mapping[str, Parameter]
    check: Check | None
    prepare: Prepare | None = None

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger score is a better one, as the name's ending says."""
        return higher_is_better(self.name)


METRICS: dict[str, Metric] = {}


def metric(
    *,
    kinds: set[str],
    columns: Literal["one", "any"] = "one",
    minimum: float | None = None,
    check: Check | None = None,
    prepare: Prepare | None = None,
) -> Callable[[Function], Function]:
    """Register `f(y_true, y_pred, *, parameter=...) -> float` under its own name.

    Raises:
        ValueError: the name is taken or does not tell the direction, or a kind is unknown.
    """
    if unknown := sorted(kinds - KINDS):
        raise ValueError(f"{unknown[0]!r} is not a kind of column; kinds: {_listed(KINDS)}")

    def register(function: Function) -> Function:
        name = function.__name__
        higher_is_better(name)
        if name in METRICS:
            raise ValueError(f"there are two metrics called {name}")
        METRICS[name] = Metric(
            name,
            function,
            frozenset(kinds),
            columns,
            minimum,
            _parameters(function),
            check,
            prepare,
        )
        return function

    return register


def bind(name: str, parameters: Mapping[str, Any]) -> Bound:
    """The metric with its parameters set: a function of answers and submission, picklable.

    Raises:
        ValueError: there is no such metric, or a parameter is unknown, missing or ill-typed.
    """
    found = METRICS.get(name)
    if found is None:
        known = metric_of(name)
        near = [known] if known else difflib.get_close_matches(name, METRICS, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"metrics: {_listed(METRICS)}"
        raise ValueError(f"there is no metric {name!r}; {hint}")
    if problems := _parameter_problems(found, parameters):
        raise ValueError(f"{name}: " + "; ".join(problems))
    return partial(found.function, **parameters)


def problems(competition: Competition) -> list[str]:
    """Everything that does not fit between a competition's metric and its columns."""
    choice, form = competition.metric, competition.form
    try:
        bind(choice.name, choice.parameters)
    except ValueError as error:
        return [str(error)]
    found = METRICS[choice.name]
    messages = []
    for name, column in form.columns.items():
        if column.kind not in found.kinds:
            messages.append(
                f"{found.name} does not take columns of kind {column.kind} ({name!r}); "
                f"it takes {_listed(found.kinds)}"
            )
        elif found.minimum is not None:
            low = getattr(column, "min", None)
            if low is None or low < found.minimum:
                messages.append(
                    f"{found.name} is defined from {found.minimum:g} up: "
                    f"declare min = {found.minimum:g} or more for column {name!r}"
                )
    if found.columns == "one" and len(form.columns) > 1:
        messages.append(f"{found.name} takes one column, not {len(form.columns)}")
    if not messages and found.check is not None:
        messages.extend(found.check(form, choice.parameters))
    return messages


def _parameters(function: Callable[..., float]) -> dict[str, Parameter]:
    """The keyword-only parameters of a metric."""
    types = get_type_hints(function, include_extras=True)
    return {
        name: Parameter(
            name,
            TypeAdapter(types[name]),
            required=declared.default is inspect.Parameter.empty,
            default=None if declared.default is inspect.Parameter.empty else declared.default,
        )
        for name, declared in inspect.signature(function).parameters.items()
        if declared.kind is inspect.Parameter.KEYWORD_ONLY
    }


def _parameter_problems(found: Metric, parameters: Mapping[str, Any]) -> list[str]:
    """The problems of the given parameters."""
    messages = []
    for name, value in parameters.items():
        if name not in found.parameters:
            known = _listed(found.parameters) if found.parameters else "none"
            messages.append(f"there is no parameter {name!r}; parameters: {known}")
        elif problem := found.parameters[name].problem_of(value):
            messages.append(problem)
    messages.extend(
        f"the parameter {name!r} is required"
        for name, parameter in found.parameters.items()
        if parameter.required and name not in parameters
    )
    return messages


def _listed(names: Any) -> str:
    return ", ".join(sorted(names))
