"""The games pages: upcoming games, a single game, and line shopping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.domain.odds import (
    american_to_decimal,
    decimal_to_american,
    implied_probability,
)
from grandstand.apps.bets.domain.records import PricedOutcome, slug
from grandstand.apps.bets.pages import base
from grandstand.apps.bets.services.games import GameSummary, GameView, LineHistory, MarketOdds
from grandstand.apps.bets.services.line_shopping import BestPrice
from grandstand.apps.bets.services.predictions import Pick
from grandstand.core import formatting
from grandstand.core.formatting import OddsFormat, format_percent
from grandstand.kit.app import ExchangePrice
from grandstand.kit.charts import Axis, Chart, Plot, epoch
from grandstand.kit.pages.rendering import time_tag
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

MARKETS: Final = ("h2h", "spreads", "totals")
EXCHANGE: Final = "exchange"
_WHOLE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Price:
    """A price; `best` if no other bookmaker pays more at the line."""

    decimal: float
    american: int
    point: Decimal | None
    best: bool = False


@dataclass(frozen=True, slots=True)
class BookRow:
    """The prices of a bookmaker, one per outcome; `old` if they are stale."""

    bookmaker: str
    prices: tuple[Price | None, ...]
    captured_at: datetime
    age_seconds: int
    old: bool


@dataclass(frozen=True, slots=True)
class PriceSheet:
    """The prices of all bookmakers in a market."""

    market: str
    sides: tuple[str, ...]
    rows: tuple[BookRow, ...]
    signed: bool

    @property
    def newest(self) -> datetime | None:
        """The time of the latest change."""
        books = (row.captured_at for row in self.rows if row.bookmaker != EXCHANGE)
        return max(books, default=None)


@dataclass(frozen=True, slots=True)
class Agreed:
    """A pick that several models share, with the range of their probabilities."""

    prediction: str
    models: tuple[str, ...]
    low: float
    high: float
    expected_return: float | None


def sides_of(market: str, game: GameSummary, quotes: Iterable[MarketOdds]) -> tuple[str, ...]:
    """Return the outcomes of a market in display order."""
    if market == "totals":
        return ("Over", "Under")
    named = {slug(outcome.name) for quote in quotes for outcome in quote.outcomes}
    draw = ("Draw",) if "draw" in named else ()
    return (game.home_team, *draw, game.away_team)


def sheet_of(game: GameSummary, market: str, stale_seconds: int) -> PriceSheet:
    """Return the prices of a market with the best ones marked, by bookmaker.

    The exchange comes last in the winner market, before fees, and is never the best.
    """
    sheet = sheet_from(game, game.quotes, market, stale_seconds)
    if market != "h2h" or not sheet.rows or not game.exchange:
        return sheet
    prices = tuple(_exchange_price(game.exchange, side, len(sheet.sides)) for side in sheet.sides)
    row = BookRow(EXCHANGE, prices, max(price.at for price in game.exchange), 0, old=False)
    return replace(sheet, rows=(*sheet.rows, row))


def sheet_from(
    game: GameSummary, quotes: Iterable[MarketOdds], market: str, stale_seconds: int
) -> PriceSheet:
    """Return the price sheet of any odds of a game, such as closing lines."""
    odds = [
        quote
        for quote in quotes
        if base.market_group(quote.market_key) == market and quote.player is None
    ]
    sides = sides_of(market, game, odds)
    rows = [
        BookRow(
            quote.bookmaker,
            tuple(_price(quote.outcomes, side) for side in sides),
            quote.captured_at,
            quote.age_seconds,
            quote.age_seconds > stale_seconds,
        )
        for quote in sorted(odds, key=lambda item: item.bookmaker)
    ]
    best = [_best([row.prices[at] for row in rows if not row.old]) for at in range(len(sides))]
    return PriceSheet(
        market, sides, tuple(_mark_best(row, best) for row in rows), market == "spreads"
    )


def agreed(picks: Iterable[Pick], market: str) -> tuple[Agreed, ...]:
    """Return the models' picks in a market, the most common first."""
    grouped: dict[str, list[Pick]] = {}
    for pick in picks:
        fits = base.market_group(pick.market_key) == market and pick.analysis_type == "game"
        if fits and not pick.is_inverse:
            grouped.setdefault(base.tidy(pick.prediction), []).append(pick)
    groups = [_agreed(prediction, group) for prediction, group in grouped.items()]
    return tuple(sorted(groups, key=lambda item: (-len(item.models), -item.high)))


