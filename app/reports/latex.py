"""Medal rates as a table for LaTeX (with the package booktabs)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from app import __version__
from app.reports.medal_rates import CELLS, board_header, board_row, rates_rows
from app.reports.result_context import flag_notes, own_notes
from app.reports.tables import to_csv
from app.services.results.scope import ResultContext
from app.statistics.rates import GroupRates

ESCAPES = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "±": r"$\pm$", "|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}",
    **{each: f"\\{each}" for each in "&%$#_{}"},
}  # fmt: skip


def escape(text: str) -> str:
    r"""A text as LaTeX prints it: one line, with its special characters escaped.

    >>> escape("50 % of a_b & {c} ± 1.52")
    '50 \\% of a\\_b \\& \\{c\\} $\\pm$ 1.52'
    """
    line = " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())
    return "".join(ESCAPES.get(each, each) for each in line)


def board_latex(
    rows: Sequence[tuple[ResultContext, dict[str, GroupRates]]],
    absent: Sequence[tuple[str, str]],
    query: str,
) -> str:
    """The rows of experiments as a tabular, its notes, and a last line that tells its origin.

    The last line, a comment, has Podium's version, a digest of the unrounded rates with their
    context, and the query: the same data give the same bytes.
    """
    columns = list(dict.fromkeys(name for _, groups in rows for name in groups))
    header = board_header(columns)
    lines = [f"\\begin{{tabular}}{{ll{'r' * (len(header) - 2)}}}", r"\toprule", _row(header)]
    lines += [r"\midrule", *(_row(board_row(one, groups, columns)) for one, groups in rows)]
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    notes = [CELLS, *(" ".join(own_notes(context)) for context, _ in rows)]
    notes += flag_notes(dict.fromkeys(flag for context, _ in rows for flag in context.flags))
    notes += [f"{name} is not counted: {reason}" for name, reason in absent]
    lines += [f"{{\\footnotesize {escape(note)}\\par}}" for note in notes]
    flat = [line for context, groups in rows for line in rates_rows(context, groups)]
    digest = hashlib.sha256(to_csv(flat).encode()).hexdigest()
    origin = " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", query).split())
    lines.append(f"% Podium {__version__}, data sha256:{digest}, query: {origin}")
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"
