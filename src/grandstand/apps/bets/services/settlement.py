"""Settlement: results of games, closing lines, and what bets pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.domain.ledger import BOOKMAKER, STAKES, Cents, Posting
from grandstand.apps.bets.domain.odds import american_to_decimal
from grandstand.apps.bets.domain.selections import Selection, encode_selection, opposite_of
from grandstand.apps.bets.domain.settlement import (
    VOID,
    Cancelled,
    FinalResult,
    Payout,
    PlayerStatResult,
    Result,
    Verdict,
    payout_ratio,
    settle_bet,
    settlement_rules_for,
)
from grandstand.apps.bets.services.database import Database, copy_as, round4, round4_or_none
from grandstand.apps.bets.services.predictions import load_prices, outcome_selections, player_of
from grandstand.apps.bets.store.games import GameInfo, GameOdds, HistoricalOdds, PropOdds
from grandstand.storage.tables.errors import ConditionFailed

if TYPE_CHECKING:
    from grandstand.apps.bets.domain.odds import DevigMethod

_CENTS: Final = 100
_MINUS: Final = "\u2212"


@dataclass(frozen=True, slots=True)
class ClosingValue:
    """The fair probability at the close and the value of the bet's price against it (CLV)."""

    fair: Decimal | None = None
    clv: Decimal | None = None


def profit_units(verdict: Verdict, american: int) -> Decimal:
    """Return the profit of one unit staked, to four places."""
    times = payout_ratio(verdict, american) - 1
    return round4(times.numerator / times.denominator)


def describe_result(owner: str, prediction: str, teams: tuple[str, str], payout: Payout) -> str:
    """Return the result of a bet as text, with its profit or loss."""
    cents = abs(payout.profit_cents)
    sign = "+" if payout.profit_cents > 0 else _MINUS if cents else ""
    money = f"{sign}${cents // _CENTS:,}.{cents % _CENTS:02d}"
    return f"{owner} bet on {prediction}, {teams[0]} v {teams[1]}: {payout.verdict}, {money}"


def settlement_postings(stake: Cents, payout: Payout, target: str) -> tuple[Posting, ...]:
    """Return the postings that pay an account and move losses to the bookmaker."""
    return (
        Posting(STAKES, -stake),
        Posting(target, payout.payout_cents),
        Posting(BOOKMAKER, -payout.profit_cents),
    )


_METHOD: Final[DevigMethod] = "power"


@dataclass(frozen=True, slots=True)
class GameEnding:
    """The end of a game: result, player statistics and closing lines.

    `result` is Cancelled for a game without a result. With `given_up`, missing player statistics
    void a prop instead of keeping it pending.
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
        """Whether the home team won; None for a draw or no score."""
        if not isinstance(self.result, FinalResult) or self.result.home == self.result.away:
            return None
        return self.result.home > self.result.away

    def verdict(self, selection: Selection) -> Verdict | None:
        """Return the verdict of a bet; None for a prop without statistics."""
        rules = settlement_rules_for(self.sport)
        if selection.market != "prop" or isinstance(self.result, Cancelled):
            return settle_bet(selection, self.result, rules)
        value = self._figure(selection)
        if value is None:
            return VOID if self.given_up else None
        return settle_bet(selection, value, rules)

    def _figure(self, selection: Selection) -> PlayerStatResult | None:
        """Return a player's figure; a player without statistics did not play."""
        if not self.figures or selection.stat is None:
            return None
        stats = self.figures.get(selection.participant or "")
        if stats is None:
            return PlayerStatResult(None)
        from grandstand.apps.bets.domain.selections import prop_stat_value

        reached = prop_stat_value(
            selection.stat, {name: float(value) for name, value in stats.items()}
        )
        return None if reached is None else PlayerStatResult(round(reached))

    def closed(self, selection: Selection, price: int | None) -> ClosingValue:
        """Return the closing value of a bet."""
        fair = self.fair(selection)
        if fair is None or price is None:
            return ClosingValue(round4_or_none(fair))
        return ClosingValue(round4(fair), round4(american_to_decimal(price) * fair - 1.0))

    def fair(self, selection: Selection) -> float | None:
        """Return the mean fair probability over the bookmakers that closed at the line.

        If only other lines closed, their probabilities are converted to this line. Results are
        cached.
        """
        name = encode_selection(selection)
        if name not in self._fair:
            self._fair[name] = self._calculate_fair(selection, name)
        return self._fair[name]

    def _calculate_fair(self, selection: Selection, name: str) -> float | None:
        probabilities = [
            chance
            for inverse, chance in self._closing_probabilities()
            if encode_selection(inverse) == name
        ]
        if probabilities:
            return sum(probabilities) / len(probabilities)
        if selection.lay:
            inverse = self.fair(opposite_of(selection))
            return None if inverse is None else 1.0 - inverse
        return self._convert_line(selection)

    def _closing_probabilities(self) -> list[tuple[Selection, float]]:
        if not self._chances:
            self._chances.extend(pair for row in self.closing for pair in fair_probabilities(row))
        return self._chances

    def _convert_line(self, selection: Selection) -> float | None:
        if selection.market not in {"spreads", "totals"}:
            return None
        from grandstand.apps.bets.domain.margins import score_shape, shift_line

        lines = [
            (other, chance)
            for other, chance in self._closing_probabilities()
            if (other.market, other.side) == (selection.market, selection.side)
        ]
        converted = [
            shift_line(selection, forecast, chance, score_shape(self.sport)).probability
            for forecast, chance in lines
        ]
        return sum(converted) / len(converted) if converted else None


def fair_probabilities(row: HistoricalOdds) -> list[tuple[Selection, float]]:
    """Return each outcome of a closing line with its fair probability."""
    from grandstand.apps.bets.domain.odds import devig

    selections = outcome_selections(
        row.market_key, row.outcomes, row.home_team, row.away_team, row.player
    )
    chances = devig([american_to_decimal(outcome.price) for outcome in row.outcomes], _METHOD)
    return list(zip(selections, chances, strict=True))


async def archive_closing_lines(
    db: Database, game: GameInfo, now: datetime
) -> tuple[HistoricalOdds, ...]:
    """Archive the last odds before the start of a game, once, and return them."""
    last: dict[tuple[str, str, str | None], GameOdds | PropOdds] = {}
    rows = await load_prices(db, game.game_id)
    for row in sorted(rows, key=lambda row: row.captured_at):
        if row.captured_at < game.commence_time:
            last[row.bookmaker, row.market_key, player_of(row)] = row
    for row in last.values():
        with suppress(ConditionFailed):
            await db.store(closing_row(row, game, now).archive())
    for row in rows:
        if row.latest:
            await db.try_transaction(row.retire())
    return await load_closing_lines(db, game.game_id)


async def load_closing_lines(db: Database, game_id: str) -> tuple[HistoricalOdds, ...]:
    return tuple([row async for row in db.each(HistoricalOdds.of_game(game_id))])


def closing_row(row: GameOdds | PropOdds, info: GameInfo, now: datetime) -> HistoricalOdds:
    return copy_as(
        HistoricalOdds,
        row,
        commence_time=info.commence_time,
        updated_at=row.captured_at,
        archived_at=now,
        player=player_of(row),
    )
