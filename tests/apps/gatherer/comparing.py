"""What gatherers have compared with what happened: deltas and gaps, and books at instants."""

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, Final, cast

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.service.asking.books import Books
from grandstand.apps.gatherer.store.keyframes import parse_levels
from grandstand.simulators.exchange.world import World
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import Window
from tests.apps.gatherer.gathering import EVER, Gathered, rows
from tests.apps.gatherer.heard import Said, delta_kept

SLACK_US: Final = 2_000_000
_ASKED: Final[tuple[Series[Any], ...]] = (
    store.DELTAS,
    store.SNAPSHOTS,
    store.KEYFRAMES,
    store.AUDITS,
)


def kept(engine: SeriesEngine) -> Counter[Said]:
    return Counter(map(delta_kept, rows(engine, store.DELTAS)))


def since(said: Counter[Said], begun: int) -> Counter[Said]:
    return Counter({each: count for each, count in said.items() if each[0] >= begun})


def unexplained(missing: Counter[Said], gaps: list[store.Gap]) -> list[Said]:
    """Answer the deltas that are missing and in none of these gaps."""
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


def _span(gap: store.Gap, closed: dict[Any, int | None]) -> tuple[int, int]:
    """Answer the exchange times a gap lies between: of its neighbours, where they are known."""
    start = gap.detected_at - SLACK_US if gap.from_ts is None else gap.from_ts
    if gap.reason in {"missed", "refused"}:
        return start, gap.detected_at + SLACK_US if gap.to_ts is None else gap.to_ts
    return start, (closed.get(_identity(gap)) or EVER) + SLACK_US


def _identity(gap: store.Gap) -> tuple[int, str, int, int, int]:
    return gap.detected_at, gap.gatherer, gap.conn, gap.sid, gap.expected_seq


class _Held:
    """Everything a store has, in memory: a thousand questions cost as much as one."""

    def __init__(self, engine: SeriesEngine) -> None:
        self._rows: dict[tuple[str, str | None], list[Any]] = {}
        for series in (*_ASKED, store.GAPS, store.SESSIONS):
            for row in rows(engine, series):
                self._rows.setdefault((series.name, None), []).append(row)
                name = (series.name, getattr(row, series.key))
                self._rows.setdefault(name, []).append(row)

    def read(self, window: Window[Any]) -> Iterator[Any]:
        series = window.series
        keys: tuple[str | None, ...] = window.keys or (None,)
        kept = [row for key in keys for row in self._rows.get((series.name, key), ())]
        found = [row for row in kept if window.start <= getattr(row, series.time) < window.end]
        found.sort(key=lambda row: getattr(row, series.time), reverse=window.order == "newest")
        return iter(found[: window.most])


def held(engine: SeriesEngine) -> SeriesEngine:
    return cast("SeriesEngine", _Held(engine))


def instants(world: World, span: tuple[int, int], count: int) -> list[tuple[str, int]]:
    """Answer random instants of random markets whose book ever changed."""
    draw = Random(7)
    tickers = [ticker for ticker in world.truth.tickers if next(world.truth.deltas(ticker), None)]
    return [(draw.choice(tickers), draw.randrange(*span)) for _ in range(count)]


def asked(
    books: Books, world: World, moments: list[tuple[str, int]]
) -> tuple[int, list[str], Counter[str]]:
    """Ask for books at instants: how many were sure, which of those were wrong, and why not."""
    found = [books.at(ticker, at) for ticker, at in moments]
    sure = [(each, at) for each, (_, at) in zip(found, moments, strict=True) if not each.doubt]
    wrong = [
        f"{each.ticker} at {at}"
        for each, at in sure
        if (each.yes, each.no) != true_book(world, each.ticker, at)
    ]
    return len(sure), wrong, Counter(each.doubt for each in found if each.doubt)


def before_changes(done: Gathered, count: int) -> list[tuple[str, int]]:
    """Answer markets and instants just before their changes, while all still went well."""
    said = [each for each in done.script.deltas if done.begun < each[0] < done.calm_until]
    changes = sorted({(ticker, at - 1) for at, ticker, *_ in said})
    return Random(7).sample(changes, min(count, len(changes)))


def true_book(world: World, ticker: str, at: int) -> tuple[Any, Any]:
    book = world.truth.book_at(ticker, at)
    assert book is not None
    return (
        tuple(map(tuple, book.levels(yes=True))),
        tuple(map(tuple, book.levels(yes=False))),
    )


def told_book(row: store.OrderbookSnapshot | store.Keyframe) -> tuple[Any, Any]:
    return (
        tuple(sorted(parse_levels(row.yes_bids).items())),
        tuple(sorted(parse_levels(row.no_bids).items())),
    )


def misplaced(done: Gathered) -> list[Any]:
    """Answer the merged books that are not the true ones where they are placed."""
    snapshots = [row for row in rows(done.merged, store.SNAPSHOTS) if row.source == "ws"]
    placed = [(row.snapshot_ts, row) for row in snapshots]
    placed += [(row.taken_at, row) for row in rows(done.merged, store.KEYFRAMES)]
    return [row for at, row in placed if told_book(row) != true_book(done.world, row.ticker, at)]


def missed(done: Gathered) -> dict[str, list[Said]]:
    """Answer what each gatherer has not, and has no gap for."""
    truth = since(done.script.deltas, done.begun)
    gaps = rows(done.merged, store.GAPS)
    return {
        source.gatherer: unexplained(
            truth - kept(source.engine), [gap for gap in gaps if gap.gatherer == source.gatherer]
        )
        for source in done.sources
    }
