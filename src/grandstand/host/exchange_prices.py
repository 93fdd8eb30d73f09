"""Exchange prices from the gatherer, for the bets app."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from grandstand.kit.app import ExchangePrice

_MICRO: Final = 1_000_000
_WORDS: Final = re.compile(r"[a-z0-9]+")


class GathererPrices:
    """Prices of games from the gatherer's recorded books.

    A market belongs to a game if its title names both teams and it closes around the start; its yes
    side is the team named first.
    """

    def __init__(self, gatherer: Callable[[], Any]) -> None:
        self._gatherer = gatherer

    async def of_game(
        self, sport: str, home_team: str, away_team: str, commence_time: datetime
    ) -> tuple[ExchangePrice, ...]:
        """Return the prices of a game; empty while nothing is recorded."""
        del sport
        gatherer = self._gatherer()
        if gatherer is None or (await gatherer.recording.status()).state != "recording":
            return ()
        at = datetime.fromtimestamp(gatherer.now_us() / _MICRO, UTC)
        found = []
        for market in await gatherer.markets.list():
            first = named_first(market.title, home_team, away_team)
            if first is None or (market.best_yes_ask is None and market.best_yes_bid is None):
                continue
            if market.close_ts is None:
                continue
            closes = datetime.fromtimestamp(market.close_ts / _MICRO, UTC)
            if abs(closes - commence_time) > timedelta(days=2):
                continue
            found.append(
                ExchangePrice(
                    market.ticker,
                    market.title,
                    first,
                    _ten_thousandths(market.best_yes_bid),
                    _ten_thousandths(market.best_yes_ask),
                    at,
                    f"/gatherer/markets/{market.ticker}",
                )
            )
        return tuple(found)


def named_first(title: str, home_team: str, away_team: str) -> str | None:
    """Return the team a title names first; None unless it names both.

    A team is recognized by the last word of its name, such as Lakers.
    """
    words = _WORDS.findall(title.lower())
    places = [_place(words, team) for team in (home_team, away_team)]
    if places[0] is None or places[1] is None or places[0] == places[1]:
        return None
    return home_team if places[0] < places[1] else away_team


def _place(words: list[str], team: str) -> int | None:
    own = _WORDS.findall(team.lower())
    return words.index(own[-1]) if own and own[-1] in words else None


def _ten_thousandths(price: int | None) -> int | None:
    """Convert a price from hundred-thousandths of a dollar."""
    return None if price is None else (price + 5) // 10
