"""Output of commands: text in a terminal, JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer
from rich.console import Console

# Lines are wrapped to the width of a terminal only: `grep` and logs need them in one piece.
out = Console(soft_wrap=not sys.stdout.isatty())
err = Console(stderr=True, soft_wrap=not sys.stderr.isatty())


def print_line(text: str) -> None:
    """A line on standard output, as it is: without markup and colours."""
    out.print(text, markup=False, highlight=False)


def print_note(text: str) -> None:
    """The same on standard error."""
    err.print(text, markup=False, highlight=False)


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json_text(document))


def json_text(document: Any) -> str:
    """A JSON document as commands print it."""
    return json.dumps(document, indent=2, default=str, ensure_ascii=False)
