"""What Prometheus may read at `/metrics`."""

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
    "Time from handing a submission to a grader to its outcome",
    ["competition"],
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600),
)
DATABASE_UP = Gauge("podium_database_up", "Whether the database answered this scrape")
OPEN = Gauge(
    "podium_submissions_open",
    "Submissions that are not settled, of the whole database; sizes: below 8 MB, below 64 MB, more",
    ["state", "size"],
)
QUEUED = Gauge("podium_submissions_queued", "Submissions waiting for a grader")
OLDEST_QUEUED_SECONDS = Gauge(
    "podium_oldest_queued_seconds", "Age of the submission that waits longest"
)
CONSUMERS = Gauge(
    "podium_queue_consumers",
    "Consumers of the queue that are alive; a worker for small and larger files counts as two",
)
GRADER_BYTES = Gauge("podium_grader_resident_bytes", "Memory of each grader process", ["pid"])
