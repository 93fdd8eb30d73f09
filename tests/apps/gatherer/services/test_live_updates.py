"""Open pages are told of the markets they show: what changed, once, and of no others."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from grandstand.apps.gatherer.domain.order_book import OrderBook
from grandstand.apps.gatherer.domain.rows import Trade
from grandstand.apps.gatherer.services.live_updates import LiveUpdates, ladder_levels
from grandstand.apps.gatherer.services.recordings import MarketHistory
from grandstand.apps.gatherer.store import TRADES
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from tests.apps.gatherer.services.recorded_rows import START

pytestmark = pytest.mark.anyio


@dataclass
class Heard:
    """Keeps what is told."""

    news: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def publish(self, topic: str, news: dict[str, Any]) -> None:
        self.news.append((topic, news))

    def topics(self) -> list[str]:
        return [topic for topic, _ in self.news]


@dataclass
class Stage:
    watching: LiveUpdates
    heard: Heard
    books: dict[str, OrderBook]
    engine: ChunkEngine
    clock: ManualClock


@pytest.fixture
def stage(tmp_path: Path, later: ManualClock) -> Iterator[Stage]:
    with closing(ChunkEngine.open(tmp_path, clock=later)) as engine:
        books = {"A": OrderBook([(52_000, 100)], [(47_000, 300)])}
        heard = Heard()
        watching = LiveUpdates(later, heard, books.get, MarketHistory(engine))
        yield Stage(watching, heard, books, engine, later)


def test_a_book_is_drawn_in_cents_and_contracts_with_the_best_first() -> None:
    book = OrderBook([(52_550, 150), (51_000, 1000)], [(47_000, 300)])

    assert ladder_levels(book) == {"bids": [(52.55, 1.5), (51.0, 10.0)], "asks": [(53.0, 3.0)]}


async def test_nobody_is_told_of_a_market_that_nobody_looks_at(stage: Stage) -> None:
    told = await stage.watching.publish()

    assert (told, stage.heard.news) == (0, [])


async def test_a_book_is_told_when_it_changes_and_only_then(stage: Stage) -> None:
    stage.watching.subscribe("A")

    first, again = await stage.watching.publish(), await stage.watching.publish()
    stage.books["A"].change(side=True, price=51_000, by=700)
    await stage.watching.publish()

    assert (first, again) == (1, 0)
    assert stage.heard.topics() == [
        "gatherer/book/A",
        "gatherer/price/A",
        "gatherer/price/A",
        "gatherer/book/A",
    ]
    assert stage.heard.news[-1][1]["bids"] == [(52.0, 1.0), (51.0, 7.0)]


async def test_a_trade_is_told_to_the_chart_and_the_tape(stage: Stage) -> None:
    stage.watching.subscribe("A")
    await stage.watching.publish()
    stage.heard.news.clear()
    stage.engine.prepare(TRADES)
    trade = Trade(UUID(int=1), START, START + 5, "A", 53_000, 2500, taker_side=True)
    stage.engine.append(TRADES, [trade])

    await stage.watching.publish()

    rows = {"plot": "Trades", "rows": [(START / 1_000_000, 53.0)]}
    assert stage.heard.news == [
        ("gatherer/price/A", rows),
        ("gatherer/trades/A", {"trades": 1}),
    ]


async def test_a_page_that_is_gone_is_told_nothing_more(stage: Stage) -> None:
    stage.watching.subscribe("A")
    stage.clock.advance(700)

    told = await stage.watching.publish()

    assert (told, stage.watching.tickers) == (0, ())


async def test_a_market_recorded_elsewhere_is_told_from_what_is_kept(stage: Stage) -> None:
    stage.watching.subscribe("B")

    await stage.watching.publish()

    assert stage.heard.news[0] == ("gatherer/book/B", {"bids": [], "asks": []})
