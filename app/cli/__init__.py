"""The `podium` command: each command in a file of its own, over the same services as HTTP."""

from app.cli.root import app

__all__ = ["app"]
