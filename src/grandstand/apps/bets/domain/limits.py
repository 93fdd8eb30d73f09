"""Responsible-gambling limits: stakes, losses and time out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from grandstand.apps.bets.domain.ledger import Cents, week_start
from grandstand.core.errors import LimitReached

LOOSENING_DELAY: Final = timedelta(days=1)


class StakeLimitReached(LimitReached):
    """A stake exceeds the person's limit per bet or day."""

    code = "stake-limit-reached"
    retry = False


class LossLimitReached(LimitReached):
    """The bet could exceed the person's loss limit of the week."""

    code = "loss-limit-reached"
    retry = False


class TimeOutActive(LimitReached):
    """The person has taken a time out from betting."""

    code = "time-out-active"
    retry = False


@dataclass(frozen=True, slots=True)
class BetLimits:
    """The three limits in cents; None is no limit."""

    stake_per_bet: Cents | None = None
    stake_per_day: Cents | None = None
    loss_per_week: Cents | None = None


@dataclass(frozen=True, slots=True)
class LimitState:
    """The limits in force, and looser ones that take effect at `loosens_at`."""

    limits: BetLimits = BetLimits()
    wanted: BetLimits | None = None
    loosens_at: datetime | None = None
    time_out_until: datetime | None = None

    def at(self, now: datetime) -> BetLimits:
        """Return the limits in force at a time."""
        if self.wanted is not None and self.loosens_at is not None and now >= self.loosens_at:
            return self.wanted
        return self.limits


@dataclass(frozen=True, slots=True)
class Usage:
    """Stakes of a day and profit of a week."""

    day: date
    staked: Cents
    week: date
    profit: Cents

    @property
    def lost(self) -> Cents:
        """The net loss of the week's settled bets."""
        return max(0, -self.profit)


def usage_at(stored: Usage | None, now: datetime) -> Usage:
    """Return the usage now, reset on a new day or week."""
    day, week = now.date(), week_start(now).date()
    if stored is None:
        return Usage(day, 0, week, 0)
    return Usage(
        day,
        stored.staked if stored.day == day else 0,
        week,
        stored.profit if stored.week == week else 0,
    )


def add_stake(stored: Usage | None, stake: Cents, now: datetime) -> Usage:
    usage = usage_at(stored, now)
    return replace(usage, staked=usage.staked + stake)


def add_profit(stored: Usage | None, profit: Cents, now: datetime) -> Usage:
    usage = usage_at(stored, now)
    return replace(usage, profit=usage.profit + profit)


def check_stake(
    state: LimitState, usage: Usage, open_stakes: Cents, stake: Cents, now: datetime
) -> None:
    """Check a stake against the limits; open stakes count as lost.

    Raises StakeLimitReached, LossLimitReached or TimeOutActive.
    """
    until = state.time_out_until
    if until is not None and now < until:
        raise TimeOutActive(
            f"Time out until {until:%Y-%m-%d %H:%M} UTC. No bets can be placed before."
        )
    limits = state.at(now)
    amount = _dollars(stake)
    if limits.stake_per_bet is not None and stake > limits.stake_per_bet:
        per_bet = _dollars(limits.stake_per_bet)
        raise StakeLimitReached(f"Stake {amount} exceeds your limit of {per_bet} per bet.")
    if limits.stake_per_day is not None and usage.staked + stake > limits.stake_per_day:
        per_day, left = limits.stake_per_day, max(0, limits.stake_per_day - usage.staked)
        raise StakeLimitReached(
            f"Stake {amount} exceeds your limit of {_dollars(per_day)} per day;"
            f" {_dollars(left)} is left."
        )
    if limits.loss_per_week is not None and (
        usage.lost + open_stakes + stake > limits.loss_per_week
    ):
        raise LossLimitReached(
            f"Stake {amount} could exceed your loss limit of {_dollars(limits.loss_per_week)}"
            f" per week: {_dollars(usage.lost)} lost, {_dollars(open_stakes)} open."
        )


def change_limits(state: LimitState, wanted: BetLimits, now: datetime) -> LimitState:
    """Return the limits after a change: tighter ones apply at once, looser ones a day later."""
    current = state.at(now)
    tightened = BetLimits(
        _tighter(current.stake_per_bet, wanted.stake_per_bet),
        _tighter(current.stake_per_day, wanted.stake_per_day),
        _tighter(current.loss_per_week, wanted.loss_per_week),
    )
    if tightened == wanted:
        return replace(state, limits=wanted, wanted=None, loosens_at=None)
    return replace(state, limits=tightened, wanted=wanted, loosens_at=now + LOOSENING_DELAY)


def extend_time_out(state: LimitState, until: datetime) -> LimitState:
    """Return the limits with a time out; a running one is never shortened."""
    stored = state.time_out_until
    return replace(state, time_out_until=until if stored is None else max(stored, until))


def _tighter(current: Cents | None, wanted: Cents | None) -> Cents | None:
    limits = [limit for limit in (current, wanted) if limit is not None]
    return min(limits) if limits else None


def _dollars(cents: Cents) -> str:
    return f"${cents // 100}.{cents % 100:02d}"
