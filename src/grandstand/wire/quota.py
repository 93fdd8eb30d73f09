"""Kept here: what sources allow in a period, what is used of it, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol, TypeAlias

from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput
from grandstand.wire.errors import QuotaSpent

Period: TypeAlias = Literal["hour", "day", "month"]

_FORMS: Final[dict[Period, str]] = {
    "hour": "%Y-%m-%dT%H",
    "day": "%Y-%m-%d",
    "month": "%Y-%m",
}


@dataclass(frozen=True, slots=True)
class Quota:
    """So many requests in a period of UTC; `most` is None where only the source counts."""

    most: int | None = None
    per: Period = "day"

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            message = f"A quota of {self.most} would never allow a request: use 1 or more, or None"
            raise InvalidInput(message)

    def period_of(self, moment: datetime) -> str:
        """Answer the name of the period a moment lies in."""
        return moment.strftime(_FORMS[self.per])

    def ends_after(self, moment: datetime) -> datetime:
        """Answer when the period a moment lies in is over."""
        if self.per == "hour":
            return moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        if self.per == "day":
            return midnight + timedelta(days=1)
        return (midnight.replace(day=1) + timedelta(days=32)).replace(day=1)


@dataclass(frozen=True, slots=True)
class QuotaReading:
    """What a source itself says of our quota."""

    left: int
    used: int | None = None
    resets_at: datetime | None = None


ReadQuota: TypeAlias = Callable[[Mapping[str, str], datetime], QuotaReading | None]


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used in a period, and what is left; `left` is None where nobody set a limit."""

    period: str
    used: int = 0
    left: int | None = None
    resets_at: datetime | None = None


class QuotaLedger(Protocol):
    """Whoever counts what is used; shared by all who use one account of a source."""

    async def spend(self, source: str, quota: Quota, cost: int) -> Spent:
        """Count a request; raise QuotaSpent, counting nothing, when there is not enough left."""
        ...

    async def told(self, source: str, quota: Quota, reading: QuotaReading) -> Spent:
        """Take over what the source says."""
        ...

    async def spent(self, source: str, quota: Quota) -> Spent:
        """Answer what was used in this period."""
        ...


class MemoryQuotas:
    """Counts what one process uses."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, Spent] = {}

    async def spend(self, source: str, quota: Quota, cost: int) -> Spent:
        """Count a request; raise QuotaSpent, counting nothing, when there is not enough left."""
        now = self._clock.now()
        kept = up_to_date(self._kept.get(source), quota, now)
        self._kept[source] = after_spending(kept, source, quota, cost, now=now)
        return self._kept[source]

    async def told(self, source: str, quota: Quota, reading: QuotaReading) -> Spent:
        """Take over what the source says."""
        kept = up_to_date(self._kept.get(source), quota, self._clock.now())
        self._kept[source] = after_told(kept, reading)
        return self._kept[source]

    async def spent(self, source: str, quota: Quota) -> Spent:
        """Answer what was used in this period."""
        return up_to_date(self._kept.get(source), quota, self._clock.now())


def fresh(quota: Quota, now: datetime) -> Spent:
    """Answer a period nothing was used of."""
    return Spent(quota.period_of(now), left=quota.most)


def up_to_date(kept: Spent | None, quota: Quota, now: datetime) -> Spent:
    """Answer what was kept, or a fresh period when that is over."""
    renewed = kept is not None and kept.resets_at is not None and kept.resets_at <= now
    if kept is None or renewed or kept.period != quota.period_of(now):
        return fresh(quota, now)
    return kept


def after_spending(kept: Spent, source: str, quota: Quota, cost: int, *, now: datetime) -> Spent:
    """Answer a period with a request counted; raise QuotaSpent when there is not enough left."""
    if kept.left is not None and kept.left < cost:
        raise _refusal(source, quota, kept, now)
    left = None if kept.left is None else kept.left - cost
    return replace(kept, used=kept.used + cost, left=left)


def after_told(kept: Spent, reading: QuotaReading) -> Spent:
    """Believe the source: it also sees what others use of the same account.

    Within one period of the source less is left each time: an answer that comes late does not
    give back what others have used since.
    """
    left = max(0, reading.left)
    if reading.resets_at is not None and reading.resets_at == kept.resets_at:
        left = min(left, left if kept.left is None else kept.left)
    return replace(
        kept,
        used=kept.used if reading.used is None else reading.used,
        left=left,
        resets_at=reading.resets_at,
    )


def _refusal(source: str, quota: Quota, kept: Spent, now: datetime) -> QuotaSpent:
    renewed_at = kept.resets_at or quota.ends_after(now)
    message = (
        f"The quota of {source} is used up ({kept.used} this {quota.per}, {kept.left or 0} left); "
        f"there is more at {renewed_at:%Y-%m-%d %H:%M} UTC"
    )
    wait = (renewed_at - now).total_seconds()
    return QuotaSpent(message, source=source, retry_after_seconds=max(0.0, wait))
