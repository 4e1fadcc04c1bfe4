"""The process that renders one picture: a request as JSON on stdin, the bytes on stdout.

It is a separate process, because Altair and the renderer take 200 MB that the server would keep,
and because a limit of processor time ends a rendering that takes too long.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from typing import Any
from xml.sax.saxutils import escape

CPU_SECONDS = 60
NICENESS = 10  # grading goes first
PIXELS_PER_INCH = 144
# XML has none of these characters, and the renderer writes and reads XML.
NO_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BEYOND = re.compile(r"[^\u0000-\uffff]")  # emoji and the like


def main() -> None:
    """Render the picture of the request on stdin."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    request = json.load(sys.stdin)
    sys.stdout.buffer.write(render(request["kind"], request["format"], request["data"]))


def _as_xml(value: Any) -> Any:
    """The value with U+FFFD for each character that XML does not have."""
    if isinstance(value, dict):
        return {key: _as_xml(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_xml(each) for each in value]
    return NO_XML.sub("\ufffd", value) if isinstance(value, str) else value


def render(kind: str, form: str, data: dict[str, Any]) -> bytes:
    """The picture as svg, png, pdf, or as the specification of Vega-Lite (vl.json)."""
    data = _as_xml(data)
    try:
        return _drawn(kind, form, data)
    except ValueError:
        # The renderer shortens texts by units of UTF-16, and fails on half of a letter. Then each
        # such letter is replaced by its code, so that two names do not become one.
        text = json.dumps(data, ensure_ascii=False)
        coded = BEYOND.sub(lambda found: f"[{ord(found[0]):X}]", text)
        if coded == text:
            raise
        return _drawn(kind, form, json.loads(coded))


def _drawn(kind: str, form: str, data: dict[str, Any]) -> bytes:
    import vl_convert

    from app.pictures.charts import chart

    specification = chart(kind, data).to_dict(validate=False)
    if form == "vl.json":
        return json.dumps(specification, ensure_ascii=False, indent=1).encode()
    none: list[str] = []  # the renderer may fetch no address
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(
            specification, ppi=PIXELS_PER_INCH, allowed_base_urls=none))  # fmt: skip
    if form == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(specification, allowed_base_urls=none))
    return _with_words(vl_convert.vegalite_to_svg(specification, allowed_base_urls=none), data)


def _with_words(svg: str, data: dict[str, Any]) -> bytes:
    """The SVG with the title and the caption as text, for readers who do not see it."""
    head, rest = svg.split(">", 1)
    words = f"<title>{escape(data['title'])}</title><desc>{escape(' '.join(data['lines']))}</desc>"
    return f"{head}>{words}{rest}".encode()


if __name__ == "__main__":
    main()