def _agreed(prediction: str, picks: Sequence[Pick]) -> Agreed:
    chances = [pick.probability for pick in picks]
    returns = [pick.expected_return for pick in picks if pick.expected_return is not None]
    names = tuple(dict.fromkeys(pick.model for pick in picks))
    return Agreed(prediction, names, min(chances), max(chances), max(returns, default=None))


def _price(outcomes: Iterable[PricedOutcome], side: str) -> Price | None:
    outcome = next((outcome for outcome in outcomes if slug(outcome.name) == slug(side)), None)
    if outcome is None:
        return None
    return Price(american_to_decimal(outcome.price), outcome.price, outcome.point)


def _exchange_price(offers: Iterable[ExchangePrice], side: str, sides: int) -> Price | None:
    """Return the price on the exchange: from the yes, or with two outcomes from the other's no."""
    asks = [
        offer.ask if slug(offer.team) == slug(side) else offer.bid and _WHOLE - offer.bid
        for offer in offers
        if side != "Draw" and (sides == 2 or slug(offer.team) == slug(side))
    ]
    valid = [ask for ask in asks if ask is not None and 0 < ask < _WHOLE]
    if not valid:
        return None
    decimal = _WHOLE / min(valid)
    return Price(decimal, decimal_to_american(decimal), None)


def _best(prices: Sequence[Price | None]) -> tuple[float, Decimal | None] | None:
    """Return the highest price at the most common line."""
    available = [price for price in prices if price is not None]
    if not available:
        return None
    line = Counter(price.point for price in available).most_common(1)[0][0]
    return max(price.decimal for price in available if price.point == line), line


def _mark_best(row: BookRow, best: Sequence[tuple[float, Decimal | None] | None]) -> BookRow:
    prices = tuple(
        price
        if price is None or row.old or (price.decimal, price.point) != best_price
        else replace(price, best=True)
        for price, best_price in zip(row.prices, best, strict=True)
    )
    return replace(row, prices=prices)


_NOTICES: Final = {
    "liked": "Added to your favorite teams. You will be notified of its games.",
    "unliked": "Removed from your favorite teams.",
}


@dataclass(frozen=True, slots=True)
class BoardGame:
    """A game on the games page."""

    game: GameSummary
    sheet: PriceSheet
    picks: tuple[Agreed, ...]
    path: tuple[float, ...]
    movement: str


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model's picks of a game, each with its inverse. `max_contribution` scales the bars."""

    model: str
    picks: tuple[tuple[Pick, Pick | None], ...]
    max_contribution: float


