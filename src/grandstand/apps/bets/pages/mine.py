"""Kept here: one's own bets: recorded by form or file, summed up, and held within limits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.pages.forms import Given
from grandstand.apps.bets.pages.part import OwnId, PagesPart
from grandstand.apps.bets.pages.plots import money_chart
from grandstand.apps.bets.service import GameSummary, LimitsDraft, LimitsView, WagerDraft
from grandstand.base.errors import Conflict, InvalidInput, LimitReached, NotFound
from grandstand.kit.charts import Chart
from grandstand.kit.pages.forms import form_of, lead_to, texts_in
from grandstand.kit.pages.rendering import safe_return
from grandstand.kit.routes import Who, page
from grandstand.kit.who.caller import Caller

_BETS: Final = 20
_GAMES: Final = 30
_LONGEST_NOTE: Final = 500
_LONGEST_BOOK: Final = 60
_SIDES: Final = {
    "h2h": ("home", "away"),
    "h2h_3way": ("home", "draw", "away"),
    "spreads": ("home", "away"),
    "totals": ("over", "under"),
    "draw_no_bet": ("home", "away"),
}
_LINED: Final = ("spreads", "totals")
MARKETS: Final = tuple(_SIDES)
SIDES: Final = ("home", "away", "draw", "over", "under")
TIMES: Final[dict[str, tuple[str, timedelta]]] = {
    "day": ("A day", timedelta(days=1)),
    "week": ("A week", timedelta(days=7)),
    "month": ("30 days", timedelta(days=30)),
    "half": ("Half a year", timedelta(days=182)),
}
_SAID: Final = {
    "recorded": "Recorded. It is settled when the game is over.",
    "removed": "The bet is taken back, its stake with it.",
    "closed": "The bet stays: it is settled, or its game has begun.",
    "limits": "Saved. Tighter limits count at once, looser ones in a day.",
    "time-out": "You have taken time out: no bet is recorded until then.",
    "liked": "It is among your favourites; you will be told of its games.",
    "unliked": "It is no longer among your favourites.",
}


class MinePages(PagesPart):
    """What somebody bet, what came of it, and what they allow themselves."""

    @page("/mine")
    @page("/mine/record")
    @page("/mine/limits")
    @page("/mine/time-out")
    @page("/mine/like")
    async def mine(self, request: Request, who: Who) -> Response:
        """The caller's bets, their sum, limits and favourites.

        It also stands where forms are sent: a page that shows a refused one renews itself there.
        """
        texts = {"game_id": request.query_params.get("game", "")}
        return await self._mine(request, who, texts=texts)

    @page("/mine/record", method="POST")
    async def record(self, request: Request, who: Who) -> Response:
        """Record a bet, and lead back; what is wrong is said beside its field."""
        texts = texts_in(await form_of(request))
        draft, errors = draft_of(texts, who.preferences.time_zone)
        if draft is None:
            return await self._mine(request, who, texts=texts, errors=errors)
        try:
            await self._bets.record_wager(who, draft)
        except (InvalidInput, LimitReached, NotFound, Conflict) as refused:
            why = {"form": str(refused)}
            return await self._mine(request, who, texts=texts, errors=why, status=refused.status)
        return lead_to("/bets/mine?said=recorded#bets")

    @page("/mine/limits", method="POST")
    async def set_limits(self, request: Request, who: Who) -> Response:
        """Change the caller's limits, and lead back."""
        texts = texts_in(await form_of(request))
        draft, errors = limits_of(texts)
        if draft is None:
            return await self._mine(request, who, limit_texts=texts, limit_errors=errors)
        try:
            await self._bets.set_limits(who, draft)
        except InvalidInput as refused:
            why = {"limits": str(refused)}
            return await self._mine(request, who, limit_texts=texts, limit_errors=why)
        return lead_to("/bets/mine?said=limits#limits")

    @page("/mine/time-out", method="POST")
    async def take_time_out(self, request: Request, who: Who) -> Response:
        """Take no bets for a while, and lead back."""
        texts = texts_in(await form_of(request))
        _, length = TIMES.get(texts.get("length", ""), TIMES["day"])
        try:
            await self._bets.time_out(who, self._bets.now() + length)
        except InvalidInput as refused:
            return await self._mine(request, who, limit_errors={"time_out": str(refused)})
        return lead_to("/bets/mine?said=time-out#limits")

    @page("/mine/like", method="POST")
    async def like(self, request: Request, who: Who) -> Response:
        """Like a team, and lead back."""
        texts = texts_in(await form_of(request))
        try:
            await self._bets.like(who, texts.get("sport", ""), texts.get("team", "").strip())
        except (InvalidInput, NotFound) as refused:
            return await self._mine(request, who, limit_errors={"team": str(refused)})
        return lead_to(_with_said(texts, "liked"))

    @page("/mine/unlike", method="POST")
    async def unlike(self, request: Request, who: Who) -> Response:
        """Like a team no longer, and lead back."""
        texts = texts_in(await form_of(request))
        await self._bets.unlike(who, texts.get("sport", ""), texts.get("team", ""))
        return lead_to(_with_said(texts, "unliked"))

    @page("/mine/{wager_id}/remove", method="POST")
    async def remove(self, who: Who, wager_id: OwnId) -> Response:
        """Take back an open bet, and lead back."""
        try:
            await self._bets.remove_wager(who, wager_id)
        except Conflict:
            return lead_to("/bets/mine?said=closed#bets")
        return lead_to("/bets/mine?said=removed#bets")

    async def _mine(
        self,
        request: Request,
        who: Caller,
        *,
        texts: Mapping[str, str] | None = None,
        errors: Mapping[str, str] | None = None,
        limit_texts: Mapping[str, str] | None = None,
        limit_errors: Mapping[str, str] | None = None,
        status: int = 0,
    ) -> Response:
        after = request.query_params.get("after") or None
        found = await self._bets.wagers(who, limit=_BETS, after=after)
        summary, limits = await self._bets.wager_summary(who), await self._bets.limits(who)
        given = dict(texts or {})
        return self._render(
            request,
            "mine",
            status=status or (400 if errors or limit_errors else 200),
            here="mine",
            bets=found.items,
            position=found.position,
            summary=summary,
            limits=limits,
            used=used_of(limits),
            limit_texts=limit_texts,
            limit_errors=limit_errors or {},
            curve=_curve(summary.curve),
            texts=given,
            errors=errors or {},
            game=await self._game(given.get("game_id", "")),
            games=await self._games(),
            markets=MARKETS,
            sides=SIDES,
            times=TIMES,
            favourites=await self._bets.favourites(who),
            sports=self._bets.sports(),
            now_at=self._bets.now(),
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    async def _game(self, game_id: str) -> GameSummary | None:
        """The game a bet is about to be recorded on; None when it is not known here."""
        try:
            return (await self._bets.game(game_id)).game if game_id else None
        except NotFound:
            return None

    async def _games(self) -> list[tuple[str, tuple[GameSummary, ...]]]:
        """The games to choose from, by sport."""
        held = []
        for sport in self._bets.sports():
            found = await self._bets.games(sport, limit=_GAMES)
            if found.items:
                held.append((sport, found.items))
        return held


def draft_of(texts: Mapping[str, str], zone: str) -> tuple[WagerDraft | None, dict[str, str]]:
    """Read a bet as a form writes it, or answer what is wrong beside each field."""
    given = Given(texts)
    game_id, market = given.text("game_id", 80), given.text("market", 40)
    side = given.text("side", 10)
    if not game_id:
        given.refuse("game_id", "Choose the game.")
    if side not in _SIDES.get(market, ()):
        fitting = ", ".join(_SIDES.get(market, SIDES))
        given.refuse("side", f"This kind of bet is on one of: {fitting}.")
    point, price = given.point("point"), given.price("price")
    if market in _LINED and point is None:
        given.refuse("point", "This kind of bet has a line.")
    if market not in _LINED and point is not None:
        given.refuse("point", "This kind of bet has no line: leave it empty.")
    stake = given.cents("stake", required=True)
    placed = given.moment("placed_at", zone)
    book, note = given.text("bookmaker", _LONGEST_BOOK), given.text("note", _LONGEST_NOTE)
    if given.errors or price is None or stake is None:
        return None, given.errors
    return WagerDraft(
        game_id=game_id,
        market_key=market,
        side=side,
        price=price.american,
        stake_cents=stake,
        point=point,
        bookmaker=book,
        placed_at=placed,
        note=note,
        token=given.text("token", 80) or None,
    ), {}


def limits_of(texts: Mapping[str, str]) -> tuple[LimitsDraft | None, dict[str, str]]:
    """Read limits as a form writes them; an empty field is no limit."""
    given = Given(texts)
    bet, day = given.cents("stake_per_bet"), given.cents("stake_per_day")
    week = given.cents("loss_per_week")
    if given.errors:
        return None, given.errors
    return LimitsDraft(bet, day, week), {}


def used_of(limits: LimitsView) -> tuple[tuple[str, int, int], ...]:
    """Answer what of the limits is used: their name, what is used and what is allowed."""
    held = (
        ("Staked today", limits.staked_today_cents, limits.stake_per_day_cents),
        ("Lost this week", limits.lost_this_week_cents, limits.loss_per_week_cents),
    )
    return tuple((name, used, allowed) for name, used, allowed in held if allowed)


def _curve(curve: tuple[tuple[datetime, int], ...]) -> Chart | None:
    note = "What your settled bets have brought in sum."
    return money_chart("Won and lost", note, curve) if curve else None


def _with_said(texts: Mapping[str, str], said: str) -> str:
    back = safe_return(texts.get("back") or "/bets/mine")
    return f"{back}?said={said}{'#favourites' if back == '/bets/mine' else ''}"
