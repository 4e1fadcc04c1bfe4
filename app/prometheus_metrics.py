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
GRADING_BOUNDS = (1.0, 5.0, 30.0, 120.0, 600.0)
GRADING_SECONDS = Histogram(
    "podium_grading_seconds",
    "Time from sending a submission to a grader until its outcome, rounded up to a bucket's bound",
    ["competition"],
    buckets=GRADING_BOUNDS,
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
REVIEWED = Counter("podium_reviewed_submissions", "Graded submissions whose signals were computed")
REVIEW_SECONDS = Counter(
    "podium_review_processor_seconds", "Processor time of this process for signals"
)
GC_FILES = Counter("podium_gc_removed_files", "Files removed that no row names", ["kind"])
GC_BYTES = Counter("podium_gc_removed_bytes", "Bytes removed that no row names", ["kind"])
GC_LAST = Gauge("podium_gc_last_timestamp_seconds", "When this process last looked for such files")
GRADER_BYTES = Gauge("podium_grader_resident_bytes", "Memory of each grader process", ["pid"])


def observe_grading(competition: str, seconds: float) -> None:
    """Count a grading.

    Its time is rounded up. Otherwise two scrapes, one before and one after it, would reveal the
    exact time, and the time of some metrics reveals the score.
    """
    above = (bound for bound in GRADING_BOUNDS if seconds <= bound)
    GRADING_SECONDS.labels(competition).observe(next(above, 2 * GRADING_BOUNDS[-1]))