class GamePages(base.BetsPagesBase):
    @page("")
    async def board(self, request: Request, who: CurrentCaller) -> Response:
        """The upcoming games of a sport."""
        del who
        sport = self._sport(request)
        market = base.query_option(request, "market", MARKETS, "h2h")
        after = request.query_params.get("cursor") or None
        page_of_games = await self._bets.games.upcoming(sport, limit=10, after=after)
        return self._render(
            request,
            "board",
            here="games",
            sports=self._bets.settings.sports,
            sport=sport,
            market=market,
            markets=MARKETS,
            games=[board_game(game, market, self._stale_seconds) for game in page_of_games.items],
            cursor=page_of_games.cursor,
            paged=after is not None,
            connected=self._bets.settings.odds_key is not None,
        )

    @page("/games/{game_id}")
    async def game(self, request: Request, who: CurrentCaller, game_id: base.GameId) -> Response:
        """A game with its lines, picks, injuries, form and previous meetings."""
        view = await self._bets.games.get(game_id)
        game, over = view.game, view.score is not None
        sheets = [sheet_of(game, market, self._stale_seconds) for market in MARKETS]
        # Closing lines are never stale.
        closing = [sheet_from(game, view.closing, market, 10**12) for market in MARKETS]
        favorite_slugs = {
            slug(favorite.team) for favorite in await self._bets.favorites.list_teams(who)
        }
        return self._render(
            request,
            "game",
            here="games",
            view=view,
            game=game,
            over=over,
            begun=game.commence_time <= self._bets.now(),
            sheets=[sheet for sheet in sheets if sheet.rows],
            closing=[sheet for sheet in closing if sheet.rows],
            charts=line_movement_charts(view),
            models=model_views(view.picks),
            props=[pick for pick in view.picks if pick.analysis_type == "prop"],
            favorites=[
                team for team in (game.home_team, game.away_team) if slug(team) in favorite_slugs
            ],
            forms=((game.home_team, view.home_form), (game.away_team, view.away_form)),
            summary=summarize_game(view),
            stale_minutes=self._bets.settings.stale_minutes,
            notice=_NOTICES.get(request.query_params.get("notice", ""), ""),
        )

    @property
    def _stale_seconds(self) -> int:
        return self._bets.settings.stale_minutes * 60


def board_game(game: GameSummary, market: str, stale_seconds: int) -> BoardGame:
    path = tuple(chance for _, chance in game.home_path)
    movement = f"{game.home_team}’s win probability"
    if path:
        change = base.signed_percent(path[-1] - path[0])
        chance = format_percent(path[-1])
        movement = f"{game.home_team}’s win probability: {chance}, {change} since the opening line"
    sheet = sheet_of(game, market, stale_seconds)
    return BoardGame(game, sheet, agreed(game.picks, market), path, movement)


def model_views(picks: Iterable[Pick]) -> tuple[ModelView, ...]:
    """Return the picks by model, highest probability first."""
    picks_by_model: dict[str, list[Pick]] = {}
    inverses: dict[tuple[str, str], Pick] = {}
    for pick in picks:
        if pick.analysis_type != "game":
            continue
        if pick.is_inverse:
            inverses[pick.model, pick.market_key] = pick
        else:
            picks_by_model.setdefault(pick.model, []).append(pick)
    views = (
        ModelView(
            model,
            tuple((pick, inverses.get((model, pick.market_key))) for pick in mine),
            max((abs(reason.contribution) for pick in mine for reason in pick.reasons), default=0.0)
            or 1.0,
        )
        for model, mine in picks_by_model.items()
    )
    return tuple(sorted(views, key=lambda view: -max(pick.probability for pick, _ in view.picks)))


def line_movement_charts(view: GameView) -> tuple[tuple[str, Chart], ...]:
    """Return a chart per market with the history of every bookmaker."""
    home = view.game.home_team
    kinds = (
        (
            "h2h",
            f"{home} to win",
            "Implied probability of each bookmaker, including the margin.",
            Axis("Implied probability", unit="%", digits=1),
        ),
        ("spreads", f"Spread of {home}", "The handicap in points.", Axis("Line", digits=1)),
        ("totals", "Total", "Points of both teams.", Axis("Line", digits=1)),
    )
    charts = (
        (market, Chart(title, Axis("Time", "time"), y, _books(view, market), note))
        for market, title, note, y in kinds
    )
    return tuple(chart for chart in charts if chart[1].plots)


def _books(view: GameView, market: str) -> tuple[Plot, ...]:
    lines = [
        line
        for line in view.lines
        if base.market_group(line.market_key) == market and line.player is None
    ]
    plots = (
        Plot(base.book_name(line.bookmaker), "step", _points(line, market, view.game.home_team))
        for line in sorted(lines, key=lambda item: item.bookmaker)
    )
    return tuple(plot for plot in plots if plot.rows)


