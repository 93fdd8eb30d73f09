"""Kept here: the tables of the production store and of what to record, and their questions."""

from __future__ import annotations

from typing import Final, Literal, Self, TypeAlias

from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    Index,
    Put,
    Query,
    Scan,
    Table,
    key,
)

ChoiceKind: TypeAlias = Literal["market", "event", "series", "category"]

market_series = Table(
    "GathererSeries",
    partition="ticker",
    purpose="Series of the exchange, as REST told them to the merger.",
)
events = Table(
    "GathererEvents",
    partition="event_ticker",
    indexes=(Index("SeriesEvents", "series_ticker", "event_ticker"),),
    purpose="Events of the exchange, as REST told them to the merger.",
)
markets = Table(
    "GathererMarkets",
    partition="ticker",
    indexes=(Index("EventMarkets", "event_ticker", "ticker"),),
    purpose="Markets of the exchange, as REST told them to the merger.",
)
sync_cursors = Table(
    "GathererSyncCursors",
    partition="gatherer",
    sort="series",
    purpose="How far each series of each gatherer is merged.",
)
choices = Table(
    "GathererChoices",
    partition="kind",
    sort="name",
    purpose="What is to be recorded.",
)

TABLES: Final = (market_series, events, markets, sync_cursors, choices)


class SeriesInfo(Entity, table=market_series):
    """A series of the exchange: events of one kind, again and again."""

    ticker: str
    title: str
    category: str | None = None
    frequency: str | None = None
    tags: tuple[str, ...] = ()
    updated_us: int = 0

    row = key("{ticker}")

    @classmethod
    def by_ticker(cls, ticker: str) -> Get[Self]:
        """One series of the exchange."""
        return cls.get(ticker=ticker)

    def keep(self) -> Put[Self]:
        """Write what is known of a series over what may be there."""
        return self.put()


class EventInfo(Entity, table=events):
    """An event: a question with one or more markets."""

    event_ticker: str
    series_ticker: str
    title: str
    sub_title: str | None = None
    category: str | None = None
    mutually_exclusive: bool | None = None
    updated_us: int = 0

    row = key("{event_ticker}")
    by_series = key("{series_ticker}", "{event_ticker}", index="SeriesEvents")

    @classmethod
    def by_ticker(cls, event_ticker: str) -> Get[Self]:
        """One event."""
        return cls.get(event_ticker=event_ticker)

    @classmethod
    def of_series(cls, series_ticker: str) -> Query[Self]:
        """The events of a series."""
        return cls.by_series(series_ticker=series_ticker)

    def keep(self) -> Put[Self]:
        """Write what is known of an event over what may be there."""
        return self.put()


class MarketInfo(Entity, table=markets):
    """A market as REST told of it; times are microseconds, sizes hundredths of a contract."""

    ticker: str
    event_ticker: str
    title: str
    status: str
    subtitle: str | None = None
    market_type: str | None = None
    result: str | None = None
    volume: int | None = None
    volume_24h: int | None = None
    open_interest: int | None = None
    open_us: int | None = None
    close_us: int | None = None
    updated_us: int = 0

    row = key("{ticker}")
    by_event = key("{event_ticker}", "{ticker}", index="EventMarkets")

    @classmethod
    def by_ticker(cls, ticker: str) -> Get[Self]:
        """One market."""
        return cls.get(ticker=ticker)

    @classmethod
    def of_event(cls, event_ticker: str) -> Query[Self]:
        """The markets of an event."""
        return cls.by_event(event_ticker=event_ticker)

    def keep(self) -> Put[Self]:
        """Write what is known of a market over what may be there."""
        return self.put()


class SyncCursor(Entity, table=sync_cursors):
    """How far one series of one gatherer is merged.

    `position_us` is the time of the last row merged: everything before it, less an overlap, was
    read. `counted` says of each chunk, by its start, how many rows it had when it was read whole,
    as JSON; when it has more, some came late.
    """

    gatherer: str
    series: str
    position_us: int = 0
    merged_us: int = 0
    rows: int = 0
    counted: str = "{}"

    row = key("{gatherer}", "{series}")

    @classmethod
    def of_series(cls, gatherer: str, series: str) -> Get[Self]:
        """How far one series of one gatherer is merged."""
        return cls.get(gatherer=gatherer, series=series).consistent()

    @classmethod
    def of_gatherer(cls, gatherer: str) -> Query[Self]:
        """How far the series of one gatherer are merged."""
        return cls.row(gatherer=gatherer)

    def keep(self) -> Put[Self]:
        """Note how far it is merged."""
        return self.put()


class Choice(Entity, table=choices):
    """One thing that is to be recorded, or is not to be although its kind is."""

    kind: ChoiceKind
    name: str
    recorded: bool = True
    chosen_us: int = 0

    row = key("{kind}", "{name}")

    @classmethod
    def all_there_are(cls) -> Scan[Self]:
        """Everything that is chosen."""
        return cls.scan()

    def keep(self) -> Put[Self]:
        """Choose it, in place of what was chosen of it before."""
        return self.put()

    @classmethod
    def forget(cls, kind: ChoiceKind, name: str) -> Delete[Self]:
        """Choose nothing about it."""
        return cls.delete(kind=kind, name=name)
