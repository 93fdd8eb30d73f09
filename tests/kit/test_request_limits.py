"""How often one caller may ask."""

import pytest

from grandstand.core.clock import ManualClock
from grandstand.kit.request_limits import CallerRateLimiter, TooManyRequests


def test_a_burst_passes_and_what_follows_waits_until_the_bucket_fills() -> None:
    clock = ManualClock()
    pace = CallerRateLimiter(60, clock)
    for _ in range(10):
        pace.spend("ada")

    with pytest.raises(TooManyRequests) as refused:
        pace.spend("ada")
    clock.advance(refused.value.retry_after_seconds)
    pace.spend("ada")

    assert refused.value.retry_after_seconds == pytest.approx(1.0)


def test_callers_do_not_use_up_each_others_pace() -> None:
    pace = CallerRateLimiter(6, ManualClock())
    pace.spend("ada")

    pace.spend("bob")

    with pytest.raises(TooManyRequests):
        pace.spend("ada")


def test_the_longest_silent_are_forgotten() -> None:
    pace = CallerRateLimiter(6, ManualClock(), most_callers=2)

    for name in ("ada", "bob", "eve", "ada"):
        pace.spend(name)

    with pytest.raises(TooManyRequests):
        pace.spend("eve")
