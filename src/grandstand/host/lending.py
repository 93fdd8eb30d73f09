"""Kept here: what one application lends another: the exchange's prices, for bets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

_MICRO: Final = 1_000_000
_NEAR: Final = timedelta(days=2)
_WORDS: Final = re.compile(r"[a-z0-9]+")
_RUNNING: Final = "recording"


@dataclass(frozen=True, slots=True)
class LentPrice:
    """What the exchange asks for one side of a game, as bets wants to be told."""

    market_id: str
    title: str
    team: str
    bid: int | None
    ask: int | None
    at: datetime
    href: str


class GathererPrices:
    """The gatherer's books as prices of games; only what is followed here, asking nobody outside.

    A market belongs to a game when its title names both teams and it closes around the start; its
    yes is on the team that is named first.
    """

    def __init__(self, gatherer: Callable[[], Any]) -> None:
        self._gatherer = gatherer

    async def of_game(
        self, sport: str, home_team: str, away_team: str, commence_time: datetime
    ) -> tuple[LentPrice, ...]:
        """Answer what the exchange asks for a game; none while nothing is recorded here."""
        del sport
        gatherer = self._gatherer()
        if gatherer is None or (await gatherer.ingest()).state != _RUNNING:
            return ()
        at = datetime.fromtimestamp(gatherer.now_us() / _MICRO, UTC)
        found = []
        for market in await gatherer.markets():
            first = named_first(market.title, home_team, away_team)
            if first is None or (market.best_yes_ask is None and market.best_yes_bid is None):
                continue
            if market.close_ts is None or not _near(market.close_ts, commence_time):
                continue
            found.append(
                LentPrice(
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
    """Answer the team a title names first; None when it does not name both.

    A team is named by the last word of its name, as in Lakers, or by the whole of it.
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
    """The gatherer keeps prices in hundred-thousandths of a dollar."""
    return None if price is None else (price + 5) // 10


def _near(close_us: int, commence_time: datetime) -> bool:
    closes = datetime.fromtimestamp(close_us / _MICRO, UTC)
    return -_NEAR <= closes - commence_time <= _NEAR
