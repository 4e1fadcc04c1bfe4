"""Commands that load their module when they run, so that listing them loads nothing.

Why: docs/decisions/0023-commands-are-loaded-when-they-run.md.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group


class LazyCommand(TyperCommand):
    """A command or a group of commands, by its place as `package.module:name`.

    Lists of commands and shell completion show `line`. The function or `typer.Typer` at that place
    has the rest of its help, its options and its code.
    """

    def __init__(self, name: str, place: str, line: str) -> None:
        super().__init__(name, help=line)
        self._place = place

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Read the arguments of the real command; click goes on with that one."""
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
        return loaded


class Program(TyperCommand):
    """A function at `package.module:name` that parses its arguments itself.

    Typer loads pydantic to parse the arguments of a command; a program that must stay small uses
    neither. The group calls `run` before it reads any argument.
    """

    def __init__(self, name: str, place: str, line: str) -> None:
        super().__init__(name, help=line)
        self._place = place

    def run(self, arguments: list[str]) -> None:
        """Call the function with its arguments."""
        _at(self._place)(arguments)


class LazyGroup(TyperGroup):
    """A group of commands: name, place and line of each."""

    lazy: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    programs: ClassVar[frozenset[str]] = frozenset()  # names of those that are a `Program`

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, place, line in self.lazy:
            kind = Program if name in self.programs else LazyCommand
            self.commands[name] = kind(name, place, line)

    def main(self, args: Sequence[str] | None = None, *more: Any, **kwargs: Any) -> Any:
        """Run the command that `args`, or else the process's arguments, name."""
        words = list(sys.argv[1:] if args is None else args)
        program = self.commands.get(words[0]) if words else None
        if isinstance(program, Program):
            return program.run(words[1:])
        return super().main(args, *more, **kwargs)


def _at(place: str) -> Any:
    module, _, name = place.partition(":")
    # Modules leave hardly any garbage; looking for it takes a sixth of the time of their import.
    gc.disable()
    try:
        return getattr(import_module(module), name)
    finally:
        gc.enable()
