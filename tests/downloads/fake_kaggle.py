"""A server that gives archives as Kaggle does, and fails as it is told: a process of its own.

`python -m tests.downloads.fake_kaggle DIR` prints its port. `DIR/SLUG.zip` are the archives,
`DIR/faults.json` the faults, which is read again for each request; `DIR/requests.log` gets a line
for each answer. As with Kaggle, calls are answered under /api/v1/, and files lie at addresses with
a signature, for which no credentials are needed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PIECE = 1 << 16
counts: dict[str, int] = {}
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    home: Path

    def do_POST(self) -> None:
        method = urlsplit(self.path).path.rpartition("/")[2]
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        slug = asked.get("competitionName", "")
        faults = self.faults()
        if method != "IntrospectToken" and self.due(faults, "busy"):
            self.answer(429, {"code": 429, "message": "Too many."}, {"Retry-After": "0"})
        elif slug in faults.get("gone", []) or (slug and not (self.home / f"{slug}.zip").exists()):
            self.answer(404, {"code": 404, "message": "404 - Not Found"})
        elif method == "GetCompetition":
            entered = slug not in faults.get("rules", []) + faults.get("closed", [])
            self.answer(200, {"id": 1, "ref": slug, "title": slug, "userHasEntered": entered,
                              "deadline": "2015-01-01T00:00:00Z"})  # fmt: skip
        elif method == "ListCompetitionPages":
            pages = [{"name": "Description", "content": f"# {slug}\n\nPredict it.\n"}]
            self.answer(200, {"pages": pages})
        elif method == "DownloadDataFiles" and slug in faults.get("rules", []):
            words = "You must accept this competition's rules before you'll be able to download."
            self.answer(403, {"code": 403, "message": words})
        elif method == "DownloadDataFiles" and slug in faults.get("closed", []):
            words = "Permission 'competitions.participate' was denied"
            self.answer(403, {"code": 403, "message": words})
        elif method == "DownloadDataFiles":
            signature = counts["signed"] = counts.get("signed", 0) + 1
            where = f"http://localhost/files/{slug}.zip?signature={signature}"
            self.answer(302, {}, {"Location": where})
        else:
            self.answer(404, {"code": 404, "message": f"no such call: {method}"})

    def do_GET(self) -> None:
        faults, where = self.faults(), urlsplit(self.path)
        file = self.home / Path(where.path).name
        if not file.exists():
            return self.answer(404, {})
        if "Range" in self.headers:
            signature = int(where.query.partition("=")[2])
            if signature <= faults.get("expired", 0):
                return self.answer(403, {})
            if self.due(faults, "refused"):
                return self.answer(429, {}, {"Retry-After": "0"})
        length = file.stat().st_size
        etag = f'"{hashlib.sha256(f"{length}{file.stat().st_mtime_ns}".encode()).hexdigest()[:16]}"'
        etag = faults.get("etags", {}).get(file.stem, etag)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start, end = 0, length
        if asked and self.headers.get("If-Range", etag) == etag and not faults.get("no_ranges"):
            start, end = int(asked[1]), min(length, int(asked[2] or length - 1) + 1)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{length}")
        else:
            self.send_response(200)
        self.send_header("ETag", etag)
        self.send_header("Content-Length", str(end - start))
        self.send_header("Content-Type", "application/zip")
        self.end_headers()
        sent = self.send(file, start, end, faults)
        return self.note(f"{self.headers.get('Range', '')} {sent}")

    def send(self, file: Path, start: int, end: int, faults: dict[str, Any]) -> int:
        """Send these bytes; return how many were sent."""
        cut, first = None, start
        if end - start > faults.get("cut_after", 1 << 60) and self.due(faults, "cuts"):
            cut = start + faults["cut_after"]
        is_read = "Range" in self.headers  # the package asks for everything, and we do not read it
        wrong = faults.get("wrong_bytes", {}).get(file.stem) if is_read else None
        with file.open("rb") as stream, contextlib.suppress(ConnectionError):
            stream.seek(start)
            while start < end:
                if cut is not None and start >= cut:
                    self.close_connection = True
                    break
                piece = bytearray(stream.read(min(PIECE, end - start)))
                is_here = wrong is not None and start <= wrong < start + len(piece)
                if is_here and self.due(faults, "wrong"):
                    piece[wrong - start] ^= 0xFF
                self.wfile.write(piece)
                start += len(piece)
                if faults.get("pause"):
                    time.sleep(faults["pause"])
        return start - first

    def faults(self) -> dict[str, Any]:
        with contextlib.suppress(FileNotFoundError, ValueError):
            return json.loads((self.home / "faults.json").read_text())
        return {}

    def due(self, faults: dict[str, Any], kind: str) -> bool:
        """Whether this fault still happens: so many times as it was asked for."""
        with lock:
            counts[kind] = counts.get(kind, 0) + 1
            return counts[kind] <= faults.get(kind, 0)

    def answer(
        self, status: int, document: dict[str, Any], headers: dict[str, str] | None = None
    ) -> None:
        body = json.dumps(document).encode()
        self.note(f"{status}")
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def note(self, what: str) -> None:
        with lock, (self.home / "requests.log").open("a") as log:
            log.write(f"{self.command} {urlsplit(self.path).path} {what}\n")

    def log_message(self, *words: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, *where: Any) -> None:
        """Clients that go away are a part of the tests."""


def main() -> None:
    Handler.home = Path(sys.argv[1])
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    main()
