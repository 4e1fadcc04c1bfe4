"""Receipts, freezes and the public log in requests and responses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from app.api.schemas.requests import Body, RunLimits, Seed
from app.domain.feedback import Feedback
from app.domain.result_choices import Padding
from app.receipts.statements import ReceiptKind

Slug = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9-]+$")]


class ReceiptOut(BaseModel):
    """A receipt without its bytes, which `GET /v1/receipts/{id}` gives."""

    id: str
    kind: ReceiptKind
    experiment: str
    run: str | None
    submission: str | None
    sha256: str = Field(description="of the signed bytes; the log has it")
    index: int = Field(description="the number of its entry in the public log")
    key: str = Field(description="the id of the key that signed it")
    supersedes: str | None = Field(description="the receipt in whose place it came")
    created_at: datetime


class ExperimentReceiptIn(Body):
    """The subject of an experiment's receipt."""

    suite: Slug | None = Field(
        default=None, description="competitions of it without a run are listed as missing"
    )
    padding: Padding = Field(default=Padding.NONE, description="how rates count missing results")


class FreezeIn(Body):
    """The plan of an experiment before its first run. Name either a suite or competitions."""

    suite: Slug | None = None
    competitions: list[Slug] = Field(default_factory=list, max_length=1000)
    seeds: Annotated[list[Seed], Field(min_length=1, max_length=1000)]
    feedback: Feedback
    selection: Literal["selected", "last"] = Field(
        default="last", description="whether the selected or the last valid submission is final"
    )
    padding: Padding = Padding.NONE
    limits: RunLimits = RunLimits()


class Departure(BaseModel):
    """Something that is not as planned."""

    code: str
    text: str


class FreezeOut(BaseModel):
    """The freeze of an experiment, and what departs from it by now."""

    receipt: ReceiptOut
    departures: list[Departure]


class LogEntryOut(BaseModel):
    """An entry of the public log. `leaf` is what its hash is made of, byte for byte."""

    index: int
    kind: str
    sha256: str = Field(description="of the receipt or record")
    at: datetime
    leaf: str


class LogEntriesOut(BaseModel):
    """Entries of the public log, in their order."""

    items: list[LogEntryOut]
    next_start: int | None = Field(description="`start` of the next page")


class LogRecordOut(LogEntryOut):
    """An entry with its record, for readers of results; null for a receipt, which is its own."""

    record: str | None


class InclusionOut(BaseModel):
    """That an entry is in the log of a checkpoint (RFC 6962, 2.1.1); hashes are in base64."""

    index: int
    leaf: str
    proof: list[str]
    checkpoint: str = Field(description="a signed note")


class ConsistencyOut(BaseModel):
    """That the log of a checkpoint begins with its first `from` entries (RFC 6962, 2.1.2)."""

    start: int = Field(alias="from")
    proof: list[str]
    checkpoint: str = Field(description="a signed note")


class SigningKeyOut(BaseModel):
    """A key that signs receipts, in the forms that verifiers take."""

    id: str
    name: str
    public_key: str = Field(description="as OpenSSH writes it")
    verifier_key: str = Field(description="for signed notes, as C2SP writes it")
    pem: str = Field(description="for OpenSSL")
    valid_after: datetime
    valid_before: datetime | None
    revoked_at: datetime | None
    reason: str | None
