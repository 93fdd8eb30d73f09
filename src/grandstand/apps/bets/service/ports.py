"""Kept here: whom the service asks: feeds of odds and figures, and what the exchange lends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from grandstand.apps.bets.model.feeds import FedGames, FedScores, FedStats


class OddsFeed(Protocol):
    """Whoever tells prices and scores.

    Each raises SourceFailed, Unavailable or LimitReached when it cannot; what is wrong with one
    game is among `refused` of the answer, and the others are there all the same.
    """

    async def fetch_odds(self, sport: str, markets: Sequence[str]) -> FedGames:
        """Answer the games of a sport that are to come, with every bookmaker's prices."""
        ...

    async def fetch_props(self, sport: str, game_id: str, markets: Sequence[str]) -> FedGames:
        """Answer one game with prices about players; none when it is gone."""
        ...

    async def fetch_scores(self, sport: str, days: int) -> FedScores:
        """Answer how the games of the last days (1 to 3) stand."""
        ...


class StatsFeed(Protocol):
    """Whoever tells figures, schedules and injuries; raises as an OddsFeed does."""

    @property
    def name(self) -> str:
        """Who it is, for reports."""
        ...

    async def fetch_stats(self, sport: str, on: date) -> FedStats:
        """Answer what was told of teams and players up to a day."""
        ...

    async def fetch_injuries(self, sport: str, on: date) -> FedStats:
        """Answer who is injured."""
        ...

    async def fetch_schedules(self, sport: str, on: date) -> FedStats:
        """Answer the games of teams around a day."""
        ...

    async def fetch_results(self, sport: str, first: date, last: date) -> FedScores:
        """Answer how games of some days ended, however long ago; none where it cannot tell."""
        ...


@dataclass(frozen=True, slots=True)
class ExchangePrice:
    """What an exchange asks for one side of a game: a probability in ten-thousandths."""

    market_id: str
    title: str
    team: str
    bid: int | None
    ask: int | None
    at: datetime
    href: str


class ExchangePrices(Protocol):
    """The exchange's prices, lent by the gatherer."""

    async def of_game(
        self, sport: str, home_team: str, away_team: str, commence_time: datetime
    ) -> tuple[ExchangePrice, ...]:
        """Answer what the exchange asks for each side of a game; none when it has no market."""
        ...
