"""An agent's container as far as these tests need one: a client, a home, a few variables."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.kaggle_api.installed import forked, installed

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
SECONDS = 120.0  # which a command may take


@dataclass
class Agent:
    """Runs Kaggle's command as an agent would. `proxy` is where its HTTP goes."""

    client: str
    home: Path
    proxy: str
    credentials: dict[str, str]
    extra: dict[str, str] = field(default_factory=dict)
    is_started: bool = False  # each command anew, and not forked

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name.lower() not in PROXIES and not name.startswith(("KAGGLE", "PODIUM"))
        }
        reached = {"HTTP_PROXY": self.proxy, "http_proxy": self.proxy} if self.proxy else {}
        return {
            **kept, "HOME": str(self.home), "KAGGLE_API_ENVIRONMENT": "LOCALHOST",
            "KAGGLE_API_ENDPOINT": self.proxy or "http://localhost",
            "PYTHONWARNINGS": "ignore", **reached, **self.credentials, **self.extra,
        }  # fmt: skip

    def kaggle(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`kaggle competitions ...`"""
        return self.run("competitions", *words)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`kaggle ...`"""
        return self._run(str(installed(self.client) / "kaggle"), *words)

    def python(self, text: str) -> subprocess.CompletedProcess[str]:
        """A few lines of Python with the client at hand."""
        return self._run("-c", text)

    def write(self, name: str, data: bytes) -> Path:
        file = self.home / name
        file.write_bytes(data)
        return file

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        if self.is_started:
            return subprocess.run(
                [installed(self.client) / "python", *words], env=self.environment, cwd=self.home,
                capture_output=True, text=True, timeout=SECONDS, check=False,
            )  # fmt: skip
        return forked(self.client).run(*words, env=self.environment, cwd=self.home, timeout=SECONDS)


def basic(key: str) -> dict[str, str]:
    """The key as an old API key of Kaggle's: a user name (any) and the key."""
    return {"KAGGLE_USERNAME": "agent", "KAGGLE_KEY": key}


def bearer(key: str) -> dict[str, str]:
    """The key as an API token of Kaggle's."""
    return {"KAGGLE_API_TOKEN": key}


def told(ran: subprocess.CompletedProcess[str]) -> str:
    """All that the command said."""
    return ran.stdout + ran.stderr
