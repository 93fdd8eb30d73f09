"""Kept here: the gatherer's routes: who asks, what is asked, and the form of the answer."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Path, Query
from pydantic import AwareDatetime

from grandstand.apps.gatherer.api import examples
from grandstand.apps.gatherer.api.models import (
    BookModel,
    CandleList,
    CandleModel,
    CoverageList,
    CoveredModel,
    DepthList,
    DepthPointModel,
    FillModel,
    GapList,
    GapModel,
    HistoryList,
    MarketEventModel,
    MarketList,
    MarketModel,
    ReportModel,
    TradeList,
    TradeModel,
    VolumeList,
    VolumeModel,
    us_of,
)
from grandstand.apps.gatherer.api.recording_models import (
    CheckModel,
    ChoiceAsked,
    ChoiceKind,
    ChoiceList,
    ChoiceModel,
    EstimateModel,
    FindingModel,
    IngestModel,
    RecordingAsked,
)
from grandstand.apps.gatherer.model.filling import Order
from grandstand.apps.gatherer.model.numbers import parse_price, parse_size
from grandstand.apps.gatherer.service import Gatherer, MarketNotFound, MarketView
from grandstand.apps.gatherer.service.asking import BookAt, TooManyPoints
from grandstand.base.errors import SourceFailed
from grandstand.kit.routes import WRITTEN, Who, delete, get, post, put

_HOUR_US: Final = 3_600_000_000
_DAY_US: Final = 24 * _HOUR_US
_MOST_DAYS: Final = 31
_MICRO: Final = 1_000_000

Ticker = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9._:@=-]{1,100}$", examples=["KXBTCD-26NOV1617-T97500"])
]
Name = Annotated[str, Path(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f/*]+$")]
Limit = Annotated[int, Query(ge=1, le=1000, examples=[100])]
Every = Annotated[int, Query(ge=1, le=31 * 86_400, examples=[60])]
Find = Annotated[str, Query(max_length=200)]
Cursor = Annotated[str | None, Query(max_length=4000)]
At = Annotated[AwareDatetime | None, Query(examples=["2026-11-16T12:00:00Z"]), WRITTEN]
Decimals = r"^[0-9]{1,12}(\.[0-9]{1,5})?$"


class GathererApi:
    """The gatherer for programs."""

    def __init__(self, gatherer: Gatherer) -> None:
        self._gatherer = gatherer
        self._cursors = gatherer.cursors

    @get(
        "/markets",
        summary="Markets that are not over",
        problems=(SourceFailed,),
        example={"markets": [examples.MARKET], "cursor": None},
    )
    async def markets(
        self,
        who: Who,
        *,
        find: Find = "",
        series: Find = "",
        category: Find = "",
        chosen: bool | None = None,
        limit: Limit = 100,
        cursor: Cursor = None,
    ) -> MarketList:
        """Markets, the most traded first; `find` looks for words in tickers and titles."""
        question = f"gatherer.markets/{find}/{series}/{category}/{chosen}"
        position = _place(self._cursors.read(who, question, cursor))
        words = find.casefold().split()
        left = [
            one
            for one in await self._gatherer.markets()
            if series in ("", one.series_ticker)
            and category in ("", one.category)
            and chosen in (None, one.chosen)
            and all(word in f"{one.ticker} {one.title}".casefold() for word in words)
            and (position is None or _rank(one) > position)
        ]
        left.sort(key=_rank)
        last = left[limit - 1] if len(left) > limit else None
        after = None if last is None else f"{last.volume_24h} {last.ticker}"
        return MarketList(
            markets=tuple(map(MarketModel.model_validate, left[:limit])),
            cursor=self._cursors.write(who, question, after),
        )

    @get(
        "/markets/{ticker}",
        summary="One market",
        problems=(MarketNotFound, SourceFailed),
        example=examples.MARKET,
    )
    async def market(self, ticker: Ticker) -> MarketModel:
        """A market that is not over."""
        return MarketModel.model_validate(await self._gatherer.market(ticker))

    @get("/markets/{ticker}/book", summary="A book, now or at an instant", example=examples.BOOK)
    async def book(self, ticker: Ticker, at: At = None) -> BookModel:
        """The book as it is, or as it was after every change up to an instant."""
        live = None if at is not None else self._gatherer.book(ticker)
        if live is not None:
            return BookModel.of(BookAt(ticker, None, *live.levels()), live=True)
        at_us = None if at is None else us_of(at)
        return BookModel.of(await self._gatherer.asking.book(ticker, at_us), live=False)

    @get(
        "/markets/{ticker}/trades",
        summary="Recent trades",
        example={"trades": [examples.TRADE]},
    )
    async def trades(self, ticker: Ticker, limit: Limit = 100, before: At = None) -> TradeList:
        """The newest trades, or those before a moment, newest first."""
        asking = self._gatherer.asking
        if before is None:
            found = await asking.recent_trades(ticker, limit)
        else:
            found = await asking.recent_trades(ticker, limit, us_of(before))
        return TradeList(trades=tuple(map(TradeModel.model_validate, found)))

    @get("/markets/{ticker}/candles", summary="Prices over time", problems=(TooManyPoints,))
    async def candles(
        self, ticker: Ticker, start: At = None, end: At = None, every_seconds: Every = 60
    ) -> CandleList:
        """First, highest, lowest and last price of each stretch that holds trades."""
        since, until = self._stretch(start, end)
        every = every_seconds * _MICRO
        found = await self._gatherer.asking.candles(ticker, since, until, every)
        return CandleList(candles=tuple(map(CandleModel.model_validate, found)))

    @get("/markets/{ticker}/depth", summary="Spread and depth over time", problems=(TooManyPoints,))
    async def depth(
        self, ticker: Ticker, start: At = None, end: At = None, every_seconds: Every = 60
    ) -> DepthList:
        """Best prices, and what was bid and offered in all, at regular instants."""
        since, until = self._stretch(start, end)
        every = every_seconds * _MICRO
        found = await self._gatherer.asking.depth(ticker, since, until, every)
        return DepthList(points=tuple(map(DepthPointModel.model_validate, found)))

    @get(
        "/markets/{ticker}/fill",
        summary="What an order would have got",
        example=examples.FILL,
    )
    async def fill(
        self,
        ticker: Ticker,
        *,
        size: Annotated[str, Query(pattern=Decimals, examples=["150.00"])],
        side: Literal["yes", "no"] = "yes",
        action: Literal["buy", "sell"] = "buy",
        limit: Annotated[str | None, Query(pattern=Decimals, examples=["0.5400"])] = None,
        at: At = None,
    ) -> FillModel:
        """What the book would have given an order that came at an instant, and at what price."""
        order = Order(
            side=side == "yes",
            buys=action == "buy",
            size=parse_size(size),
            limit=None if limit is None else parse_price(limit),
        )
        at_us = None if at is None else us_of(at)
        return FillModel.of(await self._gatherer.asking.fill(ticker, order, at_us))

    @get("/markets/{ticker}/history", summary="What became known of a market")
    async def history(self, ticker: Ticker, limit: Limit = 100) -> HistoryList:
        """What was told of a market or event, newest first."""
        found = await self._gatherer.asking.history(ticker, limit)
        return HistoryList(events=tuple(map(MarketEventModel.model_validate, found)))

    @get("/volumes", summary="What was traded most")
    async def volumes(
        self, hours: Annotated[int, Query(ge=1, le=744)] = 24, limit: Limit = 100
    ) -> VolumeList:
        """Recorded trades of the last hours added up by market, block trades left out."""
        asking, now = self._gatherer.asking, self._gatherer.now_us()
        found = await asking.volumes(now, limit, over_us=hours * _HOUR_US)
        return VolumeList(volumes=tuple(map(VolumeModel.model_validate, found)))

    @get(
        "/coverage",
        summary="How complete the recording is",
        problems=(TooManyPoints,),
        example={"hours": [examples.COVERED]},
    )
    async def coverage(
        self,
        start: At = None,
        end: At = None,
        ticker: Annotated[str | None, Query(max_length=100)] = None,
    ) -> CoverageList:
        """Of each market and hour: what was expected and seen, its gaps and audits."""
        since, until = self._stretch(start, end, _DAY_US)
        found = await self._gatherer.coverage(since, until, ticker)
        return CoverageList(hours=tuple(map(CoveredModel.model_validate, found)))

    @get("/gaps", summary="What was missed", problems=(TooManyPoints,))
    async def gaps(self, start: At = None, end: At = None) -> GapList:
        """The gaps found in a stretch of time, each once, with its end."""
        found = await self._gatherer.gaps(*self._stretch(start, end, _DAY_US))
        return GapList(gaps=tuple(map(GapModel.model_validate, found)))

    @get("/report", summary="A stretch of time in one answer", problems=(TooManyPoints,))
    async def report(self, start: At = None, end: At = None) -> ReportModel:
        """How whole a stretch was recorded, the last day unless another is named."""
        found = await self._gatherer.reporting.read(*self._stretch(start, end, _DAY_US))
        return ReportModel.model_validate(found)

    @get("/ingest", summary="How recording goes")
    async def ingest(self) -> IngestModel:
        """Counts since the start, how long rows take, and every connection."""
        return IngestModel.model_validate(await self._gatherer.ingest())

    @get(
        "/estimate",
        summary="What recording would take",
        problems=(SourceFailed,),
        example=examples.ESTIMATE,
    )
    async def estimate(self) -> EstimateModel:
        """Rows and bytes a day of the markets chosen, and how long the disk will do."""
        return EstimateModel.model_validate(await self._gatherer.estimate())

    @get("/choices", summary="What is to be recorded")
    async def choices(self) -> ChoiceList:
        """What was chosen, and whether recording is asked for."""
        return await self._choices()

    @put("/choices/{kind}/{name}", summary="Choose what is recorded", access="admin")
    async def choose(self, kind: ChoiceKind, name: Name, given: ChoiceAsked) -> ChoiceList:
        """Everything that is chosen then."""
        await self._gatherer.choose(kind, name, recorded=given.recorded)
        return await self._choices()

    @delete("/choices/{kind}/{name}", summary="Choose nothing about it", access="admin")
    async def choose_nothing(self, kind: ChoiceKind, name: Name) -> None:
        """Nothing: what else is chosen decides now."""
        await self._gatherer.choose_nothing(kind, name)

    @post("/recording", summary="Start or stop recording", access="admin")
    async def recording(self, given: RecordingAsked) -> ChoiceList:
        """What is asked for now; the job that records follows within seconds."""
        await self._gatherer.ask_for(recording=given.recording)
        return await self._choices()

    @post("/check", summary="Try whether recording could begin", access="admin")
    async def check(self) -> CheckModel:
        """What was found: the exchange, the clock, the key, the stream and the disk."""
        found = await self._gatherer.check()
        findings = tuple(map(FindingModel.model_validate, found))
        return CheckModel(well=all(each.well for each in found), findings=findings)

    async def _choices(self) -> ChoiceList:
        found = await self._gatherer.choices()
        return ChoiceList(
            recording=await self._gatherer.asked_for(),
            choices=tuple(map(ChoiceModel.model_validate, found)),
        )

    def _stretch(self, start: At, end: At, usual_us: int = _HOUR_US) -> tuple[int, int]:
        """Answer a stretch of time, up to now and as long as usual where nothing is said."""
        until = self._gatherer.now_us() if end is None else us_of(end)
        since = max(0, until - usual_us) if start is None else us_of(start)
        if not 0 <= until - since <= _MOST_DAYS * _DAY_US:
            raise TooManyPoints(f"Ask for a stretch of {_MOST_DAYS} days at most, start before end")
        return since, until


def _rank(market: MarketView) -> tuple[int, str]:
    return -market.volume_24h, market.ticker


def _place(position: str | None) -> tuple[int, str] | None:
    if position is None:
        return None
    volume, _, ticker = position.partition(" ")
    return -int(volume), ticker
