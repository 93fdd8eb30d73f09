"""Kept here: how games ended and how their prices closed, for whatever was bet on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.model import slug
from grandstand.apps.bets.model.money.settlement import (
    VOID,
    Cancelled,
    Figure,
    Result,
    Verdict,
    rules_for,
    settle,
)
from grandstand.apps.bets.model.money.settlement import Final as FinalScore
from grandstand.apps.bets.model.prices.odds import decimal_of
from grandstand.apps.bets.model.selections import Selection, code, opposite
from grandstand.apps.bets.service.money.settled import Closing
from grandstand.apps.bets.service.predicting.publishing import outcome_selections
from grandstand.apps.bets.store import HistoricalOdds

if TYPE_CHECKING:
    from grandstand.apps.bets.model.prices.devig import Method

_METHOD: Final[Method] = "power"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a game ended: its result, players' figures, and the closing prices.

    `result` is Cancelled for a game that will never have one; with `given_up`, figures that nobody
    told are waited for no longer.
    """

    sport: str
    game_id: str
    home_team: str
    away_team: str
    result: Result
    known_at: datetime
    figures: Mapping[str, Mapping[str, Decimal]] = field(default_factory=dict)
    closing: Sequence[HistoricalOdds] = ()
    given_up: bool = False
    _chances: list[tuple[Selection, float]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )
    _fair: dict[str, float | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def home_won(self) -> bool | None:
        """Whether the home side won; None for a draw or no score."""
        if not isinstance(self.result, FinalScore) or self.result.home == self.result.away:
            return None
        return self.result.home > self.result.away

    def verdict(self, selection: Selection) -> Verdict | None:
        """Decide a bet; None for a prop whose figure nobody told yet."""
        rules = rules_for(self.sport)
        if selection.market != "prop" or isinstance(self.result, Cancelled):
            return settle(selection, self.result, rules)
        value = self._figure(selection)
        if value is None:
            return VOID if self.given_up else None
        return settle(selection, value, rules)

    def _figure(self, selection: Selection) -> Figure | None:
        """Answer what a player reached; one who is not in the figures of the game did not play."""
        if not self.figures or selection.stat is None:
            return None
        told = self.figures.get(selection.participant or "")
        if told is None:
            return Figure(None)
        from grandstand.apps.bets.model.props import counted

        reached = counted(selection.stat, {name: float(value) for name, value in told.items()})
        return None if reached is None else Figure(round(reached))

    def closed(self, selection: Selection, price: int | None) -> Closing:
        """Answer the fair chance of a bet at the close, and what its price was worth by it."""
        fair = self.fair(selection)
        if fair is None or price is None:
            return Closing(fair)
        return Closing(fair, decimal_of(price) * fair - 1.0)

    def fair(self, selection: Selection) -> float | None:
        """Answer the mean fair chance of a bet over the books that closed at its line.

        Where only other lines closed, theirs are moved to this one. It is worked out once.
        """
        name = code(selection)
        if name not in self._fair:
            self._fair[name] = self._worked_out(selection, name)
        return self._fair[name]

    def _worked_out(self, selection: Selection, name: str) -> float | None:
        own = [chance for one, chance in self._closes() if code(one) == name]
        if own:
            return sum(own) / len(own)
        if selection.lay:
            other = self.fair(opposite(selection))
            return None if other is None else 1.0 - other
        return self._moved(selection)

    def _closes(self) -> list[tuple[Selection, float]]:
        if not self._chances:
            self._chances.extend(one for row in self.closing for one in fair_chances(row))
        return self._chances

    def _moved(self, selection: Selection) -> float | None:
        if selection.market not in {"spreads", "totals"}:
            return None
        from grandstand.apps.bets.model.judging.closing import moved
        from grandstand.apps.bets.model.ratings.margins import shape_for

        same = [
            (one, chance)
            for one, chance in self._closes()
            if (one.market, one.side) == (selection.market, selection.side)
        ]
        found = [
            moved(selection, one, chance, shape_for(self.sport)).probability for one, chance in same
        ]
        return sum(found) / len(found) if found else None


def fair_chances(row: HistoricalOdds) -> list[tuple[Selection, float]]:
    """Answer each outcome of a closing price with its chance without the margin."""
    from grandstand.apps.bets.model.prices.devig import devig

    selections = outcome_selections(
        row.market_key, row.outcomes, row.home_team, row.away_team, row.player
    )
    chances = devig([decimal_of(each.price) for each in row.outcomes], _METHOD)
    return list(zip(selections, chances, strict=True))


def names_of(figures: Mapping[str, Mapping[str, Decimal]]) -> dict[str, Mapping[str, Decimal]]:
    """Answer figures by the slugs of their players."""
    return {slug(name): told for name, told in figures.items()}
