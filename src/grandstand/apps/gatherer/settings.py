"""Settings of the gatherer."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator

from grandstand.kit.settings import Section


class GathererSettings(Section):
    """The exchange and its key, which markets to record, and how."""

    rest_url: str = Field(
        default="https://external-api.kalshi.com/trade-api/v2",
        description="URL of the exchange's REST API.",
    )
    stream_url: str = Field(
        default="wss://external-api-ws.kalshi.com/trade-api/ws/v2",
        description="URL of the exchange's WebSocket.",
    )
    key_id: str = Field(default="", description="API key ID; without one requests are not signed.")
    private_key: SecretStr = Field(
        default=SecretStr(""),
        description="Private key in PEM form (RSA or Ed25519); or use private_key_file.",
    )
    private_key_file: Path | None = Field(default=None, description="File with the private key.")
    name: str = Field(
        default="local",
        pattern=r"^[a-z0-9][a-z0-9-]{0,31}$",
        description="Name of this gatherer; stored with each row.",
    )

    series: tuple[str, ...] = Field(
        default=(), description="Record only these series (JSON list); empty means all."
    )
    categories: tuple[str, ...] = Field(
        default=(), description="Record only these categories (JSON list); empty means all."
    )
    tickers: tuple[str, ...] = Field(
        default=(), description="Always record these markets (JSON list)."
    )
    min_volume: int = Field(default=0, ge=0, description="Minimum 24 h volume in contracts.")
    record_at_start: bool = Field(
        default=False,
        description="Start recording with the program.",
    )

    connections: int = Field(default=4, ge=1, le=150, description="Number of connections.")
    markets_per_subscription: int = Field(
        default=1000,
        ge=1,
        le=500_000,
        description="Maximum markets per subscription; halved if the exchange rejects it.",
    )
    markets_per_command: int = Field(
        default=400, ge=1, le=10_000, description="Maximum markets per command."
    )
    silence_seconds: float = Field(
        default=30.0, ge=5, description="Seconds of silence after which a connection is probed."
    )
    reconnect_seconds: float = Field(
        default=1.0, gt=0, description="First wait before reconnecting; doubles each time."
    )
    max_reconnect_seconds: float = Field(
        default=60.0, gt=0, description="Longest wait before reconnecting."
    )

    reads_per_second: float = Field(
        default=20.0, gt=0, description="REST requests per second until the account limit is known."
    )
    reconcile_seconds: float = Field(
        default=300.0, ge=10, description="Seconds between full listings of the markets."
    )
    snapshot_seconds: float = Field(
        default=900.0, ge=10, description="Seconds between REST snapshots of all books."
    )
    audits_per_minute: int = Field(
        default=6, ge=0, description="Books compared with REST per minute; 0 for none."
    )

    flush_rows: int = Field(default=5000, ge=1, le=100_000, description="Rows per write.")
    flush_seconds: float = Field(
        default=0.2, gt=0, le=60, description="Longest time before a row is written, in seconds."
    )
    buffer_rows: int = Field(
        default=200_000, ge=1000, description="Rows in memory before they spill to disk."
    )
    keyframe_deltas: int = Field(
        default=1000, ge=100, description="Changes of a book between two keyframes."
    )
    folder: Path | None = Field(
        default=None,
        description="Folder for spilled rows and the raw log; default: HOME/gatherer.",
    )
    raw_log: bool = Field(default=False, description="Also store all raw frames, compressed.")
    raw_log_days: int = Field(default=7, ge=1, description="Days to keep the raw log.")
    disk_gigabytes: float = Field(
        default=0.0, ge=0, description="Maximum disk space for recordings in GB; 0 for no limit."
    )
    free_gigabytes: float = Field(
        default=2.0, ge=0, description="Minimum free disk space in GB; recording stops below it."
    )
    stall_seconds: float = Field(
        default=60.0, ge=1, description="Seconds of silence of all connections before an alert."
    )

    merge_from: dict[str, SecretStr] = Field(
        default_factory=dict,
        description=(
            "Gatherers to merge, name to location (JSON object): "
            '{"one": "FOLDER or PostgreSQL connection string"}.'
        ),
    )
    merge_overlap_seconds: float = Field(
        default=30.0,
        ge=0,
        description="Seconds that each merge reads again for rows written late.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.private_key.get_secret_value() and self.private_key_file is not None:
            raise ValueError("set private_key or private_key_file, not both")
        if self.reconnect_seconds > self.max_reconnect_seconds:
            raise ValueError("reconnect_seconds is greater than max_reconnect_seconds")
        return self
