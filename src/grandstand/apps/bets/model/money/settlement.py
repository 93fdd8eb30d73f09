"""Kept here: how bets are decided by results, and what they pay, to the cent.

A payout is worked out exactly and rounded once, half a cent upwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final as Constant
from typing import Literal, TypeAlias

from grandstand.apps.bets.model.errors import BetUndecided, SelectionImpossible, StakeImpossible
from grandstand.apps.bets.model.prices.odds import gain
from grandstand.apps.bets.model.selections import BOTH, LEVEL, Form, Selection

VerdictName: TypeAlias = Literal[
    "loss", "half_loss", "push", "half_win", "win", "void", "pending", "dead_heat"
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a bet was decided: the shares of the stake that win and that come back; the rest is lost.

    A pending one has shares of nothing and cannot be paid.
    """

    name: VerdictName
    win: Fraction
    push: Fraction

    @property
    def decided(self) -> bool:
        """Whether anything was won or lost."""
        return self.name not in {"push", "void", "pending"}

    @property
    def correct(self) -> bool | None:
        """Whether the pick was right; None when nothing was won or lost.

        Of a bet and its opposite one is right and one is wrong, or neither counts.
        """
        if not self.decided:
            return None
        return self.win > 1 - self.win - self.push or (self.name == "dead_heat" and self.win > 0)


_HALF: Constant = Fraction(1, 2)
_NOTHING: Constant = Fraction(0)
_ALL: Constant = Fraction(1)
LOSS: Constant = Verdict("loss", _NOTHING, _NOTHING)
HALF_LOSS: Constant = Verdict("half_loss", _NOTHING, _HALF)
PUSH: Constant = Verdict("push", _NOTHING, _ALL)
HALF_WIN: Constant = Verdict("half_win", _HALF, _HALF)
WIN: Constant = Verdict("win", _ALL, _NOTHING)
VOID: Constant = Verdict("void", _NOTHING, _ALL)
PENDING: Constant = Verdict("pending", _NOTHING, _NOTHING)
BY_QUARTERS: Constant = (LOSS, HALF_LOSS, PUSH, HALF_WIN, WIN)


@dataclass(frozen=True, slots=True)
class Final:
    """A game that was played to its end; `regulation` is the score before any overtime."""

    home: int
    away: int
    regulation: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """What a player reached in what a prop counts; None for one who did not play."""

    value: int | None


@dataclass(frozen=True, slots=True)
class Field:
    """Who won a contest of many; more winners than `places` share them in a dead heat.

    `withdrawn` did not start.
    """

    winners: frozenset[str]
    places: int = 1
    withdrawn: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Postponed:
    """A game that has not been played this many hours after its start."""

    hours: int


@dataclass(frozen=True, slots=True)
class Abandoned:
    """A game that was broken off: the score, and what share of it had been played."""

    home: int
    away: int
    played: Fraction


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A game that will not be played."""


Result: TypeAlias = Final | Figure | Field | Postponed | Abandoned | Cancelled


@dataclass(frozen=True, slots=True)
class Rules:
    """What a sport's bets agree on.

    Whether overtime counts; for how many hours bets wait for a postponed game; what share of a game
    that is broken off makes its score count.
    """

    overtime: bool = True
    postponed_hours: int = 48
    official_after: Fraction = _ALL


_BY_SPORT: Constant[dict[str, Rules]] = {
    "soccer": Rules(overtime=False),
    # Five innings of nine, and fifty-five minutes of sixty, are what American books ask for.
    "baseball": Rules(official_after=Fraction(5, 9)),
    "americanfootball": Rules(official_after=Fraction(55, 60), postponed_hours=168),
}


def rules_for(sport: str) -> Rules:
    """The rules of a sport by its key, such as `soccer_epl`."""
    return _BY_SPORT.get(sport.split("_", 1)[0], Rules())


def settle(selection: Selection, result: Result, rules: Rules | None = None) -> Verdict:
    """Decide a bet; the rules are those of most sports unless given.

    Raises SelectionImpossible when the result is not of the kind the market is decided by.
    """
    agreed = rules or Rules()
    if isinstance(result, Field):
        return _of_field(selection, result)
    form = selection.form
    if isinstance(result, Postponed):
        return PENDING if result.hours <= agreed.postponed_hours else VOID
    if isinstance(result, Cancelled):
        return VOID
    if isinstance(result, Abandoned):
        if result.played < agreed.official_after:
            return VOID
        result = Final(result.home, result.away)
    if form is None or (isinstance(result, Figure) != (selection.market == "prop")):
        raise SelectionImpossible(
            f"A bet on {selection.market} is not decided by a {type(result).__name__.lower()}."
        )
    if isinstance(result, Figure):
        return VOID if result.value is None else decided_by(quarters_won(form, result.value, 0))
    return decided_by(quarters_won(form, *counted(result, agreed)))


def counted(result: Final, rules: Rules) -> tuple[int, int]:
    """The score that counts: without overtime where the rules leave it out."""
    if rules.overtime or result.regulation is None:
        return result.home, result.away
    return result.regulation


def quarters_won(form: Form, home: int, away: int) -> int:
    """By how many quarters of a point a bet wins; below zero it loses."""
    if form.shape == LEVEL:
        return form.home * (2 - 4 * abs(home - away))
    if form.shape == BOTH:
        return form.home * (4 * min(home, away) - 2)
    return 4 * (form.home * home + form.away * away) + form.quarters


def decided_by(quarters: int) -> Verdict:
    """The verdict on a bet that won by this many quarters of a point."""
    return BY_QUARTERS[max(-2, min(2, quarters)) + 2]


def _of_field(selection: Selection, result: Field) -> Verdict:
    if selection.market != "outright":
        raise SelectionImpossible(f"A bet on {selection.market} is not decided by a field.")
    if selection.participant in result.withdrawn:
        return VOID
    share = _NOTHING
    if selection.participant in result.winners:
        share = min(_ALL, Fraction(result.places, len(result.winners)))
    if selection.lay:
        share = 1 - share
    if share in {_NOTHING, _ALL}:
        return WIN if share else LOSS
    return Verdict("dead_heat", share, _NOTHING)


@dataclass(frozen=True, slots=True)
class Paid:
    """What a bet pays back, stake included, and what is won; below zero it is lost."""

    payout_cents: int
    profit_cents: int


def pay(verdict: Verdict, stake_cents: int, american: int) -> Paid:
    """What a decided bet pays; raises BetUndecided, StakeImpossible and PriceImpossible."""
    return _paid(factor(verdict, american), stake_cents)


def factor(verdict: Verdict, american: int) -> Fraction:
    """How many times the stake comes back; raises BetUndecided and PriceImpossible."""
    if verdict.name == "pending":
        raise BetUndecided("The game is not over; settle this bet when it is.")
    return verdict.win * (1 + gain(american)) + verdict.push


def _paid(times: Fraction, stake_cents: int) -> Paid:
    if isinstance(stake_cents, bool) or stake_cents <= 0:
        raise StakeImpossible(f"A stake of {stake_cents} cents cannot be placed.")
    exact = times * stake_cents
    payout = (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)
    return Paid(payout, payout - stake_cents)
