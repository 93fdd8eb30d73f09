"""Kept here: forecasts as the table keeps them: what stands, its inverse, and all ever made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.model import AnalysisType, PricedOutcome, slug
from grandstand.apps.bets.model.prices.odds import decimal_of
from grandstand.apps.bets.model.selections import (
    Selection,
    code,
    display,
    is_prop,
    opposite,
    prop_of,
    selections_of,
)
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.settled import maybe_rounded, rounded
from grandstand.apps.bets.store import (
    Analysis,
    GameNote,
    GameOdds,
    KeptReason,
    Prediction,
    PropOdds,
)
from grandstand.storage.tables.operations.batches import Write

if TYPE_CHECKING:
    from grandstand.apps.bets.model.predicting.forecasting import Forecast

_WINNER: Final = frozenset({"h2h", "h2h_3way"})
_LONGEST_TEXT: Final = 200
_MOST_REASONS: Final = 12
_CONSERVATIVE: Final = 0.65
_MODERATE: Final = 0.55


@dataclass(frozen=True, slots=True)
class Offered:
    """The prices of one game that stand, by bookmaker and selection, and players' names."""

    prices: Mapping[str, Mapping[str, int]]
    players: Mapping[str, str]

    def price(self, bookmaker: str, selection: Selection) -> int | None:
        """Answer a bookmaker's price of a selection; None when it has none."""
        return self.prices.get(bookmaker, {}).get(code(selection))

    def quotes(self, bookmaker: str, selection: Selection) -> bool:
        """Tell whether a bookmaker has a price of a selection, or of what it is against."""
        return self.price(bookmaker, selection) is not None


def offered_of(rows: Iterable[GameOdds | PropOdds]) -> Offered:
    """Answer what stands of a game's prices."""
    prices: dict[str, dict[str, int]] = {}
    players: dict[str, str] = {}
    for row in rows:
        if not row.latest:
            continue
        found = prices.setdefault(row.bookmaker, {})
        if isinstance(row, PropOdds):
            players[slug(row.player)] = row.player
        for outcome, selection in zip(row.outcomes, selections_in(row), strict=True):
            found[code(selection)] = outcome.price
    return Offered(prices, players)


def selections_in(row: GameOdds | PropOdds) -> tuple[Selection, ...]:
    """Answer what each outcome of a price is, told by its name."""
    return outcome_selections(
        row.market_key,
        row.outcomes,
        row.home_team,
        row.away_team,
        row.player if isinstance(row, PropOdds) else None,
    )


def outcome_selections(
    market_key: str,
    outcomes: Sequence[PricedOutcome],
    home: str,
    away: str,
    player: str | None = None,
) -> tuple[Selection, ...]:
    """Do so for any market's outcomes; raise what `selections_of` does."""
    if player is not None or is_prop(market_key):
        return tuple(prop_of(market_key, player or "", each.name, each.point) for each in outcomes)
    return selections_of(market_key, outcomes, home, away)


