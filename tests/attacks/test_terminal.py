"""What somebody wrote is text in the terminal of who runs a command, and does not steer it."""

from __future__ import annotations

import http.server
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.factories import write_competition
from tests.forkserver import run_podium

ODD = "\x1b]0;title\x07\x1b[2J\x9b31m\x7f\u202egnp.\u200b\u2066\ufeff"
STEERS = frozenset(ODD) - set("]0;title[2J31mgnp.")
AS_JSON = json.dumps(ODD, ensure_ascii=False)


class Answers(http.server.BaseHTTPRequestHandler):
    """A server that answers as no Podium would."""

    def do_GET(self) -> None:
        """Refuse with odd words, or list something odd."""
        is_list = "experiments" in self.path
        names = ("name", "agent", "model", "notes", "created_at", "submission", "competition")
        numbers = ("estimated_at", "reason", "standard_error", "medals", "seed", "score", "medal")
        item = dict.fromkeys(names, ODD) | dict.fromkeys(numbers)
        listed = {"items": [item], "next_cursor": None, "rates": []}
        self._answer(200 if is_list else 403, listed if is_list else {"detail": ODD})

    def do_POST(self) -> None:
        """Say that something odd was made."""
        self._answer(201, dict.fromkeys(("id", "name", "key", "run"), ODD))

    def _answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def run(tmp_path: Path, *words: object) -> str:
    done = run_podium(
        words,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
            "PODIUM_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "500",
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return str(done.stdout + done.stderr)


@pytest.mark.parametrize(
    "words",
    [
        "runs list", "experiments list", "experiments list --json", "keys list", "uncertainty e",
        "experiments create e --agent a --model m", "keys create admin",
        "reviews accept r --reason x",
    ],
)  # fmt: skip
def test_answers_of_another_server_do_not_steer_a_terminal(
    elsewhere: str, tmp_path: Path, words: str
) -> None:
    shown = run(tmp_path, *words.split(), "--url", elsewhere, "--key", "pod_admin_x")

    assert "gnp." in shown
    assert STEERS & set(shown) == set()
    if "--json" in words:
        assert json.loads(shown)[0]["notes"] == ODD


def test_names_of_files_and_notes_do_not(tmp_path: Path) -> None:
    odd = tmp_path / ODD.replace("/", "")
    odd.mkdir()
    (odd / "competition.toml").write_text(f"title = {AS_JSON}\nnonsense = {AS_JSON}\n", "utf-8")
    create = ("experiments", "create", "noted", "--agent", "a", "--model", "m", "--notes", ODD)

    shown = [
        run(tmp_path, "db", "upgrade"),
        run(tmp_path, *create, "--json"),
        run(tmp_path, "check", odd), run(tmp_path, "import", "folder", odd),
        run(tmp_path, "grade", f"{odd}/", odd / "none.csv"),
        run(tmp_path, "import", "grading-report", "noted", odd / "none.json"),
        run(tmp_path, "verify", odd / "receipt.json", "--allowed-signers", odd / "none"),
        run(tmp_path, "experiments", "amendments", ODD),
    ]  # fmt: skip

    assert json.loads(shown[1])["notes"] == ODD
    assert sum("gnp." in one for one in shown) >= 4
    assert [sorted(STEERS & set(one)) for one in shown] == [[]] * len(shown)


@pytest.mark.parametrize("odd", [ODD, "gnp.\u202eb"], ids=["many", "one"])
def test_texts_of_a_competition_do_not(tmp_path: Path, odd: str) -> None:
    folder = write_competition(tmp_path / "odd")
    toml = folder / "competition.toml"
    title = json.dumps(odd).replace("\x7f", "\\u007f")
    toml.write_text(toml.read_text().replace('"Tiny"', title))

    assert "imported" in run(tmp_path, "import", "folder", folder)
    shown = run(tmp_path, "competitions", "show", "odd")

    assert "gnp." in shown
    assert STEERS & set(shown) == set()
    assert yaml.safe_load(shown)["declared"]["title"] == odd
