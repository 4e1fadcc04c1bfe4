"""Commands that load their module when they run, so that listing them loads nothing.

Why: docs/decisions/0023-commands-are-loaded-when-they-run.md.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any, ClassVar, get_args

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command, get_group

NUMBERS = {int, float}
# Options whose empty value, for example from a variable that is not set, would mean all.
NAMES = {"competition", "experiment", "run", "submission", "suite"}


class Group(TyperGroup):
    """A group whose own options are read without loading pydantic.

    Typer loads it to convert None, the default of --help and of the options of completion, but
    accepts False unchanged. The options of a group are converted before those of its commands are
    read.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of the group; a flag that is not given is False."""
        options = (one for one in self.get_params(ctx) if isinstance(one, TyperOption))
        ctx.default_map = {
            one.name: False for one in options if one.is_bool_flag and one.default is None
        }
        return super().parse_args(ctx, args)


class LazyCommand(TyperCommand):
    """A command or a group of commands, by its location as `package.module:name`.

    Lists of commands and shell completion show `line`; the help of its group has it in `panel`. The
    function or `typer.Typer` at that location has the rest of its help, and its options.
    """

    def __init__(self, name: str, place: str, line: str, panel: str | None = None) -> None:
        super().__init__(name, help=line, rich_help_panel=panel)
        self._place = place

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Read the arguments of the real command, with which click continues."""
        return self.load().make_context(info_name, args, parent=parent, **extra)

    def load(self) -> TyperCommand | TyperGroup:
        """Import the module and build the real command."""
        target = _at(self._place)
        command: Any
        if isinstance(target, typer.Typer):
            command = get_group(target)
        else:
            single = typer.Typer(add_completion=False)
            single.command(self.name)(target)
            command = get_command(single)
        command.name = self.name
        loaded: TyperCommand | TyperGroup = command
        for each in _with_subcommands(loaded):
            _join_lines(each)
            _read_plainly(each)
        return loaded


def _with_subcommands(command: Any) -> Iterator[Any]:
    """A command, and all commands of a group and of its groups."""
    yield command
    for each in getattr(command, "commands", {}).values():
        yield from _with_subcommands(each)


def _join_lines(command: Any) -> None:
    """Make each paragraph of the help one line, which Typer then fits to the terminal.

    Typer joins the lines of the first paragraph only. It would break the lines of a docstring again
    where the terminal is narrower than they are.
    """
    if command.help:
        paragraphs = cleandoc(command.help).split("\n\n")
        command.help = "\n\n".join(" ".join(each.split("\n")) for each in paragraphs)


def _read_plainly(command: Any) -> None:
    """Refuse empty paths and names, and numbers with an underscore, as HTTP does: 1_0 is not 10.

    The arguments are checked before Typer reads them, because its errors drop the first words of
    pydantic's.
    """
    for parameter in command.params:
        parameter.process_value = partial(_read_word, parameter, parameter.process_value)


def _read_word(parameter: Any, read: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    annotation = parameter.type_descriptor.annotation
    words = value if isinstance(value, (list, tuple)) else (value,)
    if (annotation in NUMBERS or set(get_args(annotation)) & NUMBERS) and any(
        isinstance(word, str) and "_" in word for word in words
    ):
        plain = "expected a number in decimal digits, without underscores"
        raise typer.BadParameter(plain, ctx=ctx, param=parameter)
    if (annotation is Path or Path in get_args(annotation)) and "" in words:
        # For example from a variable that is not set. For Python it is the current directory.
        raise typer.BadParameter("expected a path, and it is empty", ctx=ctx, param=parameter)
    if parameter.name in NAMES and "" in words and _is_given_option(parameter, ctx):
        raise typer.BadParameter("expected a name, and it is empty", ctx=ctx, param=parameter)
    try:
        return read(ctx, value)
    except typer.BadParameter as refusal:
        refusal.message = refusal.message.removeprefix("Value error, ")
        raise


def _is_given_option(parameter: Any, ctx: Any) -> bool:
    """Whether the caller gave a value for the option, since the default of some is empty."""
    is_default = ctx.get_parameter_source(parameter.name).name == "DEFAULT"
    return parameter.opts[0].startswith("--") and not is_default


class Program(TyperCommand):
    """A function at `package.module:name` that parses its arguments itself.

    Typer loads pydantic to parse the arguments of a command; a program that must stay small uses
    neither. The group calls `run` before it reads any argument.
    """

    def __init__(self, name: str, place: str, line: str, panel: str | None = None) -> None:
        super().__init__(name, help=line, rich_help_panel=panel)
        self._place = place

    def run(self, arguments: list[str]) -> None:
        """Call the function with its arguments."""
        _at(self._place)(arguments)


class LazyGroup(Group):
    """A group of commands: the name, location and line of each, by panel of its help."""

    package: ClassVar[str] = ""
    panels: ClassVar[Mapping[str, tuple[tuple[str, str, str], ...]]] = {}
    programs: ClassVar[frozenset[str]] = frozenset()  # names of those that are a `Program`

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for panel, commands in self.panels.items():
            for name, place, line in commands:
                kind = Program if name in self.programs else LazyCommand
                self.commands[name] = kind(name, f"{self.package}.{place}", line, panel)

    def main(self, args: Sequence[str] | None = None, *more: Any, **kwargs: Any) -> Any:
        """Run the command that `args`, or else the process's arguments, name."""
        words = list(sys.argv[1:] if args is None else args)
        program = self.commands.get(words[0]) if words else None
        if isinstance(program, Program):
            return program.run(words[1:])
        return super().main(args, *more, **kwargs)


def _at(place: str) -> Any:
    module, _, name = place.partition(":")
    # Modules leave hardly any garbage, and the search for it takes a sixth of their import's time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return getattr(import_module(module), name)
    finally:
        if was_enabled:
            gc.enable()
