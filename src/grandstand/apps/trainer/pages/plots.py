"""Kept here: the trainer's charts: averages over time, calibration, and the Brier score."""

from __future__ import annotations

from collections.abc import Sequence

from grandstand.apps.trainer.model.rubric import DIMENSIONS
from grandstand.apps.trainer.service import ForecastRecord, Profile
from grandstand.kit.charts import Axis, Chart, Plot, epoch

_TIME = Axis("When", "time")


def trend_chart(profiles: Sequence[Profile]) -> Chart:
    """A line for each dimension through a person's profiles, given newest first."""
    held = list(reversed(profiles))
    return Chart(
        title="Moving average of each dimension",
        note="Of the last attempts, from 0 to 4. Press a name to hide its line.",
        x=_TIME,
        y=Axis("Average", digits=2, within=(0, 4)),
        plots=tuple(
            Plot(
                dimension.title,
                "line",
                tuple(
                    (epoch(profile.timestamp), float(each.moving_average))
                    for profile in held
                    for each in profile.dimensions
                    if each.name == dimension.name
                ),
            )
            for dimension in DIMENSIONS
        ),
        height=320,
    )


def overall_chart(profiles: Sequence[Profile]) -> Chart:
    """The overall average through a person's profiles, given newest first."""
    rows = tuple(
        (epoch(each.timestamp), float(each.overall_average)) for each in reversed(profiles)
    )
    return Chart(
        title="Overall average",
        note="Of all attempts so far, out of 100.",
        x=_TIME,
        y=Axis("Average", digits=1, within=(0, 100)),
        plots=(Plot("Overall", "area", rows, "2"),),
        height=320,
    )


def calibration_chart(record: ForecastRecord) -> Chart:
    """How often forecasts came true, by what was said; a perfect forecaster's lie on the line."""
    rows = tuple((float(b.mean_percent), float(b.happened_percent)) for b in record.calibration)
    yours = (Plot("Yours", "line", rows, "2"), Plot("Groups of forecasts", "scatter", rows, "2"))
    return Chart(
        title="Calibration",
        note="Of what was said to be so likely, how much came true.",
        x=Axis("Said", unit="%", digits=0),
        y=Axis("Came true", unit="%", digits=0, within=(0, 100)),
        plots=(Plot("Perfect", "line", ((0, 0), (100, 100)), "quiet"), *yours),
    )


def brier_chart(record: ForecastRecord) -> Chart:
    """The mean Brier score after each forecast whose outcome is known."""
    points = [each for each in record.points if each.brier_so_far is not None]
    rows = tuple((epoch(each.said_at), float(each.brier_so_far or 0)) for each in points)
    coin = ((rows[0][0], 0.25), (rows[-1][0], 0.25)) if rows else ()
    return Chart(
        title="Brier score so far",
        note="Lower is better; always saying 50 % gives 0.25.",
        x=_TIME,
        y=Axis("Brier score", digits=3),
        plots=(Plot("Always 50 %", "line", coin, "quiet"), Plot("Yours", "line", rows, "1")),
    )
