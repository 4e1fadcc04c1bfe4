"""MLE-bench's `checksums.yaml`: nested mappings of file names to MD5 sums."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

_MD5 = re.compile(r"[0-9a-f]{32}")


class _Loader(yaml.BaseLoader):
    """Keeps every scalar as text, because a checksum of only digits must not become a number.

    Aliases are refused: thirty lines with two in each would mean a billion files.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """One value."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has an alias; write the values themselves")
        return super().compose_node(parent, index)


def parse_checksums(text: str) -> dict[str, str]:
    r"""The MD5 sum of each file, by its path below `prepared/`, without that of the archive.

    Raises:
        ValueError: the text is not YAML.

    >>> parse_checksums("private:\n  a.csv: " + "0" * 32 + "\nzip: " + "1" * 32 + "\n")
    {'private/a.csv': '00000000000000000000000000000000'}
    """
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 (it makes only texts, lists and mappings)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    sums = dict(_leaves(document, ())) if isinstance(document, dict) else {}
    return {"/".join(path): md5 for path, md5 in sums.items() if len(path) > 1}


def _leaves(
    mapping: dict[str, Any], parents: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, value in mapping.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*parents, name))
        elif isinstance(value, str) and _MD5.fullmatch(value):
            yield (*parents, name), value
