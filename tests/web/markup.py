"""Rules of HTML that a parser lets pass: ids, nesting, times, references."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
CHILDREN = {
    "ul": {"li"}, "ol": {"li"}, "dl": {"dt", "dd", "div"},
    "table": {"caption", "colgroup", "thead", "tbody", "tfoot"},
    "thead": {"tr"}, "tbody": {"tr"}, "tfoot": {"tr"}, "tr": {"th", "td"}, "select": {"option"},
}  # fmt: skip
PARENTS = {
    "li": {"ul", "ol"}, "dt": {"dl", "div"}, "dd": {"dl", "div"}, "tr": {"thead", "tbody", "tfoot"},
    "th": {"tr"}, "td": {"tr"}, "caption": {"table"}, "thead": {"table"}, "tbody": {"table"},
    "option": {"select", "datalist"}, "figcaption": {"figure"}, "summary": {"details"},
}  # fmt: skip
INTERACTIVE = {"a", "button", "select", "textarea", "summary", "details", "input"}
BLOCK = {
    "p",
    "div",
    "ul",
    "ol",
    "dl",
    "table",
    "form",
    "figure",
    "h1",
    "h2",
    "h3",
    "nav",
    "section",
}
PHRASES = {"p", "span", "a", "b", "bdi", "abbr", "code", "label", "button", "h1", "h2", "time"}
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)")
REFERENCES = ("for", "aria-labelledby", "aria-describedby", "headers", "list")


class _Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.mistakes: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        parent = self.open[-1] if self.open else ""
        if len(given) != len(attrs):
            self.mistakes.append(f"<{tag}> has an attribute twice")
        if parent in CHILDREN and tag not in CHILDREN[parent] | {"script", "template"}:
            self.mistakes.append(f"<{tag}> in <{parent}>")
        if tag in PARENTS and parent not in PARENTS[tag]:
            self.mistakes.append(f"<{tag}> in <{parent}>, not in {sorted(PARENTS[tag])}")
        if tag in INTERACTIVE and given.get("type") != "hidden":
            self.mistakes += [
                f"<{tag}> in <{each}>" for each in self.open if each in ("a", "button")
            ]
        if tag in BLOCK:
            self.mistakes += [f"<{tag}> in <{each}>" for each in self.open if each in PHRASES]
        if tag in ("form", "label", "main") and tag in self.open:
            self.mistakes.append(f"<{tag}> in <{tag}>")
        if tag == "time" and not TIME.fullmatch(given.get("datetime") or ""):
            self.mistakes.append(f"<time datetime={given.get('datetime')!r}>")
        if tag == "img" and "alt" not in given:
            self.mistakes.append("<img> without alt")
        if "id" in given:
            self.ids.append(given["id"] or "")
        for name in REFERENCES:
            self.references += (given.get(name) or "").split()
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.mistakes.append(f"</{tag}> ends nothing")

    def handle_data(self, data: str) -> None:
        parent = self.open[-1] if self.open else ""
        if parent in CHILDREN and data.strip():
            self.mistakes.append(f"text {data.strip()[:30]!r} in <{parent}>")


def mistakes_of(text: str) -> list[str]:
    """Errors in the markup of a page beyond those that `justhtml` reports."""
    checker = _Checker()
    checker.feed(text)
    checker.close()
    twice = {each for each in checker.ids if checker.ids.count(each) > 1}
    absent = set(checker.references) - set(checker.ids)
    return [
        *checker.mistakes,
        *(f"the id {each!r} is there twice" for each in sorted(twice)),
        *(f"there is no id {each!r}" for each in sorted(absent)),
        *(f"<{each}> does not end" for each in checker.open),
    ]
