"""Benny's pages: dashboard, bets and shadow bets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.pages.base import BetsPagesBase, chosen, rule_name, tone_of, units, within
from grandstand.apps.bets.pages.charts import calibration_chart, money_chart
from grandstand.apps.bets.services.benny import BennyDashboard, RuleEffect
from grandstand.core import formatting
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

_PAGE_SIZE: Final = 20
_RULES: Final = (
    Column("rule", "Rule"),
    Column("rejected", "Rejected", "number"),
    Column("settled", "Settled", "number"),
    Column("won", "Won", "number"),
    Column("profit", "Units", "number"),
    Column("roi", "ROI", "number"),
    Column("worth", "Effect"),
)


class BennyPages(BetsPagesBase):
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
            curve=money_chart("Bankroll", note, view.curve) if view.curve else None,
            calibration=calibration_chart(view.calibration, "Benny") if view.calibration else None,
            rules=rules_table(view.rules),
            threshold=describe_threshold(view),
            settings=settings,
        )

    @page("/benny/bets")
    async def benny_bets(self, request: Request, who: CurrentCaller) -> Response:
        """All bets, newest first."""
        del who
        after = request.query_params.get("cursor") or None
        page_of_bets = await self._bets.benny.bets(limit=_PAGE_SIZE, after=after)
        return self._render(
            request,
            "benny_bets",
            here="benny",
            bets=page_of_bets.items,
            cursor=page_of_bets.cursor,
            shadow=False,
            rule="",
            rules=(),
        )

    @page("/benny/shadow")
    async def shadow(self, request: Request, who: CurrentCaller) -> Response:
        """The bets a rule rejected, newest first."""
        del who
        rules = tuple(one.rule for one in (await self._bets.benny.dashboard()).rules)
        rule = chosen(request, "rule", rules, "")
        after = request.query_params.get("cursor") or None
        page_of_bets = await self._bets.benny.shadow_bets(
            rule=rule or None, limit=_PAGE_SIZE, after=after
        )
        return self._render(
            request,
            "benny_bets",
            here="benny",
            bets=page_of_bets.items,
            cursor=page_of_bets.cursor,
            shadow=True,
            rule=rule,
            rules=rules,
        )


def describe_threshold(view: BennyDashboard) -> str:
    """Describe how learning changed the minimum probability."""
    learning = view.learning
    base = learning.threshold - learning.adjustment
    if not learning.adjustment:
        return f"at the {formatting.format_percent(base)} he began with"
    way = "raised" if learning.adjustment > 0 else "lowered"
    change = formatting.format_percent(abs(learning.adjustment))
    return f"{way} by {change} from {formatting.format_percent(base)}"


def rules_table(rules: Sequence[RuleEffect]) -> DataTable:
    rows = tuple(_rule(item) for item in rules)
    return DataTable("rules", "Benny’s rules", _RULES, rows, stacks=True)


def _rule(rule: RuleEffect) -> Row:
    label = rule_verdict(rule)
    tone = tone_of(-rule.profit_units if rule.settled else None)
    interval = "" if rule.roi is None else f" ({within(rule.roi, signed=True)})"
    value = None if rule.roi is None else rule.roi.value
    roi = (
        formatting.EMPTY
        if value is None
        else f"{formatting.format_number(value * 100, 1, signed=True)} %"
    )
    return Row(
        rule.rule,
        (
            Cell(rule_name(rule.rule), href=f"/bets/benny/shadow?rule={rule.rule}"),
            Cell(formatting.format_number(rule.rejected), rule.rejected),
            Cell(formatting.format_number(rule.settled), rule.settled),
            Cell(formatting.format_number(rule.won), rule.won),
            Cell(units(rule.profit_units) if rule.settled else formatting.EMPTY, rule.profit_units),
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
