"""All settings of Podium, in one frozen object. Nothing is read at import."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal, Self
from urllib.parse import unquote

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.bundled import bundled
from app.units import MEGABYTE

SHORTEST_METRICS_KEY = 16


def sqlite_url(file: Path) -> str:
    """The URL of a SQLite file, whose path may contain characters with a meaning in URLs.

    >>> sqlite_url(Path("/data/feature%2Fnew?/podium.db"))
    'sqlite:////data/feature%252Fnew%3F/podium.db'
    """
    return f"sqlite:///{file}".replace("%", "%25").replace("?", "%3F")


class Settings(BaseSettings):
    """Settings of one Podium, from `PODIUM_*` in the environment or a `.env` file."""

    model_config = SettingsConfigDict(
        env_prefix="PODIUM_", env_file=".env", extra="ignore", frozen=True, allow_inf_nan=False
    )

    data_dir: Path = Field(Path("data"), description="directory of blobs, competitions and SQLite")
    database_url: str = Field("", description="SQLAlchemy URL; empty: SQLite in the data directory")
    database_connections: int = Field(
        24, ge=1, le=1000, description="connections of one process to the database for reading"
    )
    database_connect_seconds: float = Field(
        5.0, ge=2, le=60, description="time-out of one attempt to connect to PostgreSQL"
    )
    database_statement_seconds: float = Field(
        60.0, ge=0.1, le=2_000_000, description="wall-clock limit of one statement on PostgreSQL"
    )  # PostgreSQL accepts 2,147,483
    database_lock_seconds: float = Field(
        5.0, ge=0.05, description="longest wait of a statement for a lock on PostgreSQL"
    )
    database_patience_seconds: float = Field(
        15.0,
        ge=0.1,
        le=300,
        description="how long a write waits for a database that is locked or away, before 503",
    )
    blobs_url: str = Field(
        "",
        description="store of submitted files and competitions: file:///path or "
        "s3://bucket/prefix; empty: blobs in the data directory",
    )
    cache_mb: int = Field(
        10240, ge=1, description="disk space for files fetched from a remote store"
    )
    # The usual names of S3 clients. Values that are not set may come from the machine's role.
    aws_endpoint_url: str = Field("", validation_alias="AWS_ENDPOINT_URL")
    aws_region: str = Field("", validation_alias="AWS_REGION")
    aws_access_key_id: str = Field("", validation_alias="AWS_ACCESS_KEY_ID")
    aws_secret_access_key: SecretStr = Field(
        SecretStr(""), validation_alias="AWS_SECRET_ACCESS_KEY"
    )
    competitions_dir: Path = Field(
        default_factory=partial(bundled, "competitions"),
        description="the competition folders that `check` and the first start read, with "
        "`suites.toml`; default: the bundled ones",
    )
    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(7777, ge=0, le=65535, description="port to listen on; 0 selects a free one")
    connections: int = Field(
        2000,
        ge=16,
        description="open connections; beyond them one is closed whose client reads no answers, "
        "or the longest silent one",
    )
    connections_per_address: int = Field(
        0,
        ge=0,
        description="of these, from one address; 0: half of them. Behind a reverse proxy all "
        "come from one: set PODIUM_CONNECTIONS here",
    )
    head_seconds: float = Field(
        30.0, ge=0.1, le=600, description="longest time for a request's head; then 408"
    )
    idle_seconds: float = Field(
        30.0,
        ge=0.1,
        le=600,
        description="a connection is closed after so long without a byte of a begun body, or "
        "without a byte taken of an answer",
    )
    max_upload_mb: int = Field(1024, ge=1, description="largest submission or archive, unpacked")
    run_stored_mb: int = Field(
        20480, ge=1, description="bytes of all submissions of one run together; beyond: 429"
    )
    run_failures: int = Field(
        100,
        ge=1,
        description="files of one run for which grading may fail because of what the metric does "
        "with them; beyond: 429",
    )
    run_validations: int = Field(
        100_000,
        ge=1,
        description="files of one run that may be checked without being submitted, each an entry "
        "of its exposure ledger; beyond: 429",
    )
    disk_reserve_percent: float = Field(
        5.0,
        ge=0,
        le=50,
        description="of the disk, and at most 10 GB: uploads are refused before they use it",
    )
    gc_hours: float = Field(
        24.0,
        ge=0,
        le=1_000_000,  # a thread can wait for 2,562,047 hours
        description="hours between two removals of files that no row names; 0: never by itself",
    )
    gc_age_hours: float = Field(
        24.0, ge=1, description="how old a file that no row names must be to be removed"
    )
    graders: int = Field(
        2,
        ge=1,
        le=256,
        description="grading processes; at most as many more for competitions with a metric.py",
    )
    grading_seconds: float = Field(600.0, gt=0, description="wall-clock limit of one grading")
    validation_seconds: float = Field(
        30.0, gt=0, description="wall-clock limit of one check of a file's form, without answers"
    )
    grader_memory_mb: int = Field(
        4096, ge=256, description="memory one grader may use in addition to its start-up memory"
    )
    answers_cache_mb: int = Field(
        1024, ge=1, description="decoded answers that one grader keeps in memory"
    )
    grading_attempts: int = Field(3, ge=1, le=10, description="attempts before a grading is failed")
    require_isolation: bool = Field(
        False, description="refuse competitions with a metric.py where a wall around it is missing"
    )
    dispatch: Literal["embedded", "queue"] = Field(
        "embedded",
        description="embedded: the server grades; queue: `podium worker`s do (needs PostgreSQL)",
    )
    heartbeat_seconds: float = Field(
        5.0, ge=0.1, le=60, description="seconds between two heartbeats of a worker"
    )
    outcome_step_seconds: float = Field(
        1.0,
        ge=0,
        le=60,
        description="under `validity`, `search` and `public` a run's key sees an outcome 1, 2, 4, "
        "... 64, 128, 192, ... times this many seconds after the file came; 0: as soon as there is "
        "one",
    )
    drain_seconds: float = Field(
        60.0, ge=0, description="seconds for a stopping worker to finish its gradings"
    )
    event_streams: int = Field(
        200, ge=1, description="open event streams of one server; a key that is no run's has half"
    )
    event_stream_seconds: float = Field(3600.0, gt=0, description="longest life of one stream")
    event_heartbeat_seconds: float = Field(
        15.0, gt=0, description="seconds between two heartbeats of an event stream"
    )
    metrics_key: SecretStr = Field(
        SecretStr(""),
        description="a key for GET /metrics alone, at least 16 characters; without it, a "
        "researcher's or admin's key opens it",
    )
    login_hours: float = Field(12.0, gt=0, le=24 * 365, description="length of a browser's login")
    public_boards: str = Field(
        "", description="suites, separated by commas, whose boards need no login"
    )
    signer_name: str = Field(
        "",
        pattern=r"^([A-Za-z0-9][A-Za-z0-9._/@:-]{0,99})?$",
        description="the name under which receipts are signed, as a host name; fixed by the first "
        "receipt; empty: a random one",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="the least level of the lines in the log"
    )

    @model_validator(mode="after")
    def _metrics_key_can_be_sent(self) -> Self:
        key = self.metrics_key.get_secret_value()
        if 0 < len(key) < SHORTEST_METRICS_KEY:
            raise ValueError(f"PODIUM_METRICS_KEY has fewer than {SHORTEST_METRICS_KEY} characters")
        if key != key.strip():
            raise ValueError("PODIUM_METRICS_KEY has a line feed or blank too many: remove it")
        if not (key.isascii() and key.isprintable()):
            raise ValueError("PODIUM_METRICS_KEY has a character that is not printable ASCII")
        return self

    @model_validator(mode="after")
    def _paths_are_absolute(self) -> Self:
        object.__setattr__(self, "data_dir", self.data_dir.absolute())
        object.__setattr__(self, "competitions_dir", self.competitions_dir.absolute())
        if not self.database_url:
            object.__setattr__(self, "database_url", sqlite_url(self.data_dir / "podium.db"))
        if not self.blobs_url:
            object.__setattr__(self, "blobs_url", (self.data_dir / "blobs").as_uri())
        return self

    @property
    def max_upload_bytes(self) -> int:
        """Largest body accepted, counted after unpacking."""
        return self.max_upload_mb * MEGABYTE

    @property
    def public_suites(self) -> frozenset[str]:
        """The suites whose boards need no login."""
        return frozenset(name.strip() for name in self.public_boards.split(",") if name.strip())

    @property
    def queues(self) -> bool:
        """Whether submissions are graded by workers, through the queue."""
        return self.dispatch == "queue"

    @property
    def s3_options(self) -> dict[str, str]:
        """The options for the S3 client that are set, including secrets."""
        options = {
            "endpoint": self.aws_endpoint_url,
            "region": self.aws_region,
            "access_key_id": self.aws_access_key_id,
            "secret_access_key": self.aws_secret_access_key.get_secret_value(),
        }
        return {name: value for name, value in options.items() if value}

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a SQLite file."""
        return self.database_url.startswith("sqlite")

    @property
    def has_database(self) -> bool:
        """Whether the SQLite file exists. True for a database server, without a check."""
        file = unquote(self.database_url.partition(":///")[2].partition("?")[0])
        return not self.is_sqlite or not file or Path(file).is_file()  # without one it is refused
