"""MLE-bench's `checksums.yaml`: nested mappings of names to MD5 sums, and nothing else of YAML."""

from __future__ import annotations

import re

_LINE = re.compile(r"^(\s*)(?:'([^']*)'|\"([^\"]*)\"|([^\s'\"#][^:]*?))\s*:\s*(\S*)\s*$")
_SUM = re.compile(r"[0-9a-f]{32}")


def parse_checksums(text: str) -> dict[str, str]:
    r"""The MD5 sum of each file, by its path below `prepared/`.

    >>> parse_checksums("private:\n  a.csv: " + "0" * 32 + "\nzip: " + "1" * 32 + "\n")
    {'private/a.csv': '00000000000000000000000000000000'}
    """
    sums: dict[str, str] = {}
    parents: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        indent, *names, value = match.groups()
        name = next(name for name in names if name is not None)
        while parents and parents[-1][0] >= len(indent):
            parents.pop()
        value = value.strip("'\"")
        if not value:
            parents.append((len(indent), name))
        elif parents and _SUM.fullmatch(value):
            sums["/".join([*(parent for _, parent in parents), name])] = value
    return sums
