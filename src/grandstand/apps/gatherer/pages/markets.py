"""The list of markets: search, choose what to record, start and stop recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal, get_args

from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.gatherer.domain.messages import datetime_from_us
from grandstand.apps.gatherer.services import Gatherer
from grandstand.apps.gatherer.services.markets import MarketView
from grandstand.core import formatting
from grandstand.core.errors import GrandstandError
from grandstand.kit.pages.page import AppPages, read_form, redirect_to
from grandstand.kit.pages.rendering import Pages, safe_return, time_tag
from grandstand.kit.pages.table import PAGE_ROWS, Cell, Column, DataTable, Row, Tone
from grandstand.kit.routes import AdminCaller, CurrentCaller, page

Kind = Literal["market", "event", "series", "category"]

NOTICES: Final = {
    "started": "Recording starts within seconds.",
    "stopped": "Recording stops after saving what was received.",
    "chosen": "Saved. A running recorder follows within seconds.",
    "none": "Nothing selected.",
}
_TABLE: Final = "markets"
_MAX_CHOICES: Final = 200
_MAX_CHARS: Final = 200
_COLUMNS: Final = (
    Column("market", "Market"),
    Column("category", "Category", rank=2),
    Column("volume", "24 h volume", "number"),
    Column("bid", "Bid", "number"),
    Column("ask", "Ask", "number"),
    Column("spread", "Spread", "number"),
    Column("state", "State"),
    Column("closes", "Closes", "time", rank=2),
    Column("choose", "Select", sorts=False),
)


class GathererPageGroup(AppPages):
    """Base of the page groups."""

    def __init__(self, gatherer: Gatherer, pages: Pages) -> None:
        super().__init__(pages, "gatherer", {})
        self._gatherer = gatherer


class MarketListPages(GathererPageGroup):
    """Unfinished markets, and what of them is recorded."""

    @page("")
    async def markets(self, request: Request, caller: CurrentCaller) -> Response:
        """The list of markets; an error of the exchange is shown on the page."""
        markets: tuple[MarketView, ...] = ()
        estimate, error_text = None, ""
        try:
            markets = await self._gatherer.markets.list()
            estimate = await self._gatherer.markets.estimate()
        except GrandstandError as error:
            error_text = str(error)
        zone = caller.preferences.time_zone
        return self._render(
            request,
            "markets",
            here="markets",
            table=_table(markets, request.query_params, zone, admin=caller.admin),
            categories=sorted({market.category for market in markets if market.category}),
            estimate=estimate,
            error=error_text,
            recorder=await self._gatherer.recording.status(),
            requested=await self._gatherer.recording.is_requested(),
            choices=await self._gatherer.markets.choices(),
            notice=NOTICES.get(request.query_params.get("notice", ""), ""),
        )

    @page("/start", access="admin")
    async def confirm_start(self, request: Request, caller: AdminCaller) -> Response:
        """The estimate to confirm before recording starts."""
        del caller
        return self._render(
            request,
            "start",
            here="markets",
            estimate=await self._gatherer.markets.estimate(),
            settings=self._gatherer.settings,
        )

    @page("/start", access="admin", method="POST")
    async def start(self, request: Request, caller: AdminCaller) -> Response:
        """Start recording."""
        del request, caller
        await self._gatherer.recording.request(recording=True)
        return redirect_to("/gatherer/recording?notice=started")

    @page("/stop", access="admin", method="POST")
    async def stop(self, request: Request, caller: AdminCaller) -> Response:
        """Stop recording."""
        del request, caller
        await self._gatherer.recording.request(recording=False)
        return redirect_to("/gatherer/recording?notice=stopped")

    @page("/choose", access="admin", method="POST")
    async def choose(self, request: Request, caller: AdminCaller) -> Response:
        """Save the choice for the selected markets, or for what the form names."""
        del caller
        form = await read_form(request)
        kind: Any = _field(form, "kind") or "market"
        action, markets = _field(form, "action"), self._gatherer.markets
        names = [name for name in form.getlist("name") if isinstance(name, str)][:_MAX_CHOICES]
        back = safe_return(_field(form, "back") or "/gatherer")
        if kind not in get_args(Kind) or not names:
            return redirect_to(_with_notice(back, "none"))
        for name in names:
            if action == "clear":
                await markets.clear_choice(kind, name[:_MAX_CHARS])
            else:
                recorded = action != "exclude"
                await markets.choose(kind, name[:_MAX_CHARS], recorded=recorded)
        return redirect_to(_with_notice(back, "chosen"))


def to_datetime(at_us: int | None) -> datetime | None:
    """Convert microseconds since 1970; None and 0 become None."""
    return None if not at_us else datetime_from_us(at_us)


def cents(price: int) -> Decimal:
    """Return a price in cents without trailing zeros."""
    return _normalize(Decimal(price) / 1000)


def contracts(size: int) -> Decimal:
    """Return a size in contracts without trailing zeros."""
    return _normalize(Decimal(size) / 100)


def format_cents(price: int | None) -> str:
    return formatting.EMPTY if price is None else f"{cents(price)}\u00a0¢"


def recording_state(market: MarketView) -> tuple[str, Tone]:
    """Return the label and tone of a market's recording state."""
    if market.stale:
        return "Catching up", "warn"
    if market.followed:
        return "Recording", "good"
    return ("Chosen", "") if market.chosen else ("Excluded", "quiet")


