"""Kept here: the charts of bets: lines of every book, calibration, and money as it grew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import accumulate
from typing import Final

from grandstand.apps.bets.model import PricedOutcome, slug
from grandstand.apps.bets.model.prices.odds import implied
from grandstand.apps.bets.pages.boards import family
from grandstand.apps.bets.pages.words import book_name
from grandstand.apps.bets.service import Bin, GameView, Line, Tested
from grandstand.kit.charts import Axis, Chart, Plot, Row, epoch

_PER_CENT: Final = 100
_CENTS: Final = 100
_EVEN: Final[tuple[Row, ...]] = ((0, 0), (100, 100))


def line_charts(view: GameView) -> tuple[tuple[str, Chart], ...]:
    """Answer how every book moved, a chart for each market that has a history."""
    home = view.game.home_team
    kinds = (
        (
            "h2h",
            f"{home} to win",
            "What each book's price implies, its margin included.",
            Axis("Implied chance", unit="%", digits=1),
        ),
        ("spreads", f"Spread of {home}", "Points given or taken.", Axis("Line", digits=1)),
        ("totals", "Total", "Points of both sides together.", Axis("Line", digits=1)),
    )
    charts = (
        (market, Chart(title, Axis("Time", "time"), y, _books(view, market), note))
        for market, title, note, y in kinds
    )
    return tuple(held for held in charts if held[1].plots)


def calibration_chart(bins: Sequence[Bin], name: str) -> Chart:
    """Answer how often came true what was given each chance; on the line it is as often."""
    held = sorted((one for one in bins if one.count), key=lambda one: one.mean_probability)
    rows = tuple((one.mean_probability * _PER_CENT, one.share_won * _PER_CENT) for one in held)
    counts = ", ".join(f"{one.count}" for one in held)
    return Chart(
        title=f"Calibration of {name}",
        note=f"Bets in each group, from the least chance to the greatest: {counts}."
        if held
        else "",
        x=Axis("Chance given", unit="%", digits=0),
        y=Axis("Came true", unit="%", digits=0, within=(0, _PER_CENT)),
        plots=(Plot("As often as said", "line", _EVEN, "quiet"), Plot(name, "scatter", rows, "3")),
        height=300,
    )


def units_chart(predictions: Iterable[Tested]) -> Chart:
    """Answer what stakes of one on every prediction would have brought by then."""
    held = [one for one in predictions if one.profit_units is not None]
    ordered = sorted(held, key=lambda one: one.commence_time)
    totals = accumulate(one.profit_units or 0.0 for one in ordered)
    rows = {epoch(one.commence_time): total for one, total in zip(ordered, totals, strict=True)}
    return Chart(
        title="Stakes of one, in sum",
        note="At the prices of the time, on games the model had not been fitted on.",
        x=Axis("Start of the game", "time"),
        y=Axis("Units", digits=1),
        plots=(Plot("Won and lost", "step", tuple(rows.items()), "3"),),
        height=260,
    )


def money_chart(title: str, note: str, curve: Sequence[tuple[datetime, int]]) -> Chart:
    """Answer an amount of money over time; of several at one moment the last counts."""
    rows = {epoch(at): cents / _CENTS for at, cents in sorted(curve, key=lambda one: one[0])}
    return Chart(
        title=title,
        note=note,
        x=Axis("Time", "time"),
        y=Axis("Dollars", unit="$", digits=2),
        plots=(Plot(title, "step", tuple(rows.items()), "3"),),
        height=260,
    )


def _books(view: GameView, market: str) -> tuple[Plot, ...]:
    held = [one for one in view.lines if family(one.market_key) == market and one.player is None]
    plots = (
        Plot(book_name(line.bookmaker), "step", _points(line, market, view.game.home_team))
        for line in sorted(held, key=lambda one: one.bookmaker)
    )
    return tuple(plot for plot in plots if plot.rows)


def _points(line: Line, market: str, home: str) -> tuple[Row, ...]:
    wanted = "over" if market == "totals" else slug(home)
    found = {epoch(one.captured_at): _value(one.outcomes, wanted, market) for one in line.points}
    return tuple((at, value) for at, value in sorted(found.items()) if value is not None)


def _value(outcomes: Iterable[PricedOutcome], wanted: str, market: str) -> float | None:
    outcome = next((one for one in outcomes if slug(one.name) == wanted), None)
    if outcome is None:
        return None
    if market == "h2h":
        return implied(outcome.price) * _PER_CENT
    return float(outcome.point) if isinstance(outcome.point, Decimal) else None
