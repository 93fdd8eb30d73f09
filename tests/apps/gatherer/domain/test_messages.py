"""The instant of a message is the finest its two clocks agree on."""

from datetime import UTC, datetime, timedelta

import pytest

from grandstand.apps.gatherer.domain.messages import exchange_time_us

_NOON_MS = 1_793_534_400_123
_NOON = datetime(2026, 11, 1, 12, tzinfo=UTC) + timedelta(microseconds=123_456)


@pytest.mark.parametrize(
    ("ts_ms", "ts", "expected"),
    [
        (_NOON_MS, _NOON, 1_793_534_400_123_456),
        (_NOON_MS, _NOON + timedelta(milliseconds=1), 1_793_534_400_123_000),
        (_NOON_MS, _NOON + timedelta(days=1), 1_793_534_400_123_000),
        (_NOON_MS, 1_793_534_400, 1_793_534_400_123_000),
        (_NOON_MS, None, 1_793_534_400_123_000),
        (None, _NOON, 1_793_534_400_123_456),
        (None, 1_793_534_400, 1_793_534_400_000_000),
        (None, datetime(1960, 1, 1, tzinfo=UTC), None),
        (None, None, None),
    ],
)
def test_microseconds_count_only_where_they_agree_with_the_milliseconds(
    ts_ms: int | None, ts: datetime | int | None, expected: int | None
) -> None:
    found = exchange_time_us(ts_ms, ts)

    assert found == expected
