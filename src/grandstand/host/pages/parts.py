"""Kept here: the gallery: every part of pages with made-up values, for people who build pages."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.base.clock import Clock
from grandstand.host.pages import samples
from grandstand.kit.live import Hub
from grandstand.kit.pages.forms import lead_to
from grandstand.kit.pages.rendering import Pages
from grandstand.kit.routes import page

CHART_TOPIC: Final = "house/parts-chart"
BOOK_TOPIC: Final = "house/parts-book"
WORK_TOPIC: Final = "house/parts-work"
_STEPS: Final = 40


class PartsPages:
    """Every part once, in the state in which apps meet it."""

    def __init__(self, pages: Pages, hub: Hub, clock: Clock) -> None:
        self._pages = pages
        self._hub = hub
        self._clock = clock
        self._told = 0

    @page("/house/parts")
    async def gallery(self, request: Request) -> Response:
        """The gallery."""
        now = self._clock.now()
        bids, asks = samples.book()
        return self._pages.render(
            request,
            "house/parts.html",
            table=samples.runners_table(now).view(request.query_params),
            paged=samples.paged_table(now).view(request.query_params, page_rows=6),
            price=samples.price_chart(now, CHART_TOPIC),
            candles=samples.candle_chart(now),
            runs=samples.runs_chart(),
            many=samples.many_chart(),
            scatter=samples.scatter_chart(),
            nothing=samples.empty_chart(now),
            bids=bids,
            asks=asks,
            topics={"book": BOOK_TOPIC, "work": WORK_TOPIC},
            done=self._told,
            steps=_STEPS,
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    @page("/house/parts/runners.csv")
    async def runners(self) -> Response:
        """The sample table as CSV."""
        table = samples.runners_table(self._clock.now())
        headers = {"content-disposition": 'attachment; filename="runners.csv"'}
        return Response(table.csv(), headers=headers, media_type="text/csv")

    @page("/house/parts/tell", method="POST")
    async def tell(self) -> Response:
        """Pass sample news on to whoever looks at the gallery."""
        self._told = self._told % _STEPS + 1
        bids, asks = samples.book(self._told % 5)
        row = [self._clock.epoch(), 54 + self._told % 7]
        self._hub.tell(CHART_TOPIC, {"plot": "Last", "rows": [row]})
        self._hub.tell(BOOK_TOPIC, {"bids": bids, "asks": asks})
        self._hub.tell(WORK_TOPIC, {"done": self._told, "total": _STEPS})
        return lead_to("/house/parts?said=told")


_SAID: Final = {"told": "Sample news were passed on."}
