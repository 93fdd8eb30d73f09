"""Charts: line movement, calibration, units and money, and inline bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Final

from grandstand.apps.bets.domain.odds import implied_probability
from grandstand.apps.bets.domain.records import CalibrationBin, PricedOutcome, slug
from grandstand.apps.bets.pages.base import book_name, market_group
from grandstand.apps.bets.services.backtests import BacktestPrediction
from grandstand.apps.bets.services.games import GameView, LineHistory
from grandstand.apps.bets.services.scoreboard import BalancePoint
from grandstand.kit.charts import Axis, Chart, Plot, Row, epoch

_PER_CENT: Final = 100
_CENTS: Final = 100
_EVEN: Final[tuple[Row, ...]] = ((0, 0), (100, 100))


def line_movement_charts(view: GameView) -> tuple[tuple[str, Chart], ...]:
    """Return a chart per market with the history of every bookmaker."""
    home = view.game.home_team
    kinds = (
        (
            "h2h",
            f"{home} to win",
            "Implied probability of each bookmaker, including the margin.",
            Axis("Implied probability", unit="%", digits=1),
        ),
        ("spreads", f"Spread of {home}", "The handicap in points.", Axis("Line", digits=1)),
        ("totals", "Total", "Points of both teams.", Axis("Line", digits=1)),
    )
    charts = (
        (market, Chart(title, Axis("Time", "time"), y, _books(view, market), note))
        for market, title, note, y in kinds
    )
    return tuple(chart for chart in charts if chart[1].plots)


def calibration_chart(bins: Sequence[CalibrationBin], name: str) -> Chart:
    """Return the reliability diagram of a forecaster."""
    ordered = sorted((bin_ for bin_ in bins if bin_.count), key=lambda one: one.mean_probability)
    rows = tuple(
        (item.mean_probability * _PER_CENT, item.share_won * _PER_CENT) for item in ordered
    )
    counts = ", ".join(f"{item.count}" for item in ordered)
    return Chart(
        title=f"Calibration of {name}",
        note=f"Predictions per group, from lowest to highest probability: {counts}."
        if ordered
        else "",
        x=Axis("Predicted", unit="%", digits=0),
        y=Axis("Actual", unit="%", digits=0, within=(0, _PER_CENT)),
        plots=(
            Plot("Perfect calibration", "line", _EVEN, "quiet"),
            Plot(name, "scatter", rows, "3"),
        ),
        height=300,
    )


def units_chart(predictions: Iterable[BacktestPrediction]) -> Chart:
    """Return the running profit of one unit per prediction."""
    priced = [prediction for prediction in predictions if prediction.profit_units is not None]
    ordered = sorted(priced, key=lambda item: item.commence_time)
    totals = accumulate(prediction.profit_units or 0.0 for prediction in ordered)
    rows = {
        epoch(prediction.commence_time): total
        for prediction, total in zip(ordered, totals, strict=True)
    }
    return Chart(
        title="Cumulative units",
        note="At the prices of the time, on games outside the training data.",
        x=Axis("Start of the game", "time"),
        y=Axis("Units", digits=1),
        plots=(Plot("Profit", "step", tuple(rows.items()), "3"),),
        height=260,
    )


def money_chart(title: str, note: str, points: Sequence[BalancePoint]) -> Chart:
    """Return an amount of money over time."""
    ordered = sorted(points, key=lambda point: point.at)
    rows = {epoch(point.at): point.cents / 100 for point in ordered}
    return Chart(
        title=title,
        note=note,
        x=Axis("Time", "time"),
        y=Axis("Dollars", unit="$", digits=2),
        plots=(Plot(title, "step", tuple(rows.items()), "3"),),
        height=260,
    )


def _books(view: GameView, market: str) -> tuple[Plot, ...]:
    lines = [
        line
        for line in view.lines
        if market_group(line.market_key) == market and line.player is None
    ]
    plots = (
        Plot(book_name(line.bookmaker), "step", _points(line, market, view.game.home_team))
        for line in sorted(lines, key=lambda item: item.bookmaker)
    )
    return tuple(plot for plot in plots if plot.rows)


def _points(line: LineHistory, market: str, home: str) -> tuple[Row, ...]:
    name = "over" if market == "totals" else slug(home)
    values = {
        epoch(point.captured_at): _value(point.outcomes, name, market) for point in line.points
    }
    return tuple((at, value) for at, value in sorted(values.items()) if value is not None)


def _value(outcomes: Iterable[PricedOutcome], name: str, market: str) -> float | None:
    outcome = next((outcome for outcome in outcomes if slug(outcome.name) == name), None)
    if outcome is None:
        return None
    if market == "h2h":
        return implied_probability(outcome.price) * _PER_CENT
    return float(outcome.point) if isinstance(outcome.point, Decimal) else None