def _points(line: LineHistory, market: str, home: str) -> tuple[tuple[float, float], ...]:
    name = "over" if market == "totals" else slug(home)
    values = {
        epoch(point.captured_at): _value(point.outcomes, name, market) for point in line.points
    }
    return tuple((at, value) for at, value in sorted(values.items()) if value is not None)


def _value(outcomes: Iterable[PricedOutcome], name: str, market: str) -> float | None:
    outcome = next((outcome for outcome in outcomes if slug(outcome.name) == name), None)
    if outcome is None:
        return None
    if market == "h2h":
        return implied_probability(outcome.price) * 100
    return float(outcome.point) if isinstance(outcome.point, Decimal) else None


def summarize_game(view: GameView) -> str:
    """Summarize in a line what is known about a game."""
    games = sum(1 for pick in view.picks if not pick.is_inverse and pick.analysis_type == "game")
    books = len({quote.bookmaker for quote in view.game.quotes or view.closing})
    parts = [
        f"{books} {'bookmaker' if books == 1 else 'bookmakers'}",
        f"{games} {'prediction' if games == 1 else 'predictions'}",
    ]
    if view.game.exchange:
        parts.append("an exchange price")
    return ", ".join(parts)


_COLUMNS: Final = (
    Column("side", "Bet"),
    Column("game", "Game"),
    Column("market", "Market"),
    Column("price", "Best price", "number"),
    Column("book", "Bookmaker"),
    Column("fair", "Fair probability", "number"),
    Column("value", "Expected return", "number"),
    Column("age", "Age", "number"),
    Column("starts", "Starts", "time"),
)


class LineShoppingPages(base.BetsPagesBase):
    @page("/tools")
    async def tools(self, request: Request, who: CurrentCaller) -> Response:
        sport = self._sport(request)
        best = await self._bets.line_shopping.best_prices(sport)
        preferences = who.preferences
        table = best_prices_table(best, preferences.odds_format, preferences.time_zone)
        return self._render(
            request,
            "tools",
            here="tools",
            sports=self._bets.settings.sports,
            sport=sport,
            best=table.view(request.query_params, page_rows=30),
            arbitrages=await self._bets.line_shopping.arbitrages(sport),
            middles=await self._bets.line_shopping.middles(sport),
            stale=await self._bets.line_shopping.stale_lines(sport),
            stale_minutes=self._bets.settings.stale_minutes,
        )


def best_prices_table(prices: Sequence[BestPrice], form: OddsFormat, zone: str) -> DataTable:
    rows = tuple(_row(item, form, zone) for item in prices)
    return DataTable("best", "Best prices", _COLUMNS, rows, stacks=True)


def _row(price: BestPrice, form: OddsFormat, zone: str) -> Row:
    line = (
        ""
        if price.point is None
        else base.point_text(price.point, signed=price.market_key == "spreads")
    )
    bet = f"{price.name} {line}".strip()
    game = Markup('<a href="/bets/games/{}">{} v {}</a>').format(
        price.game_id, price.home_team, price.away_team
    )
    return Row(
        f"{price.game_id}-{price.market_key}-{price.name}-{line}",
        (
            Cell(bet),
            Cell(game, f"{price.home_team} v {price.away_team}"),
            Cell(base.market_name(price.market_key)),
            Cell(
                formatting.format_odds(base.decimal(price.price), form), base.decimal(price.price)
            ),
            Cell(base.book_name(price.bookmaker)),
            Cell(formatting.format_percent(price.fair), price.fair),
            Cell(
                base.signed_percent(price.expected_return),
                price.expected_return,
                tone=base.tone_of(price.expected_return),
            ),
            Cell(base.age_text(price.age_seconds), price.age_seconds),
            Cell(time_tag(price.commence_time, zone), price.commence_time),
        ),
    )
