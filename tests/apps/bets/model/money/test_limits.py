"""What a person allows themselves holds, is tightened at once and loosened a day later."""

from datetime import UTC, datetime, timedelta

import pytest

from grandstand.apps.bets.model.money.limits import (
    Allowed,
    Bounds,
    LossLimit,
    StakeLimit,
    TimedOut,
    changed,
    check,
    earned,
    staked,
    timed_out,
    usage_at,
)

NOON = datetime(2026, 2, 11, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def test_without_limits_anything_passes() -> None:
    check(Allowed(), usage_at(None, NOON), 10**9, 10**9, NOON)


def test_a_stake_above_the_limit_of_a_bet_is_refused() -> None:
    allowed = Allowed(Bounds(stake_per_bet=1_000))

    check(allowed, usage_at(None, NOON), 0, 1_000, NOON)

    with pytest.raises(StakeLimit, match=r"\$10.00 a bet; this is \$10.01"):
        check(allowed, usage_at(None, NOON), 0, 1_001, NOON)


def test_the_stakes_of_a_day_count_together_and_begin_anew_the_next() -> None:
    allowed = Allowed(Bounds(stake_per_day=2_000))
    usage = staked(None, 1_500, NOON)

    check(allowed, usage_at(usage, NOON + DAY), 0, 2_000, NOON + DAY)

    with pytest.raises(StakeLimit, match=r"\$5.00 is left"):
        check(allowed, usage, 0, 501, NOON)


def test_what_is_open_counts_as_lost_for_the_week() -> None:
    allowed = Allowed(Bounds(loss_per_week=5_000))
    usage = earned(None, -2_000, NOON)

    check(allowed, usage, 2_000, 1_000, NOON)

    with pytest.raises(LossLimit, match=r"\$20.00 is lost, \$20.00 is at stake"):
        check(allowed, usage, 2_000, 1_001, NOON)


def test_a_week_of_losses_ends_on_monday() -> None:
    monday = datetime(2026, 2, 16, tzinfo=UTC)
    usage = earned(None, -4_000, NOON)

    assert usage_at(usage, monday - timedelta(seconds=1)).lost == 4_000
    assert usage_at(usage, monday).lost == 0


def test_time_out_is_never_shortened() -> None:
    until = NOON + 7 * DAY
    allowed = timed_out(timed_out(Allowed(), until), NOON + DAY)

    assert allowed.time_out_until == until
    check(allowed, usage_at(None, until), 0, 1, until)
    with pytest.raises(TimedOut, match="until 2026-02-18"):
        check(allowed, usage_at(None, NOON), 0, 1, until - timedelta(seconds=1))


def test_a_tighter_limit_counts_at_once_and_a_looser_one_a_day_later() -> None:
    allowed = Allowed(Bounds(stake_per_bet=1_000, stake_per_day=5_000))

    after = changed(allowed, Bounds(stake_per_bet=2_000, stake_per_day=3_000), NOON)

    assert after.at(NOON) == Bounds(1_000, 3_000)
    assert after.at(NOON + DAY - timedelta(seconds=1)) == Bounds(1_000, 3_000)
    assert after.at(NOON + DAY) == Bounds(2_000, 3_000)


def test_tightening_again_takes_a_looser_wish_back() -> None:
    loosening = changed(Allowed(Bounds(stake_per_bet=1_000)), Bounds(), NOON)

    after = changed(loosening, Bounds(stake_per_bet=500), NOON + timedelta(hours=1))

    assert after.at(NOON + 2 * DAY) == Bounds(stake_per_bet=500)
