"""A scripted model behind OpenAI's interface for chats: no provider, no key, the same each time.

AIDE asks it three kinds of question. To "write a first solution", "repair this one" and "improve
this one" it answers with the text of a file in replies/. To "review this output" it answers with a
call of AIDE's function: whether the output has an error, and the metric that the code printed.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REPLIES = Path(__file__).with_name("replies")
METRIC = re.compile(r"validation RMSLE: (\d+\.\d+)")


def answer_to(request: dict[str, Any]) -> dict[str, Any]:
    """The message that answers a request: text, or a call of the function that it offers."""
    prompt = "\n".join(str(message["content"]) for message in request["messages"])
    if not request.get("tools"):
        return {"role": "assistant", "content": (REPLIES / f"{kind_of(prompt)}.md").read_text()}
    function = request["tools"][0]["function"]["name"]
    call = {"name": function, "arguments": json.dumps(review_of(prompt))}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
    }


def kind_of(prompt: str) -> str:
    """Which solution AIDE asks for: `draft`, `debug` or `improve`."""
    if "# Previous (buggy) implementation" in prompt:
        return "debug"
    return "improve" if "# Previous solution" in prompt else "draft"


def review_of(prompt: str) -> dict[str, Any]:
    """What the output of a program says."""
    output = prompt.rpartition("# Execution output")[2]
    found = METRIC.search(output)
    return {
        "is_bug": found is None,
        "summary": "It printed no metric." if found is None else "It printed its metric.",
        "metric": None if found is None else float(found[1]),
        "lower_is_better": True,
    }


class Handler(BaseHTTPRequestHandler):
    """POST /v1/chat/completions."""

    def do_POST(self) -> None:
        """Answer a chat."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(
            {
                "id": "chat",
                "object": "chat.completion",
                "created": 0,
                "model": request["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": answer_to(request)}],
                "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (its name there)
        """Write nothing."""


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Serve on a free port of this machine; the address for OPENAI_BASE_URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
