"""The Prometheus metrics at `/metrics`."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("podium_requests", "HTTP requests answered", ["method", "route", "status"])
REQUEST_SECONDS = Histogram(
    "podium_request_seconds",
    "Time from a request's first byte to its answer",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 60),
)
RECEIVED = Counter("podium_submissions_received", "Submissions stored")
SETTLED = Counter("podium_submissions_settled", "Submissions settled", ["state"])
GRADING_SECONDS = Histogram(
    "podium_grading_seconds",
    "Time from sending a submission to a grader until its outcome",
    ["competition"],
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600),
)
DATABASE_UP = Gauge("podium_database_up", "Whether the database answered this scrape")
OPEN = Gauge(
    "podium_submissions_open",
    "Submissions in the database that are not settled; sizes: below 8 MB, below 64 MB, larger",
    ["state", "size"],
)
QUEUED = Gauge("podium_submissions_queued", "Submissions waiting for a grader")
OLDEST_QUEUED_SECONDS = Gauge("podium_oldest_queued_seconds", "Age of the oldest queued submission")
CONSUMERS = Gauge(
    "podium_queue_consumers",
    "Live consumers of the queue; a worker for both small and larger files counts as two",
)
GRADER_BYTES = Gauge("podium_grader_resident_bytes", "Memory of each grader process", ["pid"])
