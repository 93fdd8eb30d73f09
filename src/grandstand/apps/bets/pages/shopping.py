"""Kept here: the line tools: best prices, arbitrages, middles and stale lines of a sport."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.pages.part import PagesPart
from grandstand.apps.bets.pages.words import (
    age_text,
    book_name,
    decimal,
    market_name,
    point_text,
    signed_percent,
    tone_of,
)
from grandstand.apps.bets.service import BestPrice
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Who, page
from grandstand.kit.who.caller import OddsFormat

_COLUMNS: Final = (
    Column("side", "Bet"),
    Column("game", "Game"),
    Column("market", "Market"),
    Column("price", "Best price", "number"),
    Column("book", "At"),
    Column("fair", "Fair chance", "number"),
    Column("value", "Expected", "number"),
    Column("age", "Age", "number"),
    Column("starts", "Starts", "time"),
)


class ShoppingPages(PagesPart):
    """Where to get the most for the same bet."""

    @page("/tools")
    async def tools(self, request: Request, who: Who) -> Response:
        """Best prices, arbitrages, middles and stale lines."""
        sport = self._sport(request)
        best = await self._bets.best_prices(sport)
        preferences = who.preferences
        table = table_of(best, preferences.odds_format, preferences.time_zone)
        return self._render(
            request,
            "tools",
            here="tools",
            sports=self._bets.sports(),
            sport=sport,
            best=table.view(request.query_params, page_rows=30),
            arbitrages=await self._bets.arbitrages(sport),
            middles=await self._bets.middles(sport),
            stale=await self._bets.stale_lines(sport),
            stale_minutes=self._bets.settings.stale_minutes,
        )


def table_of(held: Sequence[BestPrice], form: OddsFormat, zone: str) -> DataTable:
    """Answer the best price of every side as a table."""
    rows = tuple(_row(one, form, zone) for one in held)
    return DataTable("best", "Best prices", _COLUMNS, rows, stacks=True)


def _row(one: BestPrice, form: OddsFormat, zone: str) -> Row:
    line = "" if one.point is None else point_text(one.point, signed=one.market_key == "spreads")
    bet = f"{one.name} {line}".strip()
    game = Markup('<a href="/bets/games/{}">{} v {}</a>').format(
        one.game_id, one.home_team, one.away_team
    )
    return Row(
        f"{one.game_id}-{one.market_key}-{one.name}-{line}",
        (
            Cell(bet),
            Cell(game, f"{one.home_team} v {one.away_team}"),
            Cell(market_name(one.market_key)),
            Cell(shown.odds(decimal(one.price), form), decimal(one.price)),
            Cell(book_name(one.bookmaker)),
            Cell(shown.percent(one.fair), one.fair),
            Cell(
                signed_percent(one.expected_return),
                one.expected_return,
                tone=tone_of(one.expected_return),
            ),
            Cell(age_text(one.age_seconds), one.age_seconds),
            Cell(shown.time_tag(one.commence_time, zone), one.commence_time),
        ),
    )
