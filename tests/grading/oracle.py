"""A slow and plain judge of submissions, written apart from the real one: csv module and float().

It says which codes a file deserves in which columns, or what its values are.
"""

from __future__ import annotations

import csv
import functools
import io
import math
import operator
from typing import Any

from app.domain.form import SubmissionForm

UNREADABLE = {"encoding", "empty_file", "not_csv"}
MISSING = {"", "na", "n/a", "#n/a", "#na", "<na>", "null", "none"}

Problems = set[tuple[str, str | None]]


class Unreadable(Exception):
    """Not CSV text, or not to the end; the real judge must refuse it with one of UNREADABLE."""


class Bad(Exception):
    """A cell deserves this code."""


def judge(data: bytes, form: SubmissionForm, ids: list[str]) -> tuple[Problems, dict[str, Any]]:
    """The problems of a file, and its values by column in the order of `ids` if it has none."""
    header, rows = read(data)
    problems: Problems = set()
    if len(rows) != len(ids):
        problems.add(("row_count", None))
    places = {}
    for name in ("id", *form.columns):
        if name not in header:
            problems.add(("missing_column", name))
            continue
        places[name] = header.index(name)
        if header.count(name) > 1:
            problems.add(("duplicate_column", name))
    good = [len(row) == len(header) for row in rows]
    if not all(good):
        problems.add(("not_csv", None))
    if "id" in places and rows:
        problems |= id_problems([row[places["id"] : places["id"] + 1] for row in rows], ids)
    values: dict[str, list[Any]] = {}
    for name, column in form.columns.items():
        if name not in places:
            continue
        family: set[bool] = set()
        values[name] = []
        for row, is_good in zip(rows, good, strict=True):
            value = None
            try:
                value = decode(column, row[places[name]], family) if is_good else None
            except Bad as bad:
                problems |= {(code, name) for code in bad.args}
            values[name].append(value)
    if form.rows_sum_to_one:
        shares = [values[name] for name in form.probability_columns if name in values]
        if len(shares) == len(form.probability_columns):
            for number, row in enumerate(zip(*shares, strict=True)):
                if None in row:
                    continue
                if abs(math.fsum(row) - 1) > 1e-3:
                    problems.add(("probabilities_do_not_sum_to_one", None))
                total = functools.reduce(operator.add, row)
                if total and abs(total - 1) > 1e-5:
                    for column, share in zip(shares, row, strict=True):
                        column[number] = share / total
    if problems:
        return problems, {}
    row_of = {row[places["id"]]: number for number, row in enumerate(rows)}
    return set(), {name: [found[row_of[i]] for i in ids] for name, found in values.items()}


