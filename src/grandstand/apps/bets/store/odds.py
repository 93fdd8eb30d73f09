"""Kept here: prices as bookmakers gave them, for games and for players, and the closing ones."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.store.table import SCHEMA_VERSION, bets, end_of_key
from grandstand.storage.tables import Delete, Entity, Put, Query, Update, key
from grandstand.storage.tables.values import Item


class Price(Entity):
    """A bookmaker's price of one market, as captured at one moment."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    bookmaker: str
    market_key: str
    captured_at: datetime
    commence_time: datetime
    outcomes: tuple[PricedOutcome, ...]
    latest: bool = True
    created_at: datetime

    def record(self) -> Put[Self]:
        """Keep a price that is not there yet."""
        return self.put().if_absent()

    def retire(self) -> Update[Self]:
        """Take a price that is no longer the latest out of the index, unless somebody did."""
        retired = type(self).update(**self.identity()).set(latest=False)
        return retired.when(type(self).latest == self.latest)

    def drop(self) -> Delete[Self]:
        """Remove a price of a game that never came to a result."""
        return type(self).delete(**self.identity())

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Without a version the moment of capture stands in the key alone."""
        return {"captured_at": end_of_key(item), **item}


class GameOdds(Price, table=bets, times="seconds", schema_version=SCHEMA_VERSION):
    """One bookmaker's price of one market of a game, as captured at one moment."""

    row = key("GAME#{game_id}", "{bookmaker}#{market_key}#{captured_at}")
    active = key("GAME#{sport}", "{commence_time}", index="ActiveBetsIndexV2", when="latest")

    @classmethod
    def upcoming(cls, sport: str, now: datetime) -> Query[Self]:
        """The latest prices of a sport's games that have not begun."""
        return cls.active(sport=sport).since(commence_time=now)

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Every price of a game."""
        return cls.row(game_id=game_id)

    @classmethod
    def history(cls, game_id: str, bookmaker: str, market_key: str) -> Query[Self]:
        """Every price one bookmaker gave for a market of a game, oldest first."""
        return cls.row(game_id=game_id, bookmaker=bookmaker, market_key=market_key)


class PropOdds(Price, table=bets, times="seconds", schema_version=SCHEMA_VERSION):
    """One bookmaker's price of one market about a player, as captured at one moment."""

    player: str

    row = key("PROP#{game_id}", "{player}#{bookmaker}#{market_key}#{captured_at}")
    active = key("PROP#{sport}", "{commence_time}", index="ActiveBetsIndexV2", when="latest")

    @classmethod
    def upcoming(cls, sport: str, now: datetime) -> Query[Self]:
        """The latest player prices of a sport's games that have not begun."""
        return cls.active(sport=sport).since(commence_time=now)

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """Every player price of a game."""
        return cls.row(game_id=game_id)


class HistoricalOdds(Entity, table=bets, times="seconds"):
    """The closing price of one bookmaker's market: the last one before the start, kept for ever."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    bookmaker: str
    market_key: str
    outcomes: tuple[PricedOutcome, ...]
    commence_time: datetime
    updated_at: datetime
    archived_at: datetime
    player: str | None = None

    row = key("HISTORICAL_ODDS#{game_id}", "{bookmaker}#{place}")

    @property
    def place(self) -> str:
        """The end of its key: the market, and whom it is about."""
        return self.market_key if self.player is None else f"{self.market_key}#{self.player}"

    @classmethod
    def of_game(cls, game_id: str) -> Query[Self]:
        """The closing prices of a game."""
        return cls.row(game_id=game_id)

    def archive(self) -> Put[Self]:
        """Keep a closing price, once."""
        return self.put().if_absent()
