"""The pages of Benny, and of the caller's bets, limits, favorite teams and file imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.domain.ledger import BetLimits
from grandstand.apps.bets.domain.records import humanize_key
from grandstand.apps.bets.pages import base
from grandstand.apps.bets.services.benny import BennyBetView, BennyDashboard, RuleEffect
from grandstand.apps.bets.services.games import GameSummary
from grandstand.apps.bets.services.ledger import LimitsView
from grandstand.apps.bets.services.wagers import (
    COLUMNS,
    OPTIONAL,
    RejectedLine,
    WagerImportReport,
    WagerRequest,
    parse_wager_file,
)
from grandstand.core import formatting
from grandstand.core.errors import Conflict, InvalidInput, LimitReached, NotFound
from grandstand.kit.auth.caller import Caller
from grandstand.kit.cursors import Page
from grandstand.kit.pages.page import read_form, redirect_to, text_fields
from grandstand.kit.pages.rendering import safe_return
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

_SIDES: Final = {
    "h2h": ("home", "away"),
    "h2h_3way": ("home", "draw", "away"),
    "spreads": ("home", "away"),
    "totals": ("over", "under"),
    "draw_no_bet": ("home", "away"),
}
_MARKETS_WITH_LINE: Final = ("spreads", "totals")
MARKETS: Final = tuple(_SIDES)
SIDES: Final = ("home", "away", "draw", "over", "under")
TIMES: Final[dict[str, tuple[str, timedelta]]] = {
    "day": ("1 day", timedelta(days=1)),
    "week": ("1 week", timedelta(days=7)),
    "month": ("30 days", timedelta(days=30)),
    "half": ("6 months", timedelta(days=182)),
}
_NOTICES: Final = {
    "recorded": "Bet recorded. It is settled when the game is over.",
    "removed": "Bet withdrawn.",
    "closed": "The bet is settled or its game has started. It cannot be withdrawn.",
    "limits": "Limits saved. Tighter limits apply immediately, looser ones after a day.",
    "time-out": "Time-out started. No bets are recorded until it ends.",
    "liked": "Added to your favorite teams. You will be notified of its games.",
    "unliked": "Removed from your favorite teams.",
}


class WagerPages(base.BetsPagesBase):
    @page("/mine")
    @page("/mine/record")
    @page("/mine/limits")
    @page("/mine/time-out")
    @page("/mine/like")
    async def mine(self, request: Request, who: CurrentCaller) -> Response:
        """The caller's bets with their summary, limits and favorite teams.

        The addresses of the forms show the same page, so that it can be reloaded after an error.
        """
        texts = {"game_id": request.query_params.get("game", "")}
        return await self._wagers_page(request, who, texts=texts)

    @page("/mine/record", method="POST")
    async def record(self, request: Request, who: CurrentCaller) -> Response:
        """Record a bet, or show the form with its errors."""
        texts = text_fields(await read_form(request))
        draft, errors = parse_wager_form(texts, who.preferences.time_zone)
        if draft is None:
            return await self._wagers_page(request, who, texts=texts, errors=errors)
        try:
            await self._bets.wagers.record(who, draft)
        except (InvalidInput, LimitReached, NotFound, Conflict) as refused:
            errors = {"form": str(refused)}
            return await self._wagers_page(
                request, who, texts=texts, errors=errors, status=refused.status
            )
        return redirect_to("/bets/mine?notice=recorded#bets")

    @page("/mine/limits", method="POST")
    async def set_limits(self, request: Request, who: CurrentCaller) -> Response:
        """Change the caller's limits."""
        texts = text_fields(await read_form(request))
        draft, errors = parse_limits_form(texts)
        if draft is None:
            return await self._wagers_page(request, who, limit_texts=texts, limit_errors=errors)
        try:
            await self._bets.limits.update(who, draft)
        except InvalidInput as refused:
            errors = {"limits": str(refused)}
            return await self._wagers_page(request, who, limit_texts=texts, limit_errors=errors)
        return redirect_to("/bets/mine?notice=limits#limits")

    @page("/mine/time-out", method="POST")
    async def take_time_out(self, request: Request, who: CurrentCaller) -> Response:
        """Start a time-out."""
        texts = text_fields(await read_form(request))
        _, length = TIMES.get(texts.get("length", ""), TIMES["day"])
        try:
            await self._bets.limits.time_out(who, self._bets.now() + length)
        except InvalidInput as refused:
            return await self._wagers_page(request, who, limit_errors={"time_out": str(refused)})
        return redirect_to("/bets/mine?notice=time-out#limits")

    @page("/mine/like", method="POST")
    async def like(self, request: Request, who: CurrentCaller) -> Response:
        """Add a favorite team."""
        texts = text_fields(await read_form(request))
        try:
            await self._bets.favorites.add(
                who, texts.get("sport", ""), texts.get("team", "").strip()
            )
        except (InvalidInput, NotFound) as refused:
            return await self._wagers_page(request, who, limit_errors={"team": str(refused)})
        return redirect_to(_with_notice(texts, "liked"))

    @page("/mine/unlike", method="POST")
    async def unlike(self, request: Request, who: CurrentCaller) -> Response:
        """Remove a favorite team."""
        texts = text_fields(await read_form(request))
        await self._bets.favorites.remove(who, texts.get("sport", ""), texts.get("team", ""))
        return redirect_to(_with_notice(texts, "unliked"))

    @page("/mine/{wager_id}/remove", method="POST")
    async def remove(self, who: CurrentCaller, wager_id: base.OwnId) -> Response:
        """Withdraw an open bet."""
        try:
            await self._bets.wagers.remove(who, wager_id)
        except Conflict:
            return redirect_to("/bets/mine?notice=closed#bets")
        return redirect_to("/bets/mine?notice=removed#bets")

    async def _wagers_page(
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
        after = request.query_params.get("cursor") or None
        page_of_bets = await self._bets.wagers.list_wagers(who, limit=20, after=after)
        summary, limits = await self._bets.wagers.summary(who), await self._bets.limits.get(who)
        fields, note = dict(texts or {}), "Cumulative result of your settled bets."
        return self._render(
            request,
            "mine",
            status=status or (400 if errors or limit_errors else 200),
            here="mine",
            bets=page_of_bets.items,
            cursor=page_of_bets.cursor,
            summary=summary,
            limits=limits,
            used=limit_usage(limits),
            limit_texts=limit_texts,
            limit_errors=limit_errors or {},
            curve=base.money_chart("Profit", note, summary.curve) if summary.curve else None,
            texts=fields,
            errors=errors or {},
            game=await self._game(fields.get("game_id", "")),
            games=await self._games(),
            markets=MARKETS,
            sides=SIDES,
            times=TIMES,
            favorites=await self._bets.favorites.list_teams(who),
            sports=self._bets.settings.sports,
            now_at=self._bets.now(),
            notice=_NOTICES.get(request.query_params.get("notice", ""), ""),
        )

    async def _game(self, game_id: str) -> GameSummary | None:
        """Return the selected game; None if it does not exist."""
        try:
            return (await self._bets.games.get(game_id)).game if game_id else None
        except NotFound:
            return None

    async def _games(self) -> list[tuple[str, tuple[GameSummary, ...]]]:
        """Return the games to choose from, by sport."""
        by_sport = []
        for sport in self._bets.settings.sports:
            upcoming = await self._bets.games.upcoming(sport, limit=30)
            if upcoming.items:
                by_sport.append((sport, upcoming.items))
        return by_sport


def parse_wager_form(
    texts: Mapping[str, str], zone: str
) -> tuple[WagerRequest | None, dict[str, str]]:
    """Return the bet of a form, or the errors by field."""
    form = base.FormFields(texts)
    game_id, market = form.text("game_id", 80), form.text("market", 40)
    side = form.text("side", 10)
    if not game_id:
        form.add_error("game_id", "Choose a game.")
    if side not in _SIDES.get(market, ()):
        options = ", ".join(_SIDES.get(market, SIDES))
        form.add_error("side", f"Choose one of: {options}.")
    point, price = form.line("point"), form.price("price")
    if market in _MARKETS_WITH_LINE and point is None:
        form.add_error("point", "Enter the line.")
    if market not in _MARKETS_WITH_LINE and point is not None:
        form.add_error("point", "This market has no line. Leave it empty.")
    stake = form.cents("stake", required=True)
    placed = form.time("placed_at", zone)
    book, note = form.text("bookmaker", 60), form.text("note", 500)
    if form.errors or price is None or stake is None:
        return None, form.errors
    return WagerRequest(
        game_id=game_id,
        market_key=market,
        side=side,
        price=price.american,
        stake_cents=stake,
        point=point,
        bookmaker=book,
        placed_at=placed,
        note=note,
        token=form.text("token", 80) or None,
    ), {}


def parse_limits_form(texts: Mapping[str, str]) -> tuple[BetLimits | None, dict[str, str]]:
    """Return the limits of a form; an empty field is no limit."""
    form = base.FormFields(texts)
    bet, day = form.cents("stake_per_bet"), form.cents("stake_per_day")
    week = form.cents("loss_per_week")
    if form.errors:
        return None, form.errors
    return BetLimits(bet, day, week), {}


def limit_usage(limits: LimitsView) -> tuple[tuple[str, int, int], ...]:
    """Return (label, used, limit) of each limit that is set."""
    limits_in_use = (
        ("Staked today", limits.staked_today_cents, limits.stake_per_day_cents),
        ("Lost this week", limits.lost_this_week_cents, limits.loss_per_week_cents),
    )
    return tuple((name, used, allowed) for name, used, allowed in limits_in_use if allowed)


def _with_notice(texts: Mapping[str, str], notice: str) -> str:
    back = safe_return(texts.get("back") or "/bets/mine")
    return f"{back}?notice={notice}{'#favorites' if back == '/bets/mine' else ''}"


_MAX_LINES: Final = 50


@dataclass(frozen=True, slots=True)
class Preview:
    """The valid and invalid lines of a file."""

    readable: tuple[tuple[int, WagerRequest], ...]
    rejected: tuple[RejectedLine, ...]


class WagerImportPages(base.BetsPagesBase):
    @page("/mine/import")
    async def before_import(self, request: Request, who: CurrentCaller) -> Response:
        """The upload form."""
        del who
        return self._import_page(request)

    @page("/mine/import", method="POST")
    async def take_file(self, request: Request, who: CurrentCaller) -> Response:
        """Preview or record a file."""
        texts = text_fields(await read_form(request))
        content = texts.get("file") or texts.get("content", "")
        try:
            if texts.get("action") == "record":
                done = await self._bets.wagers.import_file(who, base.content_of(content))
                return self._import_page(request, done=done)
            return self._import_page(request, content=content, preview=preview_file(content))
        except InvalidInput as refused:
            return self._import_page(request, content=content, error=str(refused))

    def _import_page(
        self,
        request: Request,
        *,
        content: str = "",
        preview: Preview | None = None,
        done: WagerImportReport | None = None,
        error: str = "",
    ) -> Response:
        return self._render(
            request,
            "import",
            status=400 if error else 200,
            here="mine",
            content=content.encode("utf-8", "replace").decode(),
            preview=preview,
            max_lines=_MAX_LINES,
            done=done,
            error=error,
            columns=COLUMNS,
            optional=OPTIONAL,
        )


def preview_file(content: str) -> Preview:
    """Return the lines of a file without recording them.

    Raises InvalidInput if the file has no valid header.
    """
    lines = list(parse_wager_file(base.content_of(content)))
    return Preview(
        tuple((number, wager) for number, wager in lines if not isinstance(wager, str)),
        tuple(RejectedLine(number, why) for number, why in lines if isinstance(why, str)),
    )


_RULES: Final = (
    Column("rule", "Rule"),
    Column("rejected", "Rejected", "number"),
    Column("settled", "Settled", "number"),
    Column("won", "Won", "number"),
    Column("profit", "Units", "number"),
    Column("roi", "ROI", "number"),
    Column("worth", "Effect"),
)


class BennyPages(base.BetsPagesBase):
    @page("/benny")
    async def benny(self, request: Request, who: CurrentCaller) -> Response:
        """The dashboard."""
        del who
        view = await self._bets.benny.dashboard()
        settings = self._bets.settings
        note = "Available money without open stakes; reset to the budget every Monday."
        return self._render(
            request,
            "benny",
            here="benny",
            view=view,
            curve=base.money_chart("Bankroll", note, view.curve) if view.curve else None,
            calibration=base.calibration_chart(view.calibration, "Benny")
            if view.calibration
            else None,
            rules=rules_table(view.rules),
            threshold=describe_threshold(view),
            settings=settings,
        )

    @page("/benny/bets")
    async def benny_bets(self, request: Request, who: CurrentCaller) -> Response:
        """All bets, newest first."""
        del who
        after = request.query_params.get("cursor") or None
        bets = await self._bets.benny.bets(limit=20, after=after)
        return self._bets_page(request, bets, shadow=False)

    @page("/benny/shadow")
    async def shadow(self, request: Request, who: CurrentCaller) -> Response:
        """The bets a rule rejected, newest first."""
        del who
        rules = tuple(one.rule for one in (await self._bets.benny.dashboard()).rules)
        rule = base.query_option(request, "rule", rules, "")
        after = request.query_params.get("cursor") or None
        bets = await self._bets.benny.shadow_bets(rule=rule or None, limit=20, after=after)
        return self._bets_page(request, bets, shadow=True, rule=rule, rules=rules)

    def _bets_page(
        self,
        request: Request,
        bets: Page[BennyBetView],
        *,
        shadow: bool,
        rule: str = "",
        rules: tuple[str, ...] = (),
    ) -> Response:
        return self._render(
            request,
            "benny_bets",
            here="benny",
            bets=bets.items,
            cursor=bets.cursor,
            shadow=shadow,
            rule=rule,
            rules=rules,
        )


def describe_threshold(view: BennyDashboard) -> str:
    """Describe how learning changed the minimum probability."""
    learning = view.learning
    start = learning.threshold - learning.adjustment
    if not learning.adjustment:
        return f"at the {formatting.format_percent(start)} he began with"
    way = "raised" if learning.adjustment > 0 else "lowered"
    change = formatting.format_percent(abs(learning.adjustment))
    return f"{way} by {change} from {formatting.format_percent(start)}"


def rules_table(rules: Sequence[RuleEffect]) -> DataTable:
    rows = tuple(_rule(item) for item in rules)
    return DataTable("rules", "Benny’s rules", _RULES, rows, stacks=True)


def _rule(rule: RuleEffect) -> Row:
    label = rule_verdict(rule)
    tone = base.tone_of(-rule.profit_units if rule.settled else None)
    interval = "" if rule.roi is None else f" ({base.within(rule.roi, signed=True)})"
    value = None if rule.roi is None else rule.roi.value
    roi = (
        formatting.EMPTY
        if value is None
        else f"{formatting.format_number(value * 100, 1, signed=True)} %"
    )
    return Row(
        rule.rule,
        (
            Cell(humanize_key(rule.rule), href=f"/bets/benny/shadow?rule={rule.rule}"),
            Cell(formatting.format_number(rule.rejected), rule.rejected),
            Cell(formatting.format_number(rule.settled), rule.settled),
            Cell(formatting.format_number(rule.won), rule.won),
            Cell(
                base.units(rule.profit_units) if rule.settled else formatting.EMPTY,
                rule.profit_units,
            ),
            Cell(f"{roi}{interval}", value),
            Cell(label, tone=tone, badge=True),
        ),
    )


def rule_verdict(rule: RuleEffect) -> str:
    """Return whether a rule saved or cost money, as far as the interval tells."""
    if not rule.settled or rule.roi is None:
        return "Not enough data"
    if rule.roi.high < 0:
        return "Saved money"
    if rule.roi.low > 0:
        return "Cost money"
    return "Probably saves" if rule.profit_units < 0 else "Probably costs"
