"""Options that many commands have."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="print JSON on standard output")]
Url = Annotated[
    str,
    typer.Option(
        "--url",
        envvar="PODIUM_URL",
        help="the address of a Podium elsewhere; without: the data directory here",
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
