"""The header line: find the wanted columns, and report missing, repeated and unknown ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.verdict import Notice, ViolationCode, WarningCode
from app.grading.reading.violations import EXAMPLES, FoundViolations, shorten

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True, slots=True)
class Header:
    """The names of a file's columns, and the index of each wanted one (the first, if repeated)."""

    names: tuple[str, ...]
    indexes: dict[str, int]
    missing: tuple[str, ...]
    repeated: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every wanted column is there exactly once."""
        return not self.missing and not self.repeated

    def notices(self) -> list[Notice]:
        """The warning about unknown columns, if there are any."""
        if not self.unknown:
            return []
        columns = "column was" if len(self.unknown) == 1 else "columns were"
        names = [repr(shorten(n)) if n else "one without a name" for n in self.unknown[:5]]
        more = ", ..." if len(self.unknown) > 5 else ""
        stray = any(not name or name.startswith("Unnamed: ") for name in self.unknown)
        hint = "; a stray index column? (in pandas: to_csv(..., index=False))" if stray else ""
        return [
            Notice(
                WarningCode.UNKNOWN_COLUMN,
                f"{len(self.unknown)} unknown {columns} ignored: {', '.join(names)}{more}{hint}",
            )
        ]


def resolve_aliases(names: Sequence[str], aliases: Mapping[str, str]) -> list[str]:
    """The names with each alias replaced by its column, unless that column is there too.

    >>> resolve_aliases(["id", "toxicity"], {"toxicity": "prediction"})
    ['id', 'prediction']
    """
    present = set(names)
    return [
        name if aliases.get(name, name) in present else aliases.get(name, name) for name in names
    ]


def understand_header(names: Sequence[str], wanted: Iterable[str]) -> Header:
    """Find the wanted columns in a header.

    >>> understand_header(["", "x", "id", "x"], ["id", "x"]).repeated
    ('x',)
    """
    wanted = tuple(dict.fromkeys(wanted))
    indexes: dict[str, int] = {}
    repeated = dict[str, None]()
    known = set(wanted)
    for index, name in enumerate(names):
        if name not in known:
            continue
        if name not in indexes:
            indexes[name] = index
        else:
            repeated[name] = None
    return Header(
        names=tuple(names),
        indexes=indexes,
        missing=tuple(name for name in wanted if name not in indexes),
        repeated=tuple(repeated),
        unknown=tuple(name for name in names if name not in known),
    )


def check_header(
    header: Header,
    wanted: Sequence[str],
    start: str,
    violations: FoundViolations,
    *,
    in_file: Sequence[str],
) -> bool:
    """Record the problems of a header. Returns False if the file is not CSV at all.

    `start` is the beginning of the file, by which foreign formats are recognized, and `in_file` are
    the names of the header before aliases were replaced.
    """
    expected = ",".join(wanted) if len(wanted) <= 10 else ",".join((*wanted[:10], "..."))
    if header.missing:
        foreign = _foreign_format(header, wanted, start)
        if foreign:
            violations.add(ViolationCode.NOT_CSV, f"{foreign}: expected the header {expected}")
            return False
    near = {_normalized(name): name for name in reversed(header.names)} if header.missing else {}
    examples = [name for name in header.unknown if name][:EXAMPLES]
    for name in header.missing:
        other = near.get(_normalized(name))
        is_near = other is not None
        hint = f" (there is {other!r}: names must agree in case and spaces)" if is_near else ""
        violations.add(
            ViolationCode.MISSING_COLUMN,
            f"column {name!r} is missing{hint}; "
            f"the first line must be a header with the columns {expected}",
            column=name,
            examples=examples,
        )
    given = defaultdict[str, list[str]](list)  # the names of the file, by their column
    if header.repeated:
        for column, name in zip(header.names, in_file, strict=True):
            given[column].append(name)
    for name in header.repeated:
        different = dict.fromkeys(given[name])
        names = "" if [*different] == [name] else f", as {' and '.join(map(repr, different))}"
        violations.add(
            ViolationCode.DUPLICATE_COLUMN,
            f"column {name!r} stands {len(given[name])} times in the header{names}: keep one",
            column=name,
        )
    return True


def _normalized(name: str) -> str:
    return name.strip().strip("\ufeff").casefold()


def _foreign_format(header: Header, wanted: Sequence[str], start: str) -> str:
    lowered = start.lstrip().lower()
    if lowered.startswith(("<!doctype", "<html", "<?xml", "<head", "<body", "<table")):
        return "the file is a web page or XML, not CSV"
    if lowered.startswith(("{", "[")):
        return "the file looks like JSON, not CSV"
    line = ",".join(header.names)
    for separator, name in _SEPARATORS.items():
        parts = {part.strip(' "') for part in line.split(separator)}
        if separator in line and len(parts & set(wanted)) >= min(2, len(wanted)):
            return f"the values are separated by {name}, not commas"
    return ""
