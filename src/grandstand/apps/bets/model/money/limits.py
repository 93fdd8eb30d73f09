"""Kept here: what a person allows themselves: limits on stakes and losses, and time out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from grandstand.apps.bets.model.money.ledger import Cents, week_of
from grandstand.base.errors import LimitReached

COOLING: Final = timedelta(days=1)


class StakeLimit(LimitReached):
    """A stake is above what the person allows themselves for a bet or a day."""

    retry = False


class LossLimit(LimitReached):
    """With this bet the person could lose more than they allow themselves for a week."""

    retry = False


class TimedOut(LimitReached):
    """The person has chosen to take no bets for a while."""

    retry = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """The three limits; None is no limit."""

    stake_per_bet: Cents | None = None
    stake_per_day: Cents | None = None
    loss_per_week: Cents | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """What holds now, and what will hold from `loosens_at` on."""

    bounds: Bounds = Bounds()
    wanted: Bounds | None = None
    loosens_at: datetime | None = None
    time_out_until: datetime | None = None

    def at(self, now: datetime) -> Bounds:
        """Answer the limits that hold at a moment."""
        if self.wanted is not None and self.loosens_at is not None and now >= self.loosens_at:
            return self.wanted
        return self.bounds


@dataclass(frozen=True, slots=True)
class Usage:
    """What was staked on a day, and what a week's settled bets brought."""

    day: date
    staked: Cents
    week: date
    profit: Cents

    @property
    def lost(self) -> Cents:
        """What the week's settled bets lost in sum."""
        return max(0, -self.profit)


def usage_at(kept: Usage | None, now: datetime) -> Usage:
    """Answer what is used now: nothing of a new day or week."""
    day, week = now.date(), week_of(now).date()
    if kept is None:
        return Usage(day, 0, week, 0)
    return Usage(
        day,
        kept.staked if kept.day == day else 0,
        week,
        kept.profit if kept.week == week else 0,
    )


def staked(kept: Usage | None, stake: Cents, now: datetime) -> Usage:
    """Count a stake."""
    usage = usage_at(kept, now)
    return replace(usage, staked=usage.staked + stake)


def earned(kept: Usage | None, profit: Cents, now: datetime) -> Usage:
    """Count what a settled bet brought."""
    usage = usage_at(kept, now)
    return replace(usage, profit=usage.profit + profit)


def check(allowed: Allowed, usage: Usage, open_stakes: Cents, stake: Cents, now: datetime) -> None:
    """Let a stake pass, or raise StakeLimit, LossLimit or TimedOut saying what stands against it.

    What is staked and not settled yet counts as if it were lost.
    """
    until = allowed.time_out_until
    if until is not None and now < until:
        message = f"You have taken time out until {until:%Y-%m-%d %H:%M} UTC"
        raise TimedOut(message)
    bounds = allowed.at(now)
    if bounds.stake_per_bet is not None and stake > bounds.stake_per_bet:
        message = (
            f"You allow yourself {_money(bounds.stake_per_bet)} a bet; this is {_money(stake)}"
        )
        raise StakeLimit(message)
    if bounds.stake_per_day is not None and usage.staked + stake > bounds.stake_per_day:
        left = max(0, bounds.stake_per_day - usage.staked)
        message = (
            f"You allow yourself {_money(bounds.stake_per_day)} a day, of which {_money(left)} is "
            f"left; this is {_money(stake)}"
        )
        raise StakeLimit(message)
    if bounds.loss_per_week is not None and (
        usage.lost + open_stakes + stake > bounds.loss_per_week
    ):
        message = (
            f"You allow yourself to lose {_money(bounds.loss_per_week)} a week: "
            f"{_money(usage.lost)} is lost, {_money(open_stakes)} is at stake, and this is "
            f"{_money(stake)} more"
        )
        raise LossLimit(message)


def changed(allowed: Allowed, wanted: Bounds, now: datetime) -> Allowed:
    """Answer what holds after a change: tighter limits at once, looser ones a day later."""
    current = allowed.at(now)
    tightened = Bounds(
        _tighter(current.stake_per_bet, wanted.stake_per_bet),
        _tighter(current.stake_per_day, wanted.stake_per_day),
        _tighter(current.loss_per_week, wanted.loss_per_week),
    )
    if tightened == wanted:
        return replace(allowed, bounds=wanted, wanted=None, loosens_at=None)
    return replace(allowed, bounds=tightened, wanted=wanted, loosens_at=now + COOLING)


def timed_out(allowed: Allowed, until: datetime) -> Allowed:
    """Answer what holds with time out; one that is running is never shortened."""
    kept = allowed.time_out_until
    return replace(allowed, time_out_until=until if kept is None else max(kept, until))


def _tighter(current: Cents | None, wanted: Cents | None) -> Cents | None:
    known = [each for each in (current, wanted) if each is not None]
    return min(known) if known else None


def _money(cents: Cents) -> str:
    return f"${cents // 100}.{cents % 100:02d}"
