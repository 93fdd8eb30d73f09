"""Quotas: counted per period, and corrected by the source's headers."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.net.errors import QuotaExceeded
from grandstand.net.rate_limits import MemoryQuotas, Quota, QuotaReading, RateLimit
from grandstand.net.retry import RetryPolicy
from tests.net.outsider import Outsider, answers

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def _read(headers: Mapping[str, str], _now: datetime) -> QuotaReading | None:
    left = headers.get("x-requests-remaining")
    return None if left is None else QuotaReading(int(left), int(headers["x-requests-used"]))


async def test_a_request_beyond_the_quota_is_not_sent(
    web: SourceRegistry, outsider: Outsider, metrics: Metrics
) -> None:
    source = web.source("feed", base_url=outsider.url, rate=RateLimit(1000, 1000), daily_quota=2)
    await source.get("/")
    await source.get("/")

    with pytest.raises(QuotaExceeded, match=r"used up \(2 this day, 0 left\) until"):
        await source.get("/")

    assert len(outsider.heard) == 2
    assert metrics.value("source_quota_left", source="feed") == 0
    assert metrics.value("source_requests", source="feed", outcome="quota_exceeded") == 1


async def test_a_retry_is_a_request_like_any_other(web: SourceRegistry, outsider: Outsider) -> None:
    outsider.script = [answers(500)]
    retries = RetryPolicy(first_seconds=0.01)
    source = web.source("feed", base_url=outsider.url, daily_quota=10, retries=retries)

    await source.get("/")

    assert web.status()[0].used_today == 2


async def test_a_dear_request_costs_more(web: SourceRegistry, outsider: Outsider) -> None:
    source = web.source("feed", base_url=outsider.url, daily_quota=25)

    await source.get("/history", cost=10)
    await source.get("/history", cost=10)

    with pytest.raises(QuotaExceeded):
        await source.get("/history", cost=10)
    assert web.status()[0].quota_left == 5


async def test_what_the_source_says_counts_more_than_what_we_counted(
    web: SourceRegistry, outsider: Outsider, metrics: Metrics
) -> None:
    outsider.script = [
        answers(X_Requests_Remaining="1", X_Requests_Used="499"),
        answers(X_Requests_Remaining="0", X_Requests_Used="500"),
    ]
    source = web.source("odds", base_url=outsider.url, quota=Quota(500, "month"), read_quota=_read)

    await source.get("/")
    told = web.status()[0]
    await source.get("/")
    with pytest.raises(QuotaExceeded, match=r"500 this month, 0 left"):
        await source.get("/")

    assert (told.used_today, told.quota_left) == (499, 1)
    assert metrics.value("source_quota_left", source="odds") == 0
    assert len(outsider.heard) == 2


async def test_a_refusal_too_tells_what_is_left(web: SourceRegistry, outsider: Outsider) -> None:
    outsider.usual = answers(429, X_Requests_Remaining="0", X_Requests_Used="500")
    source = web.source("odds", base_url=outsider.url, read_quota=_read)

    with pytest.raises(QuotaExceeded):
        await source.get("/")

    assert len(outsider.heard) == 1


async def test_a_new_day_and_a_new_month_begin_with_nothing_used() -> None:
    clock = ManualClock(NOON)
    quotas, daily, monthly = MemoryQuotas(clock), Quota(5), Quota(5, "month")
    await quotas.spend("a", daily, 5)
    await quotas.spend("b", monthly, 5)

    clock.advance(12 * 3600)
    day = await quotas.spent("a", daily), await quotas.spent("b", monthly)
    clock.advance(14 * 86_400)
    month = await quotas.spent("b", monthly)

    assert [spent.left for spent in day] == [5, 0]
    assert (month.period, month.used, month.left) == ("2026-12", 0, 5)


async def test_a_reset_the_source_announces_ends_the_wait() -> None:
    clock = ManualClock(NOON)
    quotas, quota = MemoryQuotas(clock), Quota()
    await quotas.record_reading("a", quota, QuotaReading(0, 60, NOON + timedelta(minutes=1)))

    with pytest.raises(QuotaExceeded, match="12:01 UTC") as refused:
        await quotas.spend("a", quota, 1)
    clock.advance(60)
    spent = await quotas.spend("a", quota, 1)

    assert refused.value.retry_after_seconds == 60
    assert (spent.used, spent.left) == (1, None)


async def test_an_answer_that_comes_late_gives_nothing_back_within_its_period() -> None:
    quotas, quota, renewed = MemoryQuotas(ManualClock(NOON)), Quota(), NOON + timedelta(hours=1)
    await quotas.record_reading("a", quota, QuotaReading(1, 59, renewed))

    late = await quotas.record_reading("a", quota, QuotaReading(2, 58, renewed))
    next_period = await quotas.record_reading(
        "a", quota, QuotaReading(60, 0, renewed + timedelta(hours=1))
    )

    assert (late.left, next_period.left) == (1, 60)


@pytest.mark.parametrize(
    ("per", "moment", "end"),
    [
        ("day", NOON, datetime(2026, 11, 17, tzinfo=UTC)),
        ("month", NOON, datetime(2026, 12, 1, tzinfo=UTC)),
        ("month", datetime(2026, 12, 31, 23, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        ("month", datetime(2026, 1, 31, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)),
    ],
)
def test_a_period_ends_with_its_day_or_month(per: str, moment: datetime, end: datetime) -> None:
    assert Quota(1, per).ends_after(moment) == end  # type: ignore[arg-type]


def test_a_quota_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Invalid quota 0"):
        Quota(0)


async def test_an_hourly_quota_is_fresh_with_the_next_hour() -> None:
    clock = ManualClock(NOON + timedelta(minutes=50))
    quotas, hourly = MemoryQuotas(clock), Quota(1, "hour")

    await quotas.spend("feed", hourly, 1)
    with pytest.raises(QuotaExceeded, match=r"this hour, 0 left\) until 2026-11-16 13:00"):
        await quotas.spend("feed", hourly, 1)
    clock.advance(600)
    spent = await quotas.spend("feed", hourly, 1)

    assert (spent.period, spent.used) == ("2026-11-16T13", 1)
