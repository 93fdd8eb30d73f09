"""Kept here: shapes that several answers have: money as text, lines, shares and intervals."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer

from grandstand.apps.bets.service import Interval, Record
from grandstand.kit.routes import Strict

_CENTS: Final = 100
MONEY: Final = r"^[0-9]{1,7}(\.[0-9]{1,2})?$"


def dollars(cents: int) -> str:
    """Write cents as dollars: 1550 is `15.50`."""
    return f"{'-' if cents < 0 else ''}{abs(cents) // _CENTS}.{abs(cents) % _CENTS:02}"


def cents(written: str) -> int:
    """Read dollars, written as `MONEY` demands, as cents."""
    return int(Decimal(written) * _CENTS)


def _told(value: object) -> object:
    return dollars(value) if isinstance(value, int) else value


def _percent(value: object) -> object:
    return round(100 * value, 2) if isinstance(value, float) else value


Dollars = Annotated[str, BeforeValidator(_told), Field(examples=["15.50"])]
Percent = Annotated[float, BeforeValidator(_percent), Field(examples=[4.2])]
Number = Annotated[Decimal, PlainSerializer(float, return_type=float)]
"""A line, a score or a weight: exact inside, a number outside."""


class Told(Strict):
    """What a caller is answered; made of a value's own fields."""

    model_config = ConfigDict(from_attributes=True, strict=False)


class IntervalModel(Told):
    """A figure with the bounds it lies within at 95 %."""

    value: float
    low: float
    high: float


def interval_of(found: Interval | None) -> IntervalModel | None:
    """Answer an interval as it is told."""
    return None if found is None else IntervalModel.model_validate(found)


def value_of(found: Interval | None) -> float | None:
    """Answer the figure alone."""
    return None if found is None else found.value


class BinModel(Told):
    """One bin of a reliability diagram."""

    low: float
    high: float
    count: int
    mean_probability: float
    share_won: float


class RecordModel(Told):
    """Bets of one kind: `record` is won and not won, `roi` a share of what was staked."""

    name: str
    record: str
    bets: int
    win_rate: float | None
    roi: float | None
    wagered: Dollars
    profit: Dollars

    @classmethod
    def of(cls, record: Record) -> RecordModel:
        """Answer a record as it is told."""
        return cls(
            name=record.name,
            record=f"{record.won}-{record.settled - record.won}",
            bets=record.settled,
            win_rate=record.won / record.settled if record.settled else None,
            roi=record.roi,
            wagered=dollars(record.staked_cents),
            profit=dollars(record.profit_cents),
        )
