"""The base model of every section of `competition.toml`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

CODE = r"^[a-z][a-z0-9_]*$"
# Results repeat them in each row.
Code = Annotated[str, StringConstraints(pattern=CODE, max_length=100)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]


class Section(BaseModel):
    """A frozen table that rejects unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
