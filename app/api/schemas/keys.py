"""Keys in requests and responses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from app.api.schemas.requests import Body, Name
from app.domain.states import Role
from app.services.operations.keys import LONGEST_NAME, NAME

Holder = Annotated[str, StringConstraints(max_length=LONGEST_NAME, pattern=NAME.pattern)]


class KeyIn(Body):
    """A new key of an admin, a researcher or a harness."""

    role: Literal["admin", "researcher", "harness"]
    experiment: Name | None = Field(
        default=None, description="of a harness's key, and of no other: the experiment it grades"
    )
    name: Holder = Field(default="", description="the name of its holder")
    expires: Annotated[str, StringConstraints(max_length=100)] = Field(
        default="", description="its lifetime, as `12h` or `90d`; default: unlimited"
    )


class RunKeyIn(Body):
    """A further key of a run."""

    revoke_others: bool = Field(default=False, description="revoke the keys that the run has")


class KeyOut(BaseModel):
    """A key's holder, never the key."""

    id: str
    role: Role
    name: str
    run: str | None
    experiment: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class KeyCreated(KeyOut):
    """A new key, which only this response shows; and the ids of keys that were revoked for it."""

    key: str
    revoked: list[str]
