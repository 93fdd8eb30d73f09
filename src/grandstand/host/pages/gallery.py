"""The gallery: every page element with sample data, for developers."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from random import Random
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.core import formatting
from grandstand.core.clock import Clock
from grandstand.kit.charts import Axis, Chart, Plot, sparkline
from grandstand.kit.live import LiveHub
from grandstand.kit.pages.page import redirect_to
from grandstand.kit.pages.rendering import Pages
from grandstand.kit.pages.table import Cell, Column, DataTable, Row, Tone
from grandstand.kit.routes import page

POINTS: Final = 100_000
_MINUTES: Final = 240
_RUNNERS: Final = (
    "Aldermere", "Brass Lantern", "Cloudberry", "Driftwood Bay", "Evening Post", "Fen Harrier",
    "Gallant Thrush", "Halyard", "Inkwell", "Juniper Lane", "Kestrel's Gate", "Long Meadow",
    "Merrow", "Northern Quarry", "Old Foundry", "Pepperwort", "Quiet Tide", "Rook's Nest",
    "Saltmarsh", "Tamarisk", "Umber", "Vetiver", "Windfall", "Yarrow Hill",
)  # fmt: skip
_OVERS: Final = 20
_GAP: Final = range(101, 112)


def _walk(random: Random, count: int, start: float, step: float) -> list[float]:
    values, now = list[float](), start
    for _ in range(count):
        now += random.gauss(0, step)
        values.append(round(now, 3))
    return values


def price_chart(now: datetime, topic: str) -> Chart:
    """Return a line and a band over four hours, with live updates."""
    random = Random(7)  # noqa: S311 - made-up values
    start = now - timedelta(minutes=_MINUTES)
    times = [(start + timedelta(minutes=at)).timestamp() for at in range(_MINUTES)]
    middle = _walk(random, _MINUTES, 54, 0.45)
    spread = [1.2 + abs(math.sin(at / 30)) for at in range(_MINUTES)]
    last = tuple(
        (when, None if at in _GAP else value)
        for at, (when, value) in enumerate(zip(times, middle, strict=True))
    )
    band = tuple(
        (when, round(value - wide, 2), round(value + wide, 2))
        for when, value, wide in zip(times, middle, spread, strict=True)
    )
    return Chart(
        "Price and spread",
        Axis("Time", "time"),
        Axis("Price", unit="¢", digits=1),
        (Plot("Bid and ask", "band", band), Plot("Last", "line", last, "1")),
        note="A gap stays a gap; new points arrive live.",
        topic=topic,
    )


def candle_chart(now: datetime) -> Chart:
    """Return candles over sixty days."""
    random, rows, close = Random(11), [], 100.0  # noqa: S311 - made-up values
    for day in range(60):
        opened = close
        close = round(opened + random.gauss(0.1, 2), 2)
        high = round(max(opened, close) + abs(random.gauss(0, 1)), 2)
        low = round(min(opened, close) - abs(random.gauss(0, 1)), 2)
        at = (now - timedelta(days=60 - day)).timestamp()
        rows.append((at, opened, high, low, close))
    days = Plot("Day", "candles", tuple(rows))
    return Chart("Sixty days", Axis("Day", "time"), Axis("Price", digits=2), (days,))


def runs_chart() -> Chart:
    """Return bars and steps over names."""
    random = Random(3)  # noqa: S311 - made-up values
    runs = [random.choice((2, 4, 5, 6, 7, 8, 9, 11, 14, 18)) for _ in range(_OVERS)]
    total = [sum(runs[: at + 1]) / 8 for at in range(_OVERS)]
    names = tuple(str(over + 1) for over in range(_OVERS))
    bars = tuple((at, float(value)) for at, value in enumerate(runs))
    steps = tuple((at, value) for at, value in enumerate(total))
    return Chart(
        "Runs an over",
        Axis("Over", "name", names=names),
        Axis("Runs", digits=0),
        (Plot("Runs", "bar", bars, "3"), Plot("Total ÷ 8", "step", steps, "2")),
    )


@cache
def many_chart() -> Chart:
    """Return an area of a hundred thousand points with one spike."""
    random = Random(5)  # noqa: S311 - made-up values
    values = _walk(random, POINTS, 200, 0.4)
    values[POINTS // 3] += 80
    rows = tuple((at, value) for at, value in enumerate(values))
    plot = Plot("Level", "area", rows, "6")
    return Chart(
        "A hundred thousand points", Axis("Row", digits=0), Axis("Level", digits=1), (plot,),
        note="Thinned to what pixels can show; the spike stays.",
    )  # fmt: skip


def scatter_chart() -> Chart:
    """Return points in two groups."""
    random = Random(9)  # noqa: S311 - made-up values
    groups = tuple(
        Plot(
            name,
            "scatter",
            tuple(
                sorted(
                    (round(random.gauss(x, 8), 2), round(random.gauss(y, 4), 2)) for _ in range(120)
                )
            ),
        )
        for name, x, y in (("Turf", 40.0, 30.0), ("Dirt", 62.0, 42.0))
    )
    return Chart("Speed and stamina", Axis("Speed", digits=1), Axis("Stamina", digits=1), groups)


def runners_table(now: datetime) -> DataTable:
    """Return two dozen runners with every kind of cell."""
    random = Random(21)  # noqa: S311 - made-up values
    columns = (
        Column("draw", "Draw", "number"),
        Column("name", "Runner"),
        Column("odds", "Odds", "number"),
        Column("move", "Move", "number"),
        Column("form", "Form", sorts=False, rank=2),
        Column("seen", "Last run", "time", rank=2),
        Column("state", "State"),
    )
    rows = tuple(
        Row(f"runner-{draw}", _runner(random, draw, name, now))
        for draw, name in enumerate(_RUNNERS, 1)
    )
    return DataTable("runners", "Runners", columns, rows, csv_href="/platform/gallery/runners.csv")


def paged_table(now: datetime) -> DataTable:
    """Return the same runners as a paged table."""
    return replace(runners_table(now), name="paged", caption="Runners, paged", csv_href="")


def _runner(random: Random, draw: int, name: str, now: datetime) -> tuple[Cell, ...]:
    price = round(random.uniform(1.4, 40), 2)
    move = round(random.gauss(0, 3), 1)
    seen = now - timedelta(days=random.randint(3, 90))
    state, tone = _state(draw)
    form = [random.randint(1, 12) for _ in range(8)]
    return (
        Cell(str(draw), draw),
        Cell(name, href="#table-title"),
        Cell(formatting.format_odds(price, "decimal"), price),
        Cell(
            formatting.format_number(move, 1, signed=True), move, tone="good" if move > 0 else "bad"
        ),
        Cell(sparkline([13 - place for place in form], f"Form of {name}"), None),
        Cell(formatting.format_time(seen, "UTC", "day"), seen),
        Cell(state, tone=tone, badge=True),
    )


def _state(draw: int) -> tuple[str, Tone]:
    if draw % 7 == 0:
        return "withdrawn", "bad"
    return ("late", "warn") if draw % 5 == 0 else ("runs", "good")


def book(shift: int = 0) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return bids and asks of a market, best first."""
    random = Random(13 + shift)  # noqa: S311 - made-up values
    middle = 54 + shift
    bids = [(middle - at, random.randint(20, 900)) for at in range(7)]
    asks = [(middle + 2 + at, random.randint(20, 900)) for at in range(7)]
    return bids, asks


