"""The base model of every section of `competition.toml`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Code = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Section(BaseModel):
    """A frozen table that rejects unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
