"""Kept here: the shapes of what is told of recording itself, and of what is asked of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grandstand.apps.gatherer.api.models import Heard, Moment, Told
from grandstand.apps.gatherer.service.values import State
from grandstand.kit.routes import Strict

ChoiceKind = Literal["market", "event", "series", "category"]


class ChoiceAsked(Strict):
    """Whether it is to be recorded."""

    recorded: bool = True


class RecordingAsked(Strict):
    """Whether recording is to go on."""

    recording: bool


class ConnectionModel(Told):
    """One connection to the exchange."""

    number: int
    conn: int | None
    markets: int
    waiting: int
    stale: int
    subscriptions: int
    frames: int
    heard_at: Heard
    lost: str | None


class IngestModel(Told):
    """Recording as it goes."""

    state: State
    gatherer: str
    why: str | None
    started_at: Heard
    markets: int
    stale: int
    frames: int
    frames_per_second: float
    frame_bytes: int
    rows: dict[str, int]
    waiting_rows: int
    waiting_bytes: int
    spilled_rows: int
    lag_median_seconds: float | None
    lag_p99_seconds: float | None
    gaps_opened: dict[str, int]
    gaps_closed: int
    gaps_open: int
    duplicates: int
    refused: int
    unknown: int
    unfit: int
    batches: int
    reconnects: int
    errors_told: dict[int, int]
    tape_frames: int
    tape_bytes: int
    tape_raw_bytes: int
    tape_fault: str | None
    free_bytes: int | None
    taken_bytes: int | None
    troubles: dict[str, str]
    connections: tuple[ConnectionModel, ...]


class RatesModel(Told):
    """Rows a day of each kind."""

    deltas: int
    trades: int
    tickers: int
    snapshots: int


class EstimateModel(Told):
    """What recording the markets chosen is likely to take."""

    markets: int
    rates: RatesModel
    bytes_a_day: int
    hot_bytes: int
    free_bytes: int
    days_left: int | None


class ChoiceModel(Told):
    """Something that is to be recorded, or is not to be."""

    kind: ChoiceKind
    name: str
    recorded: bool
    chosen_us: Annotated[Moment, Field(serialization_alias="chosen_at")]


class ChoiceList(Told):
    """What was chosen, and whether recording is asked for."""

    recording: bool
    choices: tuple[ChoiceModel, ...]


class FindingModel(Told):
    """One thing that was checked."""

    name: str
    well: bool
    text: str


class CheckModel(Told):
    """Whether recording could begin now."""

    well: bool
    findings: tuple[FindingModel, ...]
