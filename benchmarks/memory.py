"""Memory of server and graders over 10,000 submissions: it should be flat after the first."""

from __future__ import annotations

import psutil

from benchmarks.http import wait_until_settled
from benchmarks.load import send_many
from benchmarks.server import running

STEPS = 10
SUBMISSIONS = 1000
MEGABYTE = 1024 * 1024


def main() -> None:
    print("Memory: resident megabytes after so many submissions of 12 kB")
    with running() as server:
        process = psutil.Process(server.pid)
        for step in range(STEPS + 1):
            if step:
                send_many(server, SUBMISSIONS, 8)
                wait_until_settled(server)
            # A server's one child is the template, and its children are the graders.
            templates = process.children()
            graders = [
                grader.memory_info().rss / MEGABYTE
                for template in templates
                for grader in template.children()
            ]
            own = process.memory_info().rss / MEGABYTE
            told = " ".join(f"{rss:6.1f}" for rss in graders)
            print(f"  {step * SUBMISSIONS:>6,}: server {own:6.1f}   graders {told}")