def read(data: bytes) -> tuple[list[str], list[list[str]]]:
    """Header and rows; blank lines left out."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable from None
    text = text.removeprefix("\ufeff")
    if "\0" in text or not text.strip():
        raise Unreadable
    lines = list(io.StringIO(text, newline=""))
    if not lines[-1].endswith(("\n", "\r")):
        lines[-1] += "\n"
    reader = csv.reader([*lines, "\0"])
    records, start = [], 0
    for record in reader:
        raw = "".join(lines[start : reader.line_num])
        start = reader.line_num
        if raw.strip(" \t\r\n") or record == ["\0"]:
            records.append(record)
    if records.pop() != ["\0"]:
        raise Unreadable  # a quote is open to the end
    if not records:
        raise Unreadable
    return records[0], records[1:]


def id_problems(found: list[list[str]], ids: list[str]) -> Problems:
    problems: Problems = set()
    seen: set[str] = set()
    for cell in found:
        if cell == [""]:
            problems.add(("missing_value", "id"))
        elif cell and cell[0] not in ids:
            problems.add(("unknown_id", "id"))
        elif cell and cell[0] in seen:
            problems.add(("duplicate_id", "id"))
        seen |= set(cell)
    if set(ids) - seen:
        problems.add(("missing_id", "id"))
    return problems


def decode(column: Any, cell: str, family: set[bool]) -> Any:
    match column.kind:
        case "number" | "probability" | "integer":
            return number(column, cell)
        case "boolean":
            return boolean(cell, family)
        case "label":
            return label(column, cell)
        case "text":
            return text(column, cell)
        case "list":
            return items(column, cell)
        case "mask":
            return pixels(column, cell)
        case "boxes":
            return boxes(column, cell)
    raise AssertionError(column.kind)


def number(column: Any, cell: str) -> float:
    cell = cell.strip(" \t")
    if cell.lower() in MISSING:
        raise Bad("missing_value")
    if cell.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise Bad("not_finite")
    value = plain_float(cell)
    if value is None:
        raise Bad("not_a_number")
    if math.isinf(value):
        raise Bad("not_finite")
    if column.kind == "integer" and not value.is_integer():
        raise Bad("bad_format")
    if (column.min is not None and value < column.min) or (
        column.max is not None and value > column.max
    ):
        raise Bad("out_of_range")
    return value


def plain_float(text: str) -> float | None:
    if not text or set(text) - set("0123456789+-.eE"):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def boolean(cell: str, family: set[bool]) -> float:
    cell = cell.strip(" \t").lower()
    if cell in MISSING or cell == "nan":
        raise Bad("missing_value")
    if cell not in ("true", "false", "1", "0", "1.0", "0.0"):
        raise Bad("bad_format")
    family.add(cell in ("true", "false"))
    if len(family) > 1:
        raise Bad("bad_format")
    return float(cell in ("true", "1", "1.0"))


def label(column: Any, cell: str) -> str:
    if column.labels is None:
        if not cell:
            raise Bad("missing_value")
    elif cell not in column.labels:
        lowered = cell.strip().lower()
        raise Bad("missing_value" if lowered in MISSING | {"nan"} else "unknown_label")
    return cell


def text(column: Any, cell: str) -> str:
    if not cell and not column.allow_empty:
        raise Bad("missing_value")
    if column.max_length is not None and len(cell) > column.max_length:
        raise Bad("bad_format")
    return cell


def items(column: Any, cell: str) -> list[str]:
    if column.separator == " ":
        found = [item for item in cell.split(" ") if item]
    else:
        found = [item.strip(" ") for item in cell.split(column.separator)]
        if found == [""]:
            found = []
        if "" in found:
            raise Bad("bad_format")
    if len(found) < column.min_items:
        raise Bad("bad_format" if cell.strip() else "missing_value")
    if column.max_items is not None and len(found) > column.max_items:
        raise Bad("bad_format")
    if column.distinct and len(set(found)) < len(found):
        raise Bad("bad_format")
    if column.labels is not None and set(found) - set(column.labels):
        raise Bad("unknown_label")
    return found


def pixels(column: Any, cell: str) -> list[int]:
    """The numbers of the pixels in a mask, from 0."""
    if cell == column.empty:
        return []
    if column.empty and not cell.strip(" "):
        raise Bad("missing_value")
    tokens = [token for token in cell.split(" ") if token]
    if len(tokens) % 2 or any(set(token) - set("0123456789") for token in tokens):
        raise Bad("bad_format")
    found: list[int] = []
    for start, length in zip(map(int, tokens[0::2]), map(int, tokens[1::2]), strict=True):
        first = start - column.start
        if first < 0 or length < 1 or first + length > column.height * column.width:
            raise Bad("bad_format")
        if found and first <= found[-1]:
            raise Bad("bad_format")
        found.extend(range(first, first + length))
    return found


def boxes(column: Any, cell: str) -> list[list[float]]:
    tokens = [token for token in cell.split(" ") if token]
    if not tokens and not column.allow_empty:
        raise Bad("missing_value")
    width = len(column.fields)
    found = [plain_float(token) for token in tokens]
    numbers = [value for value in found if value is not None and math.isfinite(value)]
    if len(numbers) < len(tokens) or len(tokens) % width:
        raise Bad("bad_format")
    if column.max_boxes is not None and len(tokens) > column.max_boxes * width:
        raise Bad("bad_format")
    return [numbers[start : start + width] for start in range(0, len(numbers), width)]
