"""The draft of a task shows names and values of a table as they are."""

from __future__ import annotations

import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.preparation.from_table.new_folder import Parts, description
from app.preparation.from_table.target import Target

MARKDOWN = MarkdownIt("commonmark").enable("table")
TEXTS = st.text("ab1*_`|\\[]()<>:# ", min_size=1, max_size=10).map(str.strip).filter(bool)


def described(name: str, values: list[str]) -> list[list[str]]:
    """The code in the cells of the table of columns, by cell."""
    column = pd.Series(values, dtype=str)
    train = pd.DataFrame({"id": column, name: column, "y": column})
    parts = Parts(train, train, "id", "y", [])
    text = description("A task", parts, Target("label", "accuracy_score", "", is_class=True))
    tokens = MARKDOWN.parse(text)
    opened = [at for at, token in enumerate(tokens) if token.type == "td_open"]
    cells = [tokens[at + 1].children or [] for at in opened]
    return [[one.content for one in cell if one.type == "code_inline"] for cell in cells]


@example("a|b", ["`r`", "[z](http://e)", "B, Weg"])
@given(TEXTS.map("x".__add__), st.lists(TEXTS.map("x".__add__), min_size=1, max_size=3))
def test_names_and_values_are_code_with_each_character(name: str, values: list[str]) -> None:
    assert described(name, values) == [[name], sorted(set(values))]


def test_a_long_value_is_cut_where_a_reader_sees_it_and_a_long_name_is_not() -> None:
    name, values = "n" * 60, ["|" * 50, "v" * 40]

    assert described(name, values) == [[name], ["v" * 40, f"{'|' * 39}…"]]