CHART_TOPIC: Final = "platform/gallery-chart"
BOOK_TOPIC: Final = "platform/gallery-book"
WORK_TOPIC: Final = "platform/gallery-work"
_STEPS: Final = 40


class GalleryPages:
    """The gallery page."""

    def __init__(self, pages: Pages, hub: LiveHub, clock: Clock) -> None:
        self._pages = pages
        self._hub = hub
        self._clock = clock
        self._published = 0

    @page("/platform/gallery")
    async def gallery(self, request: Request) -> Response:
        """The gallery."""
        now = self._clock.now()
        bids, asks = book()
        return self._pages.render(
            request,
            "platform/gallery.html",
            table=runners_table(now).view(request.query_params),
            paged=paged_table(now).view(request.query_params, page_rows=6),
            price=price_chart(now, CHART_TOPIC),
            candles=candle_chart(now),
            runs=runs_chart(),
            many=many_chart(),
            scatter=scatter_chart(),
            nothing=Chart(
                "Nothing yet", Axis("Time", "time"), Axis("Price"), (Plot("Last", "line", ()),)
            ),
            bids=bids,
            asks=asks,
            topics={"book": BOOK_TOPIC, "work": WORK_TOPIC},
            done=self._published,
            steps=_STEPS,
            notice="Sample messages published." if "published" in request.query_params else "",
        )

    @page("/platform/gallery/runners.csv")
    async def runners(self) -> Response:
        """The sample table as CSV."""
        table = runners_table(self._clock.now())
        headers = {"content-disposition": 'attachment; filename="runners.csv"'}
        return Response(table.csv(), headers=headers, media_type="text/csv")

    @page("/platform/gallery/publish", method="POST")
    async def publish(self) -> Response:
        """Publish sample messages to the gallery."""
        self._published = self._published % _STEPS + 1
        bids, asks = book(self._published % 5)
        row = [self._clock.epoch(), 54 + self._published % 7]
        self._hub.publish(CHART_TOPIC, {"plot": "Last", "rows": [row]})
        self._hub.publish(BOOK_TOPIC, {"bids": bids, "asks": asks})
        self._hub.publish(WORK_TOPIC, {"done": self._published, "total": _STEPS})
        return redirect_to("/platform/gallery?published")