class Publishing:
    """Publishes a forecast and its inverse at bookmakers' prices, until the game begins."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def publish(
        self,
        note: GameNote,
        pair: tuple[Forecast, Forecast],
        offered: Offered,
        standing: Mapping[tuple[str, str], Analysis],
    ) -> tuple[int, int]:
        """Publish at every followed bookmaker that has a price; answer how many, and how frozen.

        What stands already and says the same is left as it is.
        """
        published, frozen = 0, 0
        for bookmaker in self._bookmakers(pair[0], offered):
            rows = tuple(
                analysis_of(note, each, bookmaker, offered, self._means.now()) for each in pair
            )
            if all(
                says_the_same(standing.get((each.bookmaker, key_of(each))), each) for each in rows
            ):
                continue
            if await self._means.wrote(*writes_of(rows, self._means.now())):
                published += 1
            else:
                frozen += 1
        return published, frozen

    def _bookmakers(self, forecast: Forecast, offered: Offered) -> list[str]:
        followed = [
            name
            for name in self._means.settings.bookmakers
            if offered.quotes(name, forecast.selection)
        ]
        if followed or forecast.book is None:
            return followed
        return [forecast.book]


def writes_of(rows: Sequence[Analysis], now: datetime) -> list[Write]:
    """Answer the writes that publish rows and keep each for ever."""
    return [write for row in rows for write in (prediction_of(row).record(), row.publish(now))]


def key_of(row: Analysis) -> str:
    """Name what a row says something about, within its game and bookmaker."""
    return f"{row.model}#{row.analysis_type}#{row.slot}"


def says_the_same(standing: Analysis | None, row: Analysis) -> bool:
    """Tell whether what stands has the same pick, chance and price."""
    if standing is None:
        return False
    before = (standing.selection, standing.confidence, standing.price, standing.commence_time)
    return before == (row.selection, row.confidence, row.price, row.commence_time)


def analysis_of(
    note: GameNote, forecast: Forecast, bookmaker: str, offered: Offered, now: datetime
) -> Analysis:
    """Answer a forecast as the table keeps it, at a bookmaker's price."""
    selection, prop = forecast.selection, forecast.selection.market == "prop"
    kind: AnalysisType = "prop" if prop else "game"
    player = offered.players.get(selection.participant or "", selection.participant)
    against = said(opposite(selection), note) if forecast.inverse_of else None
    price = offered.price(bookmaker, selection)
    if price is None and bookmaker == forecast.book:
        price = forecast.price
    return Analysis(
        model=forecast.model,
        analysis_type=kind,
        sport=note.sport,
        bookmaker=bookmaker,
        game_id=note.game_id,
        home_team=note.home_team,
        away_team=note.away_team,
        player_name=player if prop else None,
        market_key=market_key_of(selection),
        prediction=said(selection, note),
        confidence=rounded(forecast.probability),
        reasoning=reasoning_of(forecast, note),
        commence_time=note.commence_time,
        created_at=now,
        is_inverse=True if forecast.inverse_of else None,
        original_prediction=against,
        selection=code(selection),
        raw=rounded(forecast.raw),
        fair=maybe_rounded(forecast.fair),
        price=price,
        as_of=forecast.as_of,
        reasons=tuple(
            KeptReason(each.source, rounded(each.contribution), each.text[:_LONGEST_TEXT])
            for each in forecast.reasons[:_MOST_REASONS]
        ),
    )


def prediction_of(row: Analysis) -> Prediction:
    """Answer the row that stays for ever of one that stands."""
    return Prediction(
        model=row.model,
        analysis_type=row.analysis_type,
        sport=row.sport,
        bookmaker=row.bookmaker,
        game_id=row.game_id,
        home_team=row.home_team,
        away_team=row.away_team,
        player_name=row.player_name,
        market_key=row.market_key,
        prediction=row.prediction,
        confidence=row.confidence,
        reasoning=row.reasoning,
        commence_time=row.commence_time,
        created_at=row.created_at,
        is_inverse=row.is_inverse,
        original_prediction=row.original_prediction,
        selection=row.selection,
        raw=row.raw,
        fair=row.fair,
        price=row.price,
        as_of=row.as_of,
        reasons=row.reasons,
    )


def market_key_of(selection: Selection) -> str | None:
    """Answer what the key says of the market: nothing for the winner of a game."""
    if selection.market == "prop":
        return selection.stat
    return None if selection.market in _WINNER else selection.market


def said(selection: Selection, note: GameNote) -> str:
    """Say a pick for people: a team, a team and its line, `Over 25.5`."""
    if selection.market == "prop":
        return f"{(selection.side or '').capitalize()} {selection.point}"
    return display(selection, note.home_team, note.away_team)


def reasoning_of(forecast: Forecast, note: GameNote) -> str:
    """Say why, the weightiest reason first."""
    told = "; ".join(each.text for each in forecast.reasons[:3] if each.text)
    text = told or f"{forecast.model} gives it {forecast.probability:.0%}"
    if forecast.inverse_of is None:
        return text
    return f"INVERSE of: {said(opposite(forecast.selection), note)}: {text}"


def expected_return(probability: float, price: int | None) -> float | None:
    """Answer what a unit staked is expected to win; None without a price."""
    return None if price is None else probability * decimal_of(price) - 1


def risk_of(probability: float) -> str:
    """Name the risk of a pick."""
    if probability >= _CONSERVATIVE:
        return "conservative"
    return "moderate" if probability >= _MODERATE else "aggressive"
