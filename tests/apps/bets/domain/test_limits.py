"""Betting limits: tightened at once, loosened a day later."""

from datetime import UTC, datetime, timedelta

import pytest

from grandstand.apps.bets.domain.ledger import (
    BetLimits,
    LimitState,
    LossLimitReached,
    StakeLimitReached,
    TimeOutActive,
    add_profit,
    add_stake,
    change_limits,
    check_stake,
    extend_time_out,
    usage_at,
)

NOON = datetime(2026, 2, 11, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def test_without_limits_anything_passes() -> None:
    check_stake(LimitState(), usage_at(None, NOON), 10**9, 10**9, NOON)


def test_a_stake_above_the_limit_of_a_bet_is_refused() -> None:
    allowed = LimitState(BetLimits(stake_per_bet=1_000))

    check_stake(allowed, usage_at(None, NOON), 0, 1_000, NOON)

    with pytest.raises(StakeLimitReached, match=r"\$10.01 exceeds your limit of \$10.00 per bet"):
        check_stake(allowed, usage_at(None, NOON), 0, 1_001, NOON)


def test_stakes_of_a_day_add_up_and_reset_the_next_day() -> None:
    allowed = LimitState(BetLimits(stake_per_day=2_000))
    usage = add_stake(None, 1_500, NOON)

    check_stake(allowed, usage_at(usage, NOON + DAY), 0, 2_000, NOON + DAY)

    with pytest.raises(StakeLimitReached, match=r"\$5.00 is left"):
        check_stake(allowed, usage, 0, 501, NOON)


def test_what_is_open_counts_as_lost_for_the_week() -> None:
    allowed = LimitState(BetLimits(loss_per_week=5_000))
    usage = add_profit(None, -2_000, NOON)

    check_stake(allowed, usage, 2_000, 1_000, NOON)

    with pytest.raises(LossLimitReached, match=r"\$20.00 lost, \$20.00 open"):
        check_stake(allowed, usage, 2_000, 1_001, NOON)


def test_a_week_of_losses_ends_on_monday() -> None:
    monday = datetime(2026, 2, 16, tzinfo=UTC)
    usage = add_profit(None, -4_000, NOON)

    assert usage_at(usage, monday - timedelta(seconds=1)).lost == 4_000
    assert usage_at(usage, monday).lost == 0


def test_time_out_is_never_shortened() -> None:
    until = NOON + 7 * DAY
    allowed = extend_time_out(extend_time_out(LimitState(), until), NOON + DAY)

    assert allowed.time_out_until == until
    check_stake(allowed, usage_at(None, until), 0, 1, until)
    with pytest.raises(TimeOutActive, match="until 2026-02-18"):
        check_stake(allowed, usage_at(None, NOON), 0, 1, until - timedelta(seconds=1))


def test_a_tighter_limit_counts_at_once_and_a_looser_one_a_day_later() -> None:
    allowed = LimitState(BetLimits(stake_per_bet=1_000, stake_per_day=5_000))

    after = change_limits(allowed, BetLimits(stake_per_bet=2_000, stake_per_day=3_000), NOON)

    assert after.at(NOON) == BetLimits(1_000, 3_000)
    assert after.at(NOON + DAY - timedelta(seconds=1)) == BetLimits(1_000, 3_000)
    assert after.at(NOON + DAY) == BetLimits(2_000, 3_000)


def test_tightening_again_takes_a_looser_wish_back() -> None:
    loosening = change_limits(LimitState(BetLimits(stake_per_bet=1_000)), BetLimits(), NOON)

    after = change_limits(loosening, BetLimits(stake_per_bet=500), NOON + timedelta(hours=1))

    assert after.at(NOON + 2 * DAY) == BetLimits(stake_per_bet=500)
