"""Kept here: what can be chosen about the gatherer: the exchange, what is recorded, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator

from grandstand.kit.settings import Section


class GathererSettings(Section):
    """The gatherer: the exchange and its key, which markets are recorded, and how safely."""

    rest_url: str = Field(
        default="https://external-api.kalshi.com/trade-api/v2",
        description="Where the exchange answers requests.",
    )
    stream_url: str = Field(
        default="wss://external-api-ws.kalshi.com/trade-api/ws/v2",
        description="Where the exchange streams.",
    )
    key_id: str = Field(default="", description="The id of the API key; empty signs nothing.")
    private_key: SecretStr = Field(
        default=SecretStr(""),
        description="The private key as PEM text (RSA or Ed25519), unless it is in a file.",
    )
    private_key_file: Path | None = Field(
        default=None, description="The file the private key is read from."
    )
    name: str = Field(
        default="local",
        pattern=r"^[a-z0-9][a-z0-9-]{0,31}$",
        description="The name of this gatherer, which each row it records bears.",
    )

    series: tuple[str, ...] = Field(
        default=(), description="Record only markets of these series, as JSON; empty takes all."
    )
    categories: tuple[str, ...] = Field(
        default=(), description="Record only markets of these categories, as JSON."
    )
    tickers: tuple[str, ...] = Field(
        default=(), description="Record these markets whatever else is chosen, as JSON."
    )
    least_volume: int = Field(
        default=0, ge=0, description="Record only markets with so many contracts traded in 24 h."
    )
    record_at_start: bool = Field(
        default=False,
        description="Whether recording begins with the program, or when it is asked for.",
    )

    connections: int = Field(
        default=4, ge=1, le=150, description="Over how many connections books are spread."
    )
    markets_per_subscription: int = Field(
        default=1000,
        ge=1,
        le=500_000,
        description="Markets in one subscription; halved when the exchange says it is too many.",
    )
    markets_per_command: int = Field(
        default=400, ge=1, le=10_000, description="Markets named in one command."
    )
    silence_seconds: float = Field(
        default=30.0, ge=5, description="A connection that is silent for so long is made anew."
    )
    reconnect_seconds: float = Field(
        default=1.0, gt=0, description="The wait before the first new try; doubled each time."
    )
    longest_reconnect_seconds: float = Field(
        default=60.0, gt=0, description="The longest wait between two tries."
    )

    reads_per_second: float = Field(
        default=20.0, gt=0, description="Requests a second, until the exchange says its limit."
    )
    reconcile_seconds: float = Field(
        default=300.0, ge=10, description="How often the whole list of markets is compared."
    )
    snapshot_seconds: float = Field(
        default=900.0, ge=10, description="How often every book is fetched over REST as well."
    )
    audits_per_minute: int = Field(
        default=6, ge=0, description="Books compared with REST a minute; 0 compares none."
    )

    flush_rows: int = Field(
        default=5000, ge=1, le=100_000, description="Rows that are written at once."
    )
    flush_seconds: float = Field(
        default=0.2, gt=0, le=60, description="The longest a row waits before it is written."
    )
    buffer_rows: int = Field(
        default=200_000, ge=1000, description="Rows held in memory before they spill to disk."
    )
    keyframe_deltas: int = Field(
        default=1000, ge=100, description="A market's book is kept after so many changes."
    )
    folder: Path | None = Field(
        default=None,
        description=(
            "Where rows wait that the series do not take, and the tape is; gatherer in the home "
            "folder when it is not set."
        ),
    )
    tape: bool = Field(
        default=False, description="Whether raw frames are kept too, compressed, as they came."
    )
    tape_days: int = Field(default=7, ge=1, description="How long the tape is kept.")
    disk_gigabytes: float = Field(
        default=0.0, ge=0, description="The most that recordings may take; 0 sets no limit."
    )
    free_gigabytes: float = Field(
        default=2.0, ge=0, description="Recording stops before less than this is free."
    )
    stall_seconds: float = Field(
        default=60.0, ge=1, description="Silence of all connections after which an alert is sent."
    )

    merge_from: dict[str, SecretStr] = Field(
        default_factory=dict,
        description=(
            'Gatherers whose recordings are merged, by name, as JSON: {"one": "FOLDER or '
            'PostgreSQL connection string"}.'
        ),
    )
    merge_overlap_seconds: float = Field(
        default=30.0,
        ge=0,
        description="How far each merge goes back for rows that were written late.",
    )

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if self.private_key.get_secret_value() and self.private_key_file is not None:
            message = "give private_key or private_key_file, not both"
            raise ValueError(message)
        if self.reconnect_seconds > self.longest_reconnect_seconds:
            message = "reconnect_seconds is above longest_reconnect_seconds"
            raise ValueError(message)
        return self
