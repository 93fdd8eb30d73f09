"""Kept here: Benny in public: his money, his bets with their reasons, and what his rules earn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.pages.part import PagesPart, chosen
from grandstand.apps.bets.pages.plots import calibration_chart, money_chart
from grandstand.apps.bets.pages.words import rule_name, tone_of, units, within
from grandstand.apps.bets.service import BennyView, RuleWorth
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Who, page

_BETS: Final = 20
_RULES: Final = (
    Column("rule", "Rule"),
    Column("rejected", "Kept out", "number"),
    Column("settled", "Decided", "number"),
    Column("won", "Won", "number"),
    Column("profit", "Units missed", "number"),
    Column("roi", "ROI of them", "number"),
    Column("worth", "So the rule"),
)


class BennyPages(PagesPart):
    """A trader with virtual money, who shows everything."""

    @page("/benny")
    async def benny(self, request: Request, who: Who) -> Response:
        """His dashboard."""
        del who
        view = await self._bets.benny()
        settings = self._bets.settings
        note = "What he has, open stakes apart; every Monday it is set to his budget."
        return self._render(
            request,
            "benny",
            here="benny",
            view=view,
            curve=money_chart("Bankroll", note, view.curve) if view.curve else None,
            calibration=calibration_chart(view.calibration, "Benny") if view.calibration else None,
            rules=rules_table(view.rules),
            threshold=threshold_words(view),
            settings=settings,
        )

    @page("/benny/bets")
    async def benny_bets(self, request: Request, who: Who) -> Response:
        """All his bets, newest first."""
        del who
        after = request.query_params.get("after") or None
        found = await self._bets.benny_bets(limit=_BETS, after=after)
        return self._render(
            request,
            "benny_bets",
            here="benny",
            bets=found.items,
            position=found.position,
            shadow=False,
            rule="",
            rules=(),
        )

    @page("/benny/shadow")
    async def shadow(self, request: Request, who: Who) -> Response:
        """What he did not bet, and the rule that kept it out."""
        del who
        known = tuple(one.rule for one in (await self._bets.benny()).rules)
        rule = chosen(request, "rule", known, "")
        after = request.query_params.get("after") or None
        found = await self._bets.shadow_bets(rule=rule or None, limit=_BETS, after=after)
        return self._render(
            request,
            "benny_bets",
            here="benny",
            bets=found.items,
            position=found.position,
            shadow=True,
            rule=rule,
            rules=known,
        )


def threshold_words(view: BennyView) -> str:
    """Say what Benny bets on, and what of that he has learnt."""
    learnt = view.learnt
    begun = learnt.threshold - learnt.adjustment
    if not learnt.adjustment:
        return f"at the {shown.percent(begun)} he began with"
    way = "raised" if learnt.adjustment > 0 else "lowered"
    return f"{way} by {shown.percent(abs(learnt.adjustment))} from {shown.percent(begun)}"


def rules_table(held: Sequence[RuleWorth]) -> DataTable:
    """Answer what each rule kept away, and whether that was well."""
    rows = tuple(_rule(one) for one in held)
    return DataTable("rules", "Benny’s rules", _RULES, rows, stacks=True)


def _rule(one: RuleWorth) -> Row:
    said = worth_of(one)
    tone = tone_of(-one.profit_units if one.settled else None)
    interval = "" if one.roi is None else f" ({within(one.roi, signed=True)})"
    value = None if one.roi is None else one.roi.value
    roi = shown.NOTHING if value is None else f"{shown.number(value * 100, 1, signed=True)} %"
    return Row(
        one.rule,
        (
            Cell(rule_name(one.rule), href=f"/bets/benny/shadow?rule={one.rule}"),
            Cell(shown.number(one.rejected), one.rejected),
            Cell(shown.number(one.settled), one.settled),
            Cell(shown.number(one.won), one.won),
            Cell(units(one.profit_units) if one.settled else shown.NOTHING, one.profit_units),
            Cell(f"{roi}{interval}", value),
            Cell(said, tone=tone, badge=True),
        ),
    )


def worth_of(one: RuleWorth) -> str:
    """Say whether a rule earned its keep, as far as one can know."""
    if not one.settled or one.roi is None:
        return "cannot be judged yet"
    if one.roi.high < 0:
        return "earned its keep"
    if one.roi.low > 0:
        return "costs money"
    return "seems to help" if one.profit_units < 0 else "seems to cost"
