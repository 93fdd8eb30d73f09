"""What gatherers have compared with what happened: deltas and gaps, and books at instants."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.rows import OrderbookSnapshot
from grandstand.apps.gatherer.services.queries.books import BookHistory
from grandstand.apps.gatherer.store import decode_levels
from grandstand.simulators.exchange.market import Book
from grandstand.simulators.exchange.world import World
from grandstand.storage.series.engines.protocol import SeriesEngine
from tests.apps.gatherer.frames import Said, delta_kept
from tests.apps.gatherer.gatherers import EVER, Gathered, rows

SLACK_US: Final = 2_000_000


def kept(engine: SeriesEngine) -> Counter[Said]:
    return Counter(map(delta_kept, rows(engine, store.DELTAS)))


def since(said: Counter[Said], begun: int) -> Counter[Said]:
    return Counter({each: count for each, count in said.items() if each[0] >= begun})


def unexplained(missing: Counter[Said], gaps: list[store.GapRecord]) -> list[Said]:
    """Return the deltas that are missing and in none of these gaps."""
    closed = {_identity(gap): gap.resolved_at for gap in gaps if gap.resolved}
    spans: dict[str, list[tuple[int, int]]] = {}
    for gap in gaps:
        if not gap.resolved and gap.channel == "orderbook_delta":
            # One that names no market is one of every market.
            for ticker in json.loads(gap.tickers or '[""]'):
                spans.setdefault(ticker, []).append(_span(gap, closed))
    every = spans.get("", [])
    return [
        delta
        for delta in missing
        if not any(start <= delta[0] <= end for start, end in (*every, *spans.get(delta[1], ())))
    ]


def _span(gap: store.GapRecord, closed: dict[Any, int | None]) -> tuple[int, int]:
    """Return the exchange times a gap lies between: of its neighbours, where they are known."""
    start = gap.detected_at - SLACK_US if gap.from_ts is None else gap.from_ts
    if gap.reason in {"missed", "refused"}:
        return start, gap.detected_at + SLACK_US if gap.to_ts is None else gap.to_ts
    return start, (closed.get(_identity(gap)) or EVER) + SLACK_US


def _identity(gap: store.GapRecord) -> tuple[int, str, int, int, int]:
    return gap.detected_at, gap.gatherer, gap.conn, gap.sid, gap.expected_seq


def instants(done: Gathered, count: int) -> list[tuple[str, int]]:
    """Return random instants of random markets whose book ever changed, while they were open."""
    draw, world = Random(7), done.world
    tickers = [ticker for ticker in world.truth.tickers if next(world.truth.deltas(ticker), None)]
    found: dict[tuple[str, int], None] = {}
    while len(found) < count:
        ticker = draw.choice(tickers)
        found[ticker, draw.randrange(opened(done, ticker), done.ended)] = None
    return [*found]


def opened(done: Gathered, ticker: str) -> int:
    """Return when a market was there for everybody to hear of: at the beginning, or since then."""
    market = done.world.markets.get(ticker)
    assert market is not None
    return max(done.begun, market.opens_at)


def heard_whole(done: Gathered, ticker: str, at: int) -> bool:
    """Return whether some recorder received every frame of a market around an instant."""
    return any(
        since <= at < until for told in done.told for since, until in told.unbroken.get(ticker, ())
    )


@dataclass
class Asked:
    """What became of asking for books at instants."""

    asked: int = 0
    exact: int = 0
    true: int = 0
    wrong: list[str] = field(default_factory=list)
    untrue: list[tuple[str, int]] = field(default_factory=list)
    doubts: Counter[str] = field(default_factory=Counter)


def asked(books: BookHistory, world: World, moments: Iterable[tuple[str, int]]) -> Asked:
    """Ask for books at instants: how many were exact, how many true, and which were both."""
    found, by_ticker = Asked(), dict[str, set[int]]()
    for ticker, at in moments:
        by_ticker.setdefault(ticker, set()).add(at)
    for ticker, some in by_ticker.items():
        truth = world.truth.books_at(ticker, sorted(some))
        for each, true in zip(books.each(ticker, some), truth, strict=True):
            found.asked += 1
            found.exact += each.exact
            is_true = (each.yes, each.no) == shown(true)
            found.true += is_true
            where = (ticker, each.at_us or 0)
            found.untrue += [] if is_true else [where]
            found.wrong += [f"{ticker} at {each.at_us}"] if each.exact and not is_true else []
            found.doubts.update([each.doubt] if each.doubt else [])
    return found


def before_changes(done: Gathered, count: int) -> list[tuple[str, int]]:
    """Return markets and instants just before their changes, while all still went well."""
    said = [each for each in done.script.deltas if done.begun < each[0] < done.calm_until]
    changes = sorted({(ticker, at - 1) for at, ticker, *_ in said})
    return Random(7).sample(changes, min(count, len(changes)))


def true_book(world: World, ticker: str, at: int) -> tuple[Any, Any]:
    book = next(world.truth.books_at(ticker, (at,)))
    assert book is not None
    return shown(book)


def shown(book: Book) -> tuple[Any, Any]:
    return tuple(map(tuple, book.levels(yes=True))), tuple(map(tuple, book.levels(yes=False)))


def told_book(row: OrderbookSnapshot | store.Keyframe) -> tuple[Any, Any]:
    return (
        tuple(sorted(decode_levels(row.yes_bids).items())),
        tuple(sorted(decode_levels(row.no_bids).items())),
    )


def misplaced(done: Gathered) -> list[Any]:
    """Return the merged books that are not the true ones where they are placed."""
    snapshots = [row for row in rows(done.merged, store.SNAPSHOTS) if row.source == "ws"]
    placed = [(row.snapshot_ts, row) for row in snapshots]
    placed += [(row.taken_at, row) for row in rows(done.merged, store.KEYFRAMES)]
    return [row for at, row in placed if told_book(row) != true_book(done.world, row.ticker, at)]


def missed(done: Gathered) -> dict[str, list[Said]]:
    """Return what each gatherer has not, and has no gap for."""
    truth = since(done.script.deltas, done.begun)
    gaps = rows(done.merged, store.GAPS)
    return {
        source.gatherer: unexplained(
            truth - kept(source.engine), [gap for gap in gaps if gap.gatherer == source.gatherer]
        )
        for source in done.sources
    }
