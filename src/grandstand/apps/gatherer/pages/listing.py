"""Kept here: the list of markets: looked through, chosen from, and recording begun and stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, get_args

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.gatherer.pages.part import PagesPart, cents_text, contracts, moment, text_in
from grandstand.apps.gatherer.service import MarketView
from grandstand.base.errors import GrandstandError
from grandstand.kit.pages import shown
from grandstand.kit.pages.forms import form_of, lead_to
from grandstand.kit.pages.rendering import safe_return
from grandstand.kit.pages.table import PAGE_ROWS, Cell, Column, DataTable, Row, Tone
from grandstand.kit.routes import Admin, Who, page

Kind = Literal["market", "event", "series", "category"]

_NAME: Final = "markets"
_MOST_CHOSEN: Final = 200
_LONGEST: Final = 200
_COLUMNS: Final = (
    Column("market", "Market"),
    Column("category", "Category", rank=2),
    Column("volume", "24 h volume", "number"),
    Column("bid", "Bid", "number"),
    Column("ask", "Ask", "number"),
    Column("spread", "Spread", "number"),
    Column("state", "State"),
    Column("closes", "Closes", "time", rank=2),
    Column("choose", "Choose", sorts=False),
)
_SAID: Final = {
    "started": "Recording is asked for; it begins within seconds.",
    "stopped": "Recording stops; what was received is kept first.",
    "chosen": "Chosen. A running recording follows within seconds.",
    "none": "Nothing was marked, so nothing changed.",
}


class MarketPages(PagesPart):
    """Markets that are not over, and what of them is recorded."""

    @page("")
    async def markets(self, request: Request, who: Who) -> Response:
        """The markets asked for; what the exchange does not answer is said, not raised."""
        found: tuple[MarketView, ...] = ()
        estimate, fault = None, ""
        try:
            found = await self._gatherer.markets()
            estimate = await self._gatherer.estimate()
        except GrandstandError as failed:
            fault = str(failed)
        return self._render(
            request,
            "markets",
            here="markets",
            table=_table(found, request.query_params, who.preferences.time_zone, admin=who.admin),
            categories=sorted({one.category for one in found if one.category}),
            estimate=estimate,
            fault=fault,
            ingest=await self._gatherer.ingest(),
            asked=await self._gatherer.asked_for(),
            choices=await self._gatherer.choices(),
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    @page("/start", access="admin")
    async def before_start(self, request: Request, who: Admin) -> Response:
        """What recording will take, to be agreed to; raises what REST raises."""
        del who
        return self._render(
            request,
            "start",
            here="markets",
            estimate=await self._gatherer.estimate(),
            settings=self._gatherer.settings,
        )

    @page("/start", access="admin", method="POST")
    async def start(self, request: Request, who: Admin) -> Response:
        """Ask for recording and lead to where it can be followed."""
        del request, who
        await self._gatherer.ask_for(recording=True)
        return lead_to("/gatherer/recording?said=started")

    @page("/stop", access="admin", method="POST")
    async def stop(self, request: Request, who: Admin) -> Response:
        """Ask for recording to stop."""
        del request, who
        await self._gatherer.ask_for(recording=False)
        return lead_to("/gatherer/recording?said=stopped")

    @page("/choose", access="admin", method="POST")
    async def choose(self, request: Request, who: Admin) -> Response:
        """Choose what was marked, or the one thing a form names, and lead back."""
        del who
        form = await form_of(request)
        kind, what = text_in(form, "kind") or "market", text_in(form, "what")
        names = [name for name in form.getlist("name") if isinstance(name, str)][:_MOST_CHOSEN]
        back = safe_return(text_in(form, "back") or "/gatherer")
        if kind not in get_args(Kind) or not names:
            return lead_to(_with_said(back, "none"))
        for name in names:
            await self._choose(kind, name[:_LONGEST], what)
        return lead_to(_with_said(back, "chosen"))

    async def _choose(self, kind: Any, name: str, what: str) -> None:  # noqa: ANN401 - checked
        if what == "forget":
            await self._gatherer.choose_nothing(kind, name)
        else:
            await self._gatherer.choose(kind, name, recorded=what != "leave")


def _with_said(back: str, said: str) -> str:
    path, _, query = back.partition("?")
    kept = [part for part in query.split("&") if part and not part.startswith("said=")]
    return f"{path}?{'&'.join([*kept, f'said={said}'])}"


def state_of(market: MarketView) -> tuple[str, Tone]:
    """Say in a word or two what recording makes of a market, and in which tone."""
    if market.stale:
        return "Catching up", "warn"
    if market.followed:
        return "Recording", "good"
    return ("Chosen", "") if market.chosen else ("Left out", "quiet")


_SORTS: Final[Mapping[str, Callable[[MarketView], Any]]] = {
    "market": lambda one: one.title.casefold() or one.ticker,
    "category": lambda one: one.category,
    "volume": lambda one: one.volume_24h,
    "bid": lambda one: one.best_yes_bid,
    "ask": lambda one: one.best_yes_ask,
    "spread": lambda one: one.spread,
    "state": lambda one: state_of(one)[0],
    "closes": lambda one: one.close_ts,
}


def _table(
    found: Sequence[MarketView], query: Mapping[str, str], zone: str, *, admin: bool
) -> DataTable:
    """Answer the page asked for; rows are made of that page only, for there are thousands."""
    sort = query.get(f"{_NAME}.sort", "")
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    sought = query.get(f"{_NAME}.find", "").strip()[:_LONGEST]
    kept = [one for one in found if _holds(one, sought.casefold().split())]
    if key in _SORTS:
        kept = _sorted(kept, _SORTS[key], descending=descending)
    pages = max(-(-len(kept) // PAGE_ROWS), 1)
    asked = query.get(f"{_NAME}.page", "1")
    at = min(max(int(asked) if asked.isascii() and asked.isdigit() else 1, 1), pages)
    rows = kept[(at - 1) * PAGE_ROWS : at * PAGE_ROWS]
    columns = _COLUMNS if admin else _COLUMNS[:-1]
    return DataTable(
        _NAME,
        "Markets",
        columns,
        tuple(_row(one, zone, admin=admin) for one in rows),
        sorted_by=key if key in _SORTS else "",
        descending=descending,
        sought=sought,
        page=at,
        pages=pages,
        found=len(kept),
        stacks=True,
    )


def _holds(one: MarketView, words: Sequence[str]) -> bool:
    if not words:
        return True
    text = f"{one.ticker} {one.title} {one.category} {state_of(one)[0]}".casefold()
    return all(word in text for word in words)


def _sorted(
    found: list[MarketView], worth: Callable[[MarketView], Any], *, descending: bool
) -> list[MarketView]:
    known = [one for one in found if worth(one) is not None]
    blank = [one for one in found if worth(one) is None]
    return sorted(known, key=worth, reverse=descending) + blank


def _row(one: MarketView, zone: str, *, admin: bool) -> Row:
    state, tone = state_of(one)
    named = Markup('{} <span class="ticker">{}</span>').format(one.title or one.ticker, one.ticker)
    box = Markup(
        '<input type="checkbox" form="choosing" name="name" value="{0}" aria-label="Choose {0}">'
    ).format(one.ticker)
    cells = (
        Cell(named, one.title.casefold(), href=f"/gatherer/markets/{one.ticker}"),
        Cell(one.category),
        Cell(shown.number(contracts(one.volume_24h), 0), one.volume_24h),
        Cell(cents_text(one.best_yes_bid), one.best_yes_bid),
        Cell(cents_text(one.best_yes_ask), one.best_yes_ask),
        Cell(cents_text(one.spread), one.spread),
        Cell(state, tone=tone, badge=True),
        Cell(shown.time_tag(moment(one.close_ts), zone), one.close_ts),
        Cell(box),
    )
    return Row(one.ticker, cells if admin else cells[:-1])
