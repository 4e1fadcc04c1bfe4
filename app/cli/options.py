"""Options that many commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.regular_file import open_regular


def regular(file: Path | None) -> Path | None:
    """The file of an option or argument, once it is known that reading it does not wait for ever.

    Raises:
        BadParameter: it is not a regular file, as a named pipe or a device, or cannot be opened.
    """
    if file is not None:
        try:
            open_regular(file).close()
        except OSError as error:
            raise typer.BadParameter(
                f"{file} cannot be read: {error.strerror}. Name a file: no folder, no named pipe "
                "and no device."
            ) from None
    return file


def all_regular(files: list[Path]) -> list[Path]:
    """`regular`, for an argument of several files."""
    for file in files:
        regular(file)
    return files


def address(ctx: typer.Context, param: typer.CallbackParam, url: str) -> str:
    """The address of a Podium; "" without one.

    Raises:
        BadParameter: it is given, and empty, as from a variable that is not set: the command would
            use the data directory here.
    """
    source = ctx.get_parameter_source(str(param.name))
    if not url and source is not None and source.name == "COMMANDLINE":
        raise typer.BadParameter(
            "expected http://host:port, and it is empty; leave the option out for the data "
            "directory here"
        )
    return url


AsJson = Annotated[bool, typer.Option("--json", help="print JSON on standard output")]
Url = Annotated[
    str,
    typer.Option(
        "--url",
        envvar="PODIUM_URL",
        callback=address,
        help="the address of a Podium elsewhere; default: the data directory here",
    ),
]
Key = Annotated[
    str,
    typer.Option(
        "--key",
        envvar="PODIUM_KEY",
        show_envvar=True,
        help="a key of that Podium; better in the variable, where other users do not see it",
    ),
]
