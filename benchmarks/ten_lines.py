"""Draw ten lines of `app/`, for a reader who guesses their folders from README's map alone.

`python -m benchmarks.ten_lines` prints the lines, `--answers` also where each of them is. `--seed`
draws others, `--number` more. docs/architecture.md has the results under "Counts".
"""

from __future__ import annotations

import argparse
import ast
import random
from typing import TypeGuard

from benchmarks.layout import PACKAGE

SEED = 20261124
DRAWN = 10
SHORTEST = 12  # characters


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--number", type=int, default=DRAWN)
    parser.add_argument("--answers", action="store_true", help="say where each line is")
    asked = parser.parse_args()
    lines = [
        (f"{path.relative_to(PACKAGE).as_posix()}:{number}", text)
        for path in sorted(PACKAGE.rglob("*.py"))
        for number, text in code_lines(path.read_text(encoding="utf-8"))
    ]
    for place, text in random.Random(asked.seed).sample(lines, asked.number):
        print(f"{text}    # {place}" if asked.answers else text)


def code_lines(source: str) -> list[tuple[int, str]]:
    r"""The lines that may be drawn, with their numbers: at least twelve characters of code.

    Docstrings, imports, comments and decorators are left out.

    >>> code_lines("import os\n@cache\ndef first(values):\n    'Doc.'\n    return values[0]")
    [(3, 'def first(values):'), (5, 'return values[0]')]
    """
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_docstring(node):
            left_out.update(_lines_of(node))
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                left_out.update(_lines_of(decorator))
    return [
        (number, line.strip())
        for number, line in enumerate(source.splitlines(), start=1)
        if number not in left_out and len(line.strip()) >= SHORTEST and line.strip()[0] != "#"
    ]


def _is_docstring(node: ast.AST) -> TypeGuard[ast.Expr]:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _lines_of(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


if __name__ == "__main__":
    main()
