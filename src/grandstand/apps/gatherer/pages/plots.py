"""Kept here: the gatherer's charts: prices with trades, the depth of a book, depth over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grandstand.apps.gatherer.model.book import WHOLE
from grandstand.apps.gatherer.model.messages import Levels
from grandstand.apps.gatherer.service import Trade
from grandstand.apps.gatherer.service.asking import DepthPoint
from grandstand.apps.gatherer.service.watching import trade_point
from grandstand.kit.charts import Axis, Chart, Plot, Row

_TIME = Axis("Time", "time")
_MICRO = 1_000_000
_A_CENT = 1000
_A_CONTRACT = 100


def price_chart(
    ticker: str, points: Sequence[DepthPoint], trades: Iterable[Trade], hours: int
) -> Chart:
    """Best prices and trades, given newest first; open pages get more as they come."""
    made = tuple(trade_point(one) for one in trades)
    return Chart(
        title="Price of yes",
        note="Best bid, best ask, and every trade.",
        x=_TIME,
        y=Axis("Price", unit="¢", digits=1),
        plots=(
            Plot("Bid", "step", tuple(_best(one, one.best_yes_bid) for one in points), "good"),
            Plot("Ask", "step", tuple(_best(one, one.best_yes_ask) for one in points), "bad"),
            Plot("Trades", "scatter", tuple(sorted(made)), "1"),
        ),
        topic=f"gatherer/price/{ticker}",
        keep_seconds=hours * 3600.0,
        height=320,
    )


def depth_chart(yes: Levels, no: Levels) -> Chart:
    """How much can be had up to each price, on both sides of a book given lowest price first."""
    return Chart(
        title="Depth",
        note="Contracts up to each price.",
        x=Axis("Price", unit="¢", digits=1),
        y=Axis("Contracts", digits=0),
        plots=(
            Plot("Bids", "area", _cumulated(reversed(yes))[::-1], "good"),
            Plot(
                "Asks", "area", _cumulated((WHOLE - at, size) for at, size in reversed(no)), "bad"
            ),
        ),
        height=260,
    )


def resting_chart(points: Sequence[DepthPoint]) -> Chart:
    """What was bid and offered in all over time."""
    return Chart(
        title="Resting in the book",
        note="All contracts bid and offered.",
        x=_TIME,
        y=Axis("Contracts", digits=0),
        plots=(
            Plot("Bids", "step", tuple(_size(one, one.bid_depth) for one in points), "good"),
            Plot("Asks", "step", tuple(_size(one, one.ask_depth) for one in points), "bad"),
        ),
        height=260,
    )


def pace_chart(now: float, per_second: float) -> Chart:
    """Messages a second, from this moment on."""
    return Chart(
        title="Messages a second",
        note="Since this page was opened, ten minutes at most.",
        x=_TIME,
        y=Axis("Messages", digits=0),
        plots=(Plot("Messages", "area", ((now, round(per_second)),), "1"),),
        keep_seconds=600.0,
        height=220,
    )


def _best(point: DepthPoint, price: int | None) -> Row:
    return point.at_us / _MICRO, None if price is None else price / _A_CENT


def _size(point: DepthPoint, size: int) -> Row:
    return point.at_us / _MICRO, size / _A_CONTRACT


def _cumulated(levels: Iterable[tuple[int, int]]) -> tuple[Row, ...]:
    rows: list[Row] = []
    total = 0
    for price, size in levels:
        total += size
        rows.append((price / _A_CENT, total / _A_CONTRACT))
    return tuple(rows)
