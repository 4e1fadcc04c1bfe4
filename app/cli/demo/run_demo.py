"""Run the demo: start a server, run the agent, show its medal and its rejected file."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import httpx

import app
from app.bundled import bundled
from app.cli.demo import report
from app.cli.operation.hang_up import end_at_hang_up
from app.cli.output import err, out
from app.domain.wording import counted
from app.errors import GradingFault
from app.read_settings import read_settings
from app.units import host_and_port

SLUG = "bike-sharing-demand"
KEY = re.compile(r"pod_admin_\S+")
START_SECONDS = 300  # an emulated processor needs 130


def run_demo(*, once: bool) -> None:
    """Serve until the agent's result is shown, or until Ctrl-C."""
    settings = read_settings()
    # TERM ends the demo like Ctrl-C, so that `timeout` and a closed terminal leave no files.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    end_at_hang_up()
    out.print("Podium starts, and imports its competitions. This takes some seconds.")
    with tempfile.TemporaryDirectory(prefix="podium-demo-") as directory:
        port = _free_port(settings.host, settings.port)
        server, key = _start_server(port, Path(directory))
        url = f"http://{host_and_port(settings.host, port)}"
        try:
            out.print(f"Podium serves on {url}; its data is in {directory} until it ends.")
            run = _set_up_run(url, key)
            out.print("An agent starts. It has an address and the key of one run, nothing else.")
            result = _run_agent(url, run)
            if result["submission"]["grade"] is None:
                raise GradingFault(
                    f"The agent's file was not graded: {result['submission']['message']}"
                )
            report.show(result, _flags(url, key))
            if not once:
                report.show_next_steps(url, key, run)
                server.wait()
        except KeyboardInterrupt:
            out.print("stopping")
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def _free_port(host: str, wanted: int) -> int:
    """The wanted port, or a free one if that is in use."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, wanted))
        except OSError:
            probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def _start_server(port: int, directory: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a server process; return it and its admin key once it serves."""
    with err.status("starting the server and importing the competition"):
        server = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
            [sys.executable, "-m", "app.cli", "serve", "--port", str(port)],
            env={
                **os.environ,
                "PODIUM_DATA_DIR": str(directory / "data"),
                # Without those of a Podium that is set up here, whose store would become the
                # demo's.
                "PODIUM_DATABASE_URL": "",
                "PODIUM_BLOBS_URL": "",
                "PODIUM_DISPATCH": "embedded",
                "PODIUM_COMPETITIONS_DIR": str(bundled("competitions")),
                "PODIUM_LOG_LEVEL": "warning",
                "PYTHONUNBUFFERED": "1",
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        is_late = threading.Event()

        def end_late_server() -> None:
            is_late.set()  # first: this process continues as soon as the server is ended
            server.kill()

        watchdog = threading.Timer(START_SECONDS, end_late_server)
        watchdog.start()
        try:
            key = _key_of(server)
            if key is not None:
                return server, key
            if is_late.is_set():
                waited = counted(START_SECONDS, "second")
                raise GradingFault(
                    f"The server did not start within {waited} and was ended. `podium serve` waits "
                    "as long as it takes."
                )
            raise GradingFault("The server did not start; see its messages above.")
        except BaseException:  # an interrupt too: no server may stay behind
            server.kill()
            server.wait()
            raise
        finally:
            watchdog.cancel()


def _key_of(server: subprocess.Popen[str]) -> str | None:
    """Wait until the server serves. Returns its admin key, or None if it ends before."""
    key = ""
    assert server.stdout is not None  # noqa: S101 (it was asked for)
    for line in server.stdout:
        found = KEY.search(line)
        key = found.group() if found else key
        if line.startswith("Podium serves"):
            return key
    return None


def _set_up_run(url: str, key: str) -> dict[str, Any]:
    """Make an experiment, and a run with the policy `full`, as a researcher would."""
    bearer = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=url, headers=bearer, trust_env=False) as podium:
        experiment = {"name": "demo", "agent": "demo-agent", "model": "gradient boosting"}
        podium.post("/v1/experiments", json=experiment).raise_for_status()
        run = {"experiment": "demo", "competition": SLUG, "seed": 0, "feedback": "full"}
        made: dict[str, Any] = podium.post("/v1/runs", json=run).raise_for_status().json()
        return made


def _flags(url: str, key: str) -> list[dict[str, str]]:
    """The competition's known issues, which agents are not shown."""
    bearer = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=url, headers=bearer, trust_env=False) as podium:
        found: list[dict[str, str]] = podium.get(f"/v1/competitions/{SLUG}").json()["flags"]
        return found


def _run_agent(url: str, run: dict[str, Any]) -> dict[str, Any]:
    """Run the agent as a process whose environment has only its own variables."""
    environment = {"PODIUM_URL": url, "PODIUM_KEY": run["key"], "PODIUM_RUN": run["id"]}
    # For `pip install --user`, whose packages Python looks for in the user's home.
    environment["PYTHONPATH"] = str(Path(app.__file__).parents[1])
    # Threads that wait for one another slow down a busy machine, and 8,000 rows need none.
    environment["OMP_NUM_THREADS"] = "1"
    with err.status("the agent reads the task, trains, and submits"):
        agent = subprocess.run(
            [sys.executable, "-m", "app.cli.demo.agent"],
            env={"PATH": os.environ.get("PATH", ""), **environment},
            stdout=subprocess.PIPE,
            check=True,
        )
    result: dict[str, Any] = json.loads(agent.stdout)
    return result
