"""Kept here: series, events and markets of the exchange, fetched over REST into the tables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from grandstand.apps.gatherer.sources.kalshi.answers import (
    EventListed,
    MarketListed,
    Page,
    SeriesListed,
)
from grandstand.apps.gatherer.store import EventInfo, MarketInfo, SeriesInfo
from grandstand.storage.tables import AsyncStore, Put

_AT_ONCE: Final = 100


class Listings(Protocol):
    """What the exchange is asked for its listings."""

    async def series(self) -> tuple[SeriesListed, ...]:
        """Fetch all series."""
        ...

    def events(self) -> AsyncIterator[Page[EventListed]]:
        """Fetch events page by page."""
        ...

    def markets(self) -> AsyncIterator[Page[MarketListed]]:
        """Fetch markets page by page."""
        ...


@dataclass(frozen=True, slots=True)
class Refreshed:
    """How many series, events and markets were fetched and kept."""

    series: int
    events: int
    markets: int


async def refresh(listings: Listings, tables: AsyncStore, now_us: int) -> Refreshed:
    """Fetch what is listed and write it over what is known; what is gone stays as it last was.

    Raises what the exchange's source raises, and Unavailable when the tables do not answer.
    """
    series = await listings.series()
    await _keep(tables, (_series(each, now_us) for each in series))
    events = markets = 0
    async for event_page in listings.events():
        await _keep(tables, (_event(each, now_us) for each in event_page.items))
        events += len(event_page.items)
    async for market_page in listings.markets():
        await _keep(tables, (_market(each, now_us) for each in market_page.items))
        markets += len(market_page.items)
    return Refreshed(len(series), events, markets)


async def _keep(
    tables: AsyncStore, writes: Iterable[Put[SeriesInfo] | Put[EventInfo] | Put[MarketInfo]]
) -> None:
    waiting = [*writes]
    for at in range(0, len(waiting), _AT_ONCE):
        await tables.write_many(waiting[at : at + _AT_ONCE])


def _series(listed: SeriesListed, now_us: int) -> Put[SeriesInfo]:
    return SeriesInfo(
        ticker=listed.ticker,
        title=listed.title,
        category=listed.category,
        frequency=listed.frequency,
        tags=listed.tags,
        updated_us=now_us,
    ).keep()


def _event(listed: EventListed, now_us: int) -> Put[EventInfo]:
    return EventInfo(
        event_ticker=listed.event_ticker,
        series_ticker=listed.series_ticker,
        title=listed.title,
        sub_title=listed.sub_title,
        category=listed.category,
        mutually_exclusive=listed.mutually_exclusive,
        updated_us=now_us,
    ).keep()


def _market(listed: MarketListed, now_us: int) -> Put[MarketInfo]:
    return MarketInfo(
        ticker=listed.ticker,
        event_ticker=listed.event_ticker,
        title=listed.title,
        status=listed.status,
        subtitle=listed.subtitle,
        market_type=listed.market_type,
        result=listed.result,
        volume=listed.volume,
        volume_24h=listed.volume_24h,
        open_interest=listed.open_interest,
        open_us=listed.open_ts,
        close_us=listed.close_ts,
        updated_us=now_us,
    ).keep()
