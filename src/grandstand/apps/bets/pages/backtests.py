"""Kept here: what a back-test shows: its figures, its curve, its windows and its last bets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from grandstand.apps.bets.pages.plots import units_chart
from grandstand.apps.bets.pages.words import (
    market_name,
    signed_percent,
    tidy,
    tone_of,
    units,
    verdict_of,
)
from grandstand.apps.bets.service import BacktestView, Tested, WindowResult
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row

_LAST: Final = 30
_SURE: Final = 0.95
_WINDOWS: Final = (
    Column("start", "From"),
    Column("end", "To"),
    Column("predictions", "Bets", "number"),
    Column("roi", "ROI", "number"),
    Column("brier", "Brier", "number"),
)
_BETS: Final = (
    Column("bet", "Bet"),
    Column("market", "Market"),
    Column("chance", "Chance", "number"),
    Column("verdict", "Came of it"),
    Column("profit", "Units", "number"),
    Column("clv", "CLV", "number"),
    Column("starts", "Day"),
)


def result_values(test: BacktestView) -> dict[str, Any]:
    """Answer what the template of a result shows."""
    return {
        "test": test,
        "curve": units_chart(test.predictions),
        "windows": windows_table(test.windows),
        "last": bets_table(test.predictions),
        "caution": caution(test),
    }


def caution(test: BacktestView) -> str:
    """Say how far a result can be trusted, given how many were tried."""
    if not test.performance.decided:
        return (
            "Nothing was decided in these days: take earlier days, a lower least confidence, or "
            "bring in past seasons."
        )
    tries = "the first try" if test.trials <= 1 else f"try number {test.trials}"
    begin = f"This was {tries} in this sport."
    if test.deflated_sharpe is None:
        return f"{begin} There are too few bets to say whether it was luck."
    chance = shown.percent(test.deflated_sharpe)
    verdict = (
        "which is good evidence"
        if test.deflated_sharpe >= _SURE
        else f"less than the {shown.percent(_SURE, 0)} one would ask for"
    )
    return f"{begin} Counting all tries, the chance that it beats luck is {chance}, {verdict}."


def windows_table(held: Sequence[WindowResult]) -> DataTable:
    """Answer the windows of a walk."""
    rows = tuple(
        Row(
            one.start.isoformat(),
            (
                Cell(shown.day_text(one.start), one.start.isoformat()),
                Cell(shown.day_text(one.end), one.end.isoformat()),
                Cell(shown.number(one.predictions), one.predictions),
                Cell(signed_percent(one.roi), one.roi, tone=tone_of(one.roi)),
                Cell(shown.number(one.brier, 4), one.brier),
            ),
        )
        for one in held
    )
    return DataTable("windows", "Windows", _WINDOWS, rows)


def bets_table(held: Sequence[Tested]) -> DataTable:
    """Answer the last bets of a walk, newest first."""
    newest = sorted(held, key=lambda one: one.commence_time, reverse=True)[:_LAST]
    rows = tuple(_bet(at, one) for at, one in enumerate(newest))
    return DataTable("bets", "Last bets", _BETS, rows, stacks=True)


def _bet(at: int, one: Tested) -> Row:
    said, tone = verdict_of(one.verdict)
    return Row(
        f"{one.game_id}-{at}",
        (
            Cell(tidy(one.prediction), href=f"/bets/games/{one.game_id}"),
            Cell(market_name(one.market_key)),
            Cell(shown.percent(one.probability), one.probability),
            Cell(said, tone=tone, badge=True),
            Cell(units(one.profit_units), one.profit_units, tone=tone_of(one.profit_units)),
            Cell(signed_percent(one.clv), one.clv),
            Cell(f"{one.commence_time:%Y-%m-%d}"),
        ),
    )
