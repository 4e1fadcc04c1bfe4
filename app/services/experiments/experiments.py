"""Experiments: one agent and one model, with the same resources for all runs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.errors import Conflict, Invalid, NotFound
from app.services.runtime.context import Context
from app.services.runtime.pages import one_more, page_of
from app.storage.database.records import ExperimentRecord
from app.storage.queries import experiments

# Unicode's categories of characters that are invisible, or look different on each machine: control
# and format characters (direction marks, zero widths), separators of lines and of paragraphs,
# surrogates, private and unassigned characters.
INVISIBLE = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")
# Invisible letters and marks (Unicode: Default_Ignorable_Code_Point), and Braille's blank.
SHOW_NOTHING = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d159\U000e0100-\U000e01ef]"
)
LONGEST_NAME = 200  # no address can contain a longer one


@dataclass(frozen=True, slots=True)
class NewExperiment:
    """A researcher's description of a new experiment."""

    name: str
    agent: str
    model: str
    notes: str
    resources: dict[str, Any] | None


def create(context: Context, new: NewExperiment) -> tuple[ExperimentRecord, bool]:
    """Create an experiment, or return an identical existing one. Also returns whether it is new.

    Raises:
        Invalid: the name cannot be used in an address, or looks like another one, or the agent or
            the model would be printed as something else.
        Conflict: an experiment with this name has other fields.
    """
    refuse_confusing_name(new.name)

    def record(session: Session) -> tuple[ExperimentRecord, bool]:
        known = experiments.get(session, new.name)
        if known is None:
            refuse_misleading_text("agent", new.agent)
            refuse_misleading_text("model", new.model)
            return experiments.add(
                session,
                ExperimentRecord(
                    name=new.name,
                    agent=new.agent,
                    model=new.model,
                    notes=new.notes,
                    resources=new.resources,
                    created_at=datetime.now(UTC),
                ),
            ), True
        fields = ("agent", "model", "notes", "resources")
        different = [
            name for name in fields if _given(getattr(known, name)) != _given(getattr(new, name))
        ]
        if different:
            raise Conflict(
                f"The experiment {new.name!r} exists with other {', '.join(different)}. "
                "Choose another name, or let an admin amend that one."
            )
        return known, False

    return context.database.write_new(record)


def _given(field: Any) -> Any:
    """A field without null resources, because later versions may have more of them."""
    if not isinstance(field, dict):
        return field
    return {name: value for name, value in field.items() if value is not None}


def refuse_confusing_name(name: str) -> None:
    """Refuse a name that no address can contain, or that looks like another name.

    Raises:
        Invalid: with the reason.
    """
    if name in (".", ".."):
        raise Invalid(f"name: {name!r} means a folder in an address, so it cannot be a name.")
    if "/" in name:
        raise Invalid("name: a slash separates the parts of an address, so a name has none.")
    if len(name) > LONGEST_NAME:
        raise Invalid(f"name: it has {len(name)} characters, and may have {LONGEST_NAME}.")
    refuse_misleading_text("name", name)


def refuse_misleading_text(field: str, text: str) -> None:
    """Refuse a text that is displayed like another one.

    Raises:
        Invalid: it begins or ends with a blank, has two in a row, an invisible character or an
            unusual blank, or letters in another form than the composed one.
    """
    if not text or text != text.strip():
        raise Invalid(f"{field}: it is empty, or begins or ends with a blank.")
    for each in text:
        category = unicodedata.category(each)
        if category in INVISIBLE or SHOW_NOTHING.match(each):
            raise Invalid(f"{field}: it has the invisible character U+{ord(each):04X}.")
        if category == "Zs" and each != " ":
            raise Invalid(f"{field}: it has the blank U+{ord(each):04X}; use the usual blank.")
    if "  " in text:
        raise Invalid(f"{field}: it has two blanks in a row, which a page shows as one.")
    if unicodedata.normalize("NFC", text) != text:
        raise Invalid(f"{field}: use the composed form of its letters (Unicode NFC).")


def find(context: Context, name: str) -> ExperimentRecord:
    """The experiment with this name.

    Raises:
        NotFound: it does not exist.
    """
    with context.database.read() as session:
        return existing(session, name)


def existing(session: Session, name: str) -> ExperimentRecord:
    """Like `find`, within a transaction."""
    found = experiments.get(session, name)
    if found is None:
        raise NotFound(f"There is no experiment {name!r}.")
    return found


def page(
    context: Context, after: str | None, limit: int | None, *, archived: bool = False
) -> tuple[list[ExperimentRecord], str | None]:
    """Experiments by name, and the next cursor; archived ones only with `archived`."""
    with context.database.read() as session:
        found = experiments.list_page(
            session, archived=archived, after=after, limit=one_more(limit)
        )
    return page_of(found, limit, lambda one: one.name)
