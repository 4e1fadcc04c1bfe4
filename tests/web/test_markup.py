"""The checks of markup find what they are for."""

from __future__ import annotations

import pytest

from tests.web.markup import mistakes_of


@pytest.mark.parametrize(
    ("markup", "mistake"),
    [
        ('<p id="a">1</p><p id="a">2</p>', "'a' is there twice"),
        ("<ul><p>1</p></ul>", "<p> in <ul>"),
        ("<ul>text</ul>", "text 'text' in <ul>"),
        ("<p><div>1</div></p>", "<div> in <p>"),
        ("<table><tr><td>1</td></tr></table>", "<tr> in <table>"),
        ("<table><tbody><tr><p>1</p></tr></tbody></table>", "<p> in <tr>"),
        ('<a href="x"><button>b</button></a>', "<button> in <a>"),
        ('<a href="x"><b><a href="y">b</a></b></a>', "<a> in <a>"),
        ("<form><form></form></form>", "<form> in <form>"),
        ('<time datetime="2026-01-02T03:04:05.123456+00:00">x</time>', "<time datetime="),
        ("<time>yesterday</time>", "<time datetime=None>"),
        ('<label for="none">l</label>', "no id 'none'"),
        ('<img src="x">', "<img> without alt"),
        ("<p><b>x</p></b>", "</p> ends nothing"),
        ("<div>", "<div> does not end"),
        ('<p class="a" class="b">x</p>', "an attribute twice"),
    ],
)
def test_a_mistake_is_found(markup: str, mistake: str) -> None:
    assert any(mistake in each for each in mistakes_of(markup))


def test_what_is_right_passes() -> None:
    assert mistakes_of(
        '<ul><li id="a">x</li></ul><table><caption>c</caption><tbody><tr><th>1</th><td>'
        '<a href="x"><b>y</b></a></td></tr></tbody></table><label for="b">l</label>'
        '<input id="b"><time datetime="2026-01-02T03:04:05+00:00">x</time><svg><path d="x"/></svg>'
    ) == []  # fmt: skip
