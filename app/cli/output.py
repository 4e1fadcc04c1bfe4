"""Output of commands: text in a terminal, JSON for programs."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sys
from codecs import lookup
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from app.errors import PodiumError, StorageFull, Unavailable

# Characters that control a terminal: control characters, direction marks, invisible characters, and
# surrogates. Line feeds and tabs are text.
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""The text with each character that would control a terminal written as an escape.

    Names, notes and errors may have been written by anybody.

    >>> visible("a\x1b[2J b\u202ec")
    'a\\x1b[2J b\\u202ec'
    """
    return STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


class VisibleConsole(Console):
    """A console that prints texts unchanged, except characters that would control the terminal."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print objects; in texts, characters that would control a terminal become escapes."""
        shown = (visible(one) if isinstance(one, str) else one for one in objects)
        super().print(*shown, **options)


# Lines are wrapped only in a terminal, because `grep` and logs need complete lines.
out = VisibleConsole(emoji=False, soft_wrap=not sys.stdout.isatty())
err = VisibleConsole(stderr=True, emoji=False, soft_wrap=not sys.stderr.isatty())


def print_line(text: object) -> None:
    """Print a complete line on standard output, without markup and colours, and never wrapped."""
    typer.echo(visible(str(text)))  # noqa: TID251


def print_note(text: str) -> None:
    """Print a text on standard error, without markup and colours, wrapped in a terminal."""
    err.print(text, markup=False, highlight=False)


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json_text(document))  # noqa: TID251


def import_command(folder: Path) -> str:
    """The command that imports a folder, quoted for a shell.

    >>> import_command(Path("my tables/prices"))
    "podium import folder 'my tables/prices'"
    """
    return shlex.join(["podium", "import", "folder", str(folder)])


@contextlib.contextmanager
def report_at_the_end(done: Collection[Any], report: Callable[[], None]) -> Iterator[None]:
    """Call `report` at the end of the block; after an error or Ctrl-C, if anything was `done`."""
    try:
        yield
    except BaseException:
        if done:
            report()
        raise
    report()


def json_at_the_end(
    done: Collection[Any], document: Callable[[], Any], *, as_json: bool
) -> AbstractContextManager[None]:
    """Print a document of the results, also if an error or Ctrl-C ends the block."""
    return report_at_the_end(done, lambda: print_json(document()) if as_json else None)


@contextlib.contextmanager
def one_of(count: int, name: str, what: str, failed: list[str]) -> Iterator[None]:
    """Print the error of one of several, and add its name to `failed`, so that the others go on.

    The error is raised if the others would have it too, such as a full disk, or if there is only
    one.
    """
    try:
        yield
    except (StorageFull, Unavailable):
        raise
    except PodiumError as error:
        if count == 1:
            raise
        failed.append(name)
        err.print(f"{name}: {what}: {error.detail}", markup=False, highlight=False, soft_wrap=True)


def print_new_key(made: dict[str, Any], *, as_json: bool, revoke: Callable[[], object]) -> None:
    """Print a new key, which is shown once: alone, or with its record as JSON.

    A key that cannot be printed is revoked, because nobody has seen it.

    Raises:
        OSError: standard output cannot be written, for example because its disk is full.
    """
    try:
        typer.echo(json_text(made) if as_json else visible(str(made["key"])))  # noqa: TID251
    except OSError:
        revoke()
        print_note("The new key could not be printed, so it was revoked.")
        raise


def json_text(document: Any) -> str:
    """A JSON document as commands print it; nothing in it controls a terminal."""
    # If the output is not UTF-8, JSON's escapes are used.
    is_utf8 = lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    text = json.dumps(document, indent=2, default=_as_text, ensure_ascii=not is_utf8)
    return STEERING.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _as_text(value: object) -> str:
    """A time as the API writes it (RFC 3339), and other values that JSON does not have."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)
