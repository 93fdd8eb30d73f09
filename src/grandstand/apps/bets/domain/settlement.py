"""Settlement: how results decide bets, and payouts to the cent.

A payout is computed exactly and rounded once, half a cent up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.domain.odds import profit_ratio
from grandstand.apps.bets.domain.records import BetStatus
from grandstand.apps.bets.domain.selections import (
    BOTH_SCORE,
    DRAW_ONLY,
    InvalidSelection,
    Selection,
    SettlementForm,
)
from grandstand.core.errors import Conflict, InvalidInput

Points = TypeVar("Points", int, npt.NDArray[np.int64])
VerdictName: TypeAlias = Literal[
    "loss", "half_loss", "push", "half_win", "win", "void", "pending", "dead_heat"
]
# The status of the common verdicts; a dead heat depends on its shares.
_STATUS: Final[dict[str, BetStatus]] = {
    "win": "won",
    "half_win": "won",
    "loss": "lost",
    "half_loss": "lost",
    "push": "push",
    "void": "void",
}
_HALF: Final = Fraction(1, 2)
_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a bet was decided: the shares of the stake that win and that are returned.

    The rest is lost. A pending verdict has no shares and cannot be paid.
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
        """Whether the pick was right, None for pushes and voids.

        Of a bet and its opposite one is right and one is wrong, or neither counts.
        """
        if not self.decided:
            return None
        return self.win > 1 - self.win - self.push or (self.name == "dead_heat" and self.win > 0)


LOSS: Final = Verdict("loss", _ZERO, _ZERO)
HALF_LOSS: Final = Verdict("half_loss", _ZERO, _HALF)
PUSH: Final = Verdict("push", _ZERO, _ONE)
HALF_WIN: Final = Verdict("half_win", _HALF, _HALF)
WIN: Final = Verdict("win", _ONE, _ZERO)
VOID: Final = Verdict("void", _ZERO, _ONE)
PENDING: Final = Verdict("pending", _ZERO, _ZERO)
BY_QUARTERS: Final = (LOSS, HALF_LOSS, PUSH, HALF_WIN, WIN)


@dataclass(frozen=True, slots=True)
class FinalResult:
    """A finished game; `regulation` is the score before overtime."""

    home: int
    away: int
    regulation: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PlayerStatResult:
    """A player's stat that a prop counts, None if the player did not play."""

    value: int | None


@dataclass(frozen=True, slots=True)
class FieldResult:
    """The winners of a contest of many; more winners than `places` share them in a dead heat.

    `withdrawn` did not start.
    """

    winners: frozenset[str]
    places: int = 1
    withdrawn: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Postponed:
    """A game not played this many hours after its scheduled start."""

    hours: int


@dataclass(frozen=True, slots=True)
class Abandoned:
    """An abandoned game: the score, and the share of it that was played."""

    home: int
    away: int
    played: Fraction


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A game that will not be played."""


Result: TypeAlias = FinalResult | PlayerStatResult | FieldResult | Postponed | Abandoned | Cancelled


@dataclass(frozen=True, slots=True)
class SettlementRules:
    """House rules of a sport.

    Whether overtime counts, for how many hours bets wait for a postponed game, and the share of an
    abandoned game that makes its score official.
    """

    overtime: bool = True
    postponed_hours: int = 48
    official_after: Fraction = _ONE


_BY_SPORT: Final[dict[str, SettlementRules]] = {
    "soccer": SettlementRules(overtime=False),
    # American bookmakers require five of nine innings, and 55 of 60 minutes.
    "baseball": SettlementRules(official_after=Fraction(5, 9)),
    "americanfootball": SettlementRules(official_after=Fraction(55, 60), postponed_hours=168),
}


def settlement_rules_for(sport: str) -> SettlementRules:
    """Return the rules of a sport by its key, such as `soccer_epl`."""
    return _BY_SPORT.get(sport.split("_", 1)[0], SettlementRules())


def settle_bet(
    selection: Selection, result: Result, rules: SettlementRules | None = None
) -> Verdict:
    """Return the verdict of a bet; rules default to those of most sports.

    Raises InvalidSelection if this kind of result does not decide the market.
    """
    applied_rules = rules or SettlementRules()
    if isinstance(result, FieldResult):
        return _settle_outright(selection, result)
    form = selection.form
    if isinstance(result, Postponed):
        return PENDING if result.hours <= applied_rules.postponed_hours else VOID
    if isinstance(result, Cancelled):
        return VOID
    if isinstance(result, Abandoned):
        if result.played < applied_rules.official_after:
            return VOID
        result = FinalResult(result.home, result.away)
    if form is None or (isinstance(result, PlayerStatResult) != (selection.market == "prop")):
        raise InvalidSelection(f"{type(result).__name__} does not decide {selection.market}.")
    if isinstance(result, PlayerStatResult):
        return (
            VOID
            if result.value is None
            else verdict_from_quarters(quarters_won(form, result.value, 0))
        )
    if result.regulation is None or applied_rules.overtime:
        return verdict_from_quarters(quarters_won(form, result.home, result.away))
    return verdict_from_quarters(quarters_won(form, *result.regulation))


def quarters_won(form: SettlementForm, home: Points, away: Points) -> Points:
    """Return by how many quarters of a point a bet wins; negative if it loses.

    Works on single scores and on arrays of scores.
    """
    if form.shape == DRAW_ONLY:
        return form.home * (2 - 4 * abs(home - away))
    if form.shape == BOTH_SCORE:
        # Twice the smaller score
        return form.home * (2 * (home + away - abs(home - away)) - 2)
    return 4 * (form.home * home + form.away * away) + form.quarters


def verdict_from_quarters(quarters: int) -> Verdict:
    return BY_QUARTERS[max(-2, min(2, quarters)) + 2]


def _settle_outright(selection: Selection, result: FieldResult) -> Verdict:
    if selection.market != "outright":
        raise InvalidSelection(f"FieldResult does not decide {selection.market}.")
    if selection.participant in result.withdrawn:
        return VOID
    share = _ZERO
    if selection.participant in result.winners:
        share = min(_ONE, Fraction(result.places, len(result.winners)))
    if selection.lay:
        share = 1 - share
    if share in {_ZERO, _ONE}:
        return WIN if share else LOSS
    return Verdict("dead_heat", share, _ZERO)


@dataclass(frozen=True, slots=True)
class Payout:
    """The verdict of a bet, the amount paid, stake included, and the profit or loss."""

    verdict: VerdictName
    status: BetStatus
    payout_cents: int
    profit_cents: int


def pay_bet(verdict: Verdict, stake_cents: int, american: int) -> Payout:
    """Return the payout of a decided bet.

    Raises Conflict if the bet is pending, InvalidInput for an invalid stake, and InvalidPrice.
    """
    exact = payout_ratio(verdict, american) * stake_cents
    if isinstance(stake_cents, bool) or stake_cents <= 0:
        raise InvalidInput(f"Invalid stake of {stake_cents} cents.")
    payout = (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)
    status = _STATUS.get(verdict.name) or ("won" if verdict.correct else "lost")
    return Payout(verdict.name, status, payout, payout - stake_cents)


def payout_ratio(verdict: Verdict, american: int) -> Fraction:
    """Return how many times the stake is paid back."""
    if verdict.name == "pending":
        raise Conflict("The bet is pending. Settle it once the game is over.")
    return verdict.win * (1 + profit_ratio(american)) + verdict.push
