"""Kept here: what a decided bet comes to, for Benny, for people and for the shadow book alike."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.model import BetStatus
from grandstand.apps.bets.model.money.ledger import (
    BOOKMAKER,
    STAKES,
    Cents,
    Posting,
)
from grandstand.apps.bets.model.money.settlement import Verdict, factor, pay

_STATUS: Final[dict[str, BetStatus]] = {"push": "push", "void": "void"}
_PLACES: Final = Decimal("0.0001")
_CENTS: Final = 100
_MINUS: Final = "\u2212"


@dataclass(frozen=True, slots=True)
class Closing:
    """What the closing prices made of a bet: its fair chance, and the value against its price."""

    fair: float | None = None
    clv: float | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a bet ended: verdict, status and what it paid."""

    verdict: str
    status: BetStatus
    payout: Cents
    profit: Cents


def ended(verdict: Verdict, stake: Cents, american: int) -> Ended:
    """Answer how a decided bet ends; raise what `pay` does."""
    paid = pay(verdict, stake, american)
    status = _STATUS.get(verdict.name) or ("won" if verdict.correct else "lost")
    return Ended(verdict.name, status, paid.payout_cents, paid.profit_cents)


def units(verdict: Verdict, american: int) -> Decimal:
    """Answer what one unit staked would have won, to four places; raise what `factor` does."""
    times = factor(verdict, american) - 1
    return rounded(times.numerator / times.denominator)


def told_of(whose: str, prediction: str, teams: tuple[str, str], ending: Ended) -> str:
    """Answer how a bet ended in words, with what it won or lost."""
    cents = abs(ending.profit)
    sign = "+" if ending.profit > 0 else _MINUS if ending.profit else ""
    money = f"{sign}${cents // _CENTS:,}.{cents % _CENTS:02d}"
    return f"{whose} bet on {prediction}, {teams[0]} v {teams[1]}: {ending.verdict}, {money}"


def settled_postings(stake: Cents, ending: Ended, target: str) -> tuple[Posting, ...]:
    """Answer how the stake and what is won go to an account, and what is lost to the bookmaker."""
    return (
        Posting(STAKES, -stake),
        Posting(target, ending.payout),
        Posting(BOOKMAKER, -ending.profit),
    )


def rounded(value: float) -> Decimal:
    """Write a probability or a share as the table keeps it: to four places."""
    return Decimal(repr(value)).quantize(_PLACES)


def maybe_rounded(value: float | None) -> Decimal | None:
    """Do the same, where there may be none."""
    return None if value is None else rounded(value)