_SORT_KEYS: Final[Mapping[str, Callable[[MarketView], Any]]] = {
    "market": lambda market: market.title.casefold() or market.ticker,
    "category": lambda market: market.category,
    "volume": lambda market: market.volume_24h,
    "bid": lambda market: market.best_yes_bid,
    "ask": lambda market: market.best_yes_ask,
    "spread": lambda market: market.spread,
    "state": lambda market: recording_state(market)[0],
    "closes": lambda market: market.close_ts,
}


def _normalize(value: Decimal) -> Decimal:
    return Decimal(f"{value.normalize():f}")


def _field(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def _with_notice(back: str, notice: str) -> str:
    path, _, query = back.partition("?")
    params = [param for param in query.split("&") if param and not param.startswith("notice=")]
    return f"{path}?{'&'.join([*params, f'notice={notice}'])}"


def _table(
    markets: Sequence[MarketView], params: Mapping[str, str], zone: str, *, admin: bool
) -> DataTable:
    """Return the requested page; only its rows are rendered, for there are thousands."""
    sort = params.get(f"{_TABLE}.sort", "")
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    query = params.get(f"{_TABLE}.find", "").strip()[:_MAX_CHARS]
    matching = [market for market in markets if _matches(market, query.casefold().split())]
    if key in _SORT_KEYS:
        matching = _sorted(matching, _SORT_KEYS[key], descending=descending)
    pages = max(-(-len(matching) // PAGE_ROWS), 1)
    number = params.get(f"{_TABLE}.page", "1")
    at = min(max(int(number) if number.isascii() and number.isdigit() else 1, 1), pages)
    rows = matching[(at - 1) * PAGE_ROWS : at * PAGE_ROWS]
    return DataTable(
        _TABLE,
        "Markets",
        _COLUMNS if admin else _COLUMNS[:-1],
        tuple(_row(market, zone, admin=admin) for market in rows),
        sorted_by=key if key in _SORT_KEYS else "",
        descending=descending,
        sought=query,
        page=at,
        pages=pages,
        found=len(matching),
        stacks=True,
    )


def _matches(market: MarketView, words: Sequence[str]) -> bool:
    if not words:
        return True
    state = recording_state(market)[0]
    text = f"{market.ticker} {market.title} {market.category} {state}".casefold()
    return all(word in text for word in words)


def _sorted(
    markets: list[MarketView], key: Callable[[MarketView], Any], *, descending: bool
) -> list[MarketView]:
    present = [market for market in markets if key(market) is not None]
    missing = [market for market in markets if key(market) is None]
    return sorted(present, key=key, reverse=descending) + missing


def _row(market: MarketView, zone: str, *, admin: bool) -> Row:
    state, tone = recording_state(market)
    title = market.title or market.ticker
    name = Markup('{} <span class="ticker">{}</span>').format(title, market.ticker)
    box = Markup(
        '<input type="checkbox" form="choosing" name="name" value="{0}" aria-label="Select {0}">'
    ).format(market.ticker)
    cells = (
        Cell(name, market.title.casefold(), href=f"/gatherer/markets/{market.ticker}"),
        Cell(market.category),
        Cell(formatting.format_number(contracts(market.volume_24h), 0), market.volume_24h),
        Cell(format_cents(market.best_yes_bid), market.best_yes_bid),
        Cell(format_cents(market.best_yes_ask), market.best_yes_ask),
        Cell(format_cents(market.spread), market.spread),
        Cell(state, tone=tone, badge=True),
        Cell(time_tag(to_datetime(market.close_ts), zone), market.close_ts),
        Cell(box),
    )
    return Row(market.ticker, cells if admin else cells[:-1])
