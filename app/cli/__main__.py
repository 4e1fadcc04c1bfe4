"""`python -m app.cli` is `podium`."""

from app.cli.root import app

app(prog_name="podium")
