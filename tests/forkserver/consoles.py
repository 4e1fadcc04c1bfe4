"""The consoles of commands, which look at their streams when they are made."""

from __future__ import annotations

import importlib

from app.cli import output


def renew() -> None:
    """Let the consoles be what they would be if they were made now: a stream may be a terminal."""
    consoles = output.out, output.err
    importlib.reload(output)
    for console, made in zip(consoles, (output.out, output.err), strict=True):
        vars(console).update(vars(made))
