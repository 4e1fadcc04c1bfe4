"""Pages with footnotes."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.reports.document.page import Marked, ReportPage, Table, to_markdown

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
LISTS_AND_TABLES = {"table_open", "table_close", "bullet_list_open", "bullet_list_close"}


def test_a_page_has_a_letter_for_each_of_a_thousand_footnotes() -> None:
    """A board of many experiments by category: each cell may miss another number of results."""
    rows = [[Marked(str(k), (f"{k} missing",))] for k in range(1000)]
    page = ReportPage([Table(["rate"], rows)], [])
    assert len(set(page.letters().values())) == 1000
    text = to_markdown(page)
    lines = ("| 701 [zz] |", "- [zz] 701 missing", "| 702 [aaa] |", "- [aaa] 702 missing")
    assert [line for line in lines if line not in text.splitlines()] == []


def test_names_of_users_are_no_markup() -> None:
    names = ["<img src=x onerror=alert(1)>", "![x](http://evil.example/x.png)", "a\\|b", "<!-- x"]
    table = Table(["experiment", "rate"], [[name, Marked("1", (name,))] for name in names])
    html = rendered(to_markdown(ReportPage([table], names)))

    assert "<img" not in html
    assert "href" not in html
    assert "<!--" not in html
    cells = re.findall(r"<td>(.*?)</td>", html)
    assert [unescape(cell) for cell in cells[::2]] == names
    notes = re.findall(r"<li>(.*?)</li>", html)
    assert [unescape(note) for note in notes[-len(names) :]] == names


def test_names_of_users_in_the_command_of_the_origin_are_no_markup() -> None:
    origin = "query: podium report '<img src=x onerror=alert(1)>' '![x](http://evil.example)'"
    html = rendered(to_markdown(ReportPage([], []), origin))

    assert "<img" not in html
    assert "href" not in html
    assert re.findall(r"<li>(.*?)</li>", unescape(html)) == [origin]


def test_a_text_of_a_competition_ends_no_line_of_a_table_or_a_list() -> None:
    """Authors of competitions write tags and notes of flags, which may have any character."""
    text = "a\r\n| b |\r- c\x1b[31m"
    html = rendered(to_markdown(ReportPage([Table([text, "x"], [[text, "1"]])], [text])))

    assert html.count("<table>") == html.count("<ul>") == html.count("<li>") == 1
    assert html.count("<td>") == 2
    assert "\x1b" not in html


NAMES = st.text("ab1 *_`~#<>[]()!&;:.-+=\\|/é世\t", min_size=1, max_size=12)


@example(["[a]: http://evil.example", "[a]"])
@example(["*x*", "`y`", "_z_", "an_agent", "~~w~~", "&amp;"])
@example(["# a", "> a", "1. a", "- a"])
@given(st.lists(NAMES.map(str.strip).filter(bool), min_size=1, max_size=3))
def test_each_character_of_a_name_is_shown(names: list[str]) -> None:
    table = Table(["name", "x"], [[name, 1] for name in names])
    tokens = MARKDOWN.parse(to_markdown(ReportPage([table], names)))
    texts = [token for token in tokens if token.type == "inline"]
    shown = [name.replace("\t", " ") for name in names]

    assert {token.type for token in tokens if token.level == 0} == LISTS_AND_TABLES
    assert {each.type for token in texts for each in token.children or ()} == {"text"}
    cells = [text for name in shown for text in (name, "1")]
    assert [token.children[0].content for token in texts if token.children] == [
        "name", "x", *cells, *shown,
    ]  # fmt: skip


def rendered(markdown: str) -> str:
    """HTML as programs make it that let HTML in Markdown through."""
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
