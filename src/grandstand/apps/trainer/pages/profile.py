"""Pages about a person's progress: profile, history and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.trainer.domain.evaluation import DIMENSIONS, DIMENSIONS_BY_NAME
from grandstand.apps.trainer.pages.practice import ItemId, TrainerPageGroup
from grandstand.apps.trainer.pages.result_view import judge_label
from grandstand.apps.trainer.services.evaluation import AttemptRecord
from grandstand.apps.trainer.services.profiles import ForecastRecord, ProfileRecord
from grandstand.core import formatting
from grandstand.kit.auth.caller import Caller
from grandstand.kit.charts import Axis, Chart, Plot, epoch
from grandstand.kit.pages.rendering import time_tag
from grandstand.kit.pages.table import Cell, Column, DataTable, Row, Tone
from grandstand.kit.routes import AdminCaller, CurrentCaller, page

_CURSOR_QUERY: Final = "trainer.history"
_TIME_AXIS: Final = Axis("Time", "time")
_COLUMNS: Final = (
    Column("scenario", "Scenario"),
    Column("state", "State"),
    Column("score", "Score", "number"),
    Column("when", "Date", "time"),
    Column("words", "Words", "number", rank=2),
    Column("took", "Time spent", "number", rank=2),
    Column("delete", "Delete", sorts=False),
)


class ProfilePages(TrainerPageGroup):
    """The profile, the history and the report."""

    @page("/profile")
    async def profile(self, request: Request, caller: CurrentCaller) -> Response:
        """Show the caller's strengths, weaknesses, trends and forecasts."""
        record = await self._trainer.profiles.forecasts(caller.user_id)
        return await self._profile(
            request,
            caller.user_id,
            here="profile",
            user_id="",
            record=record,
            calibration=calibration_chart(record),
            brier=brier_chart(record),
            suggestion=await self._trainer.scenarios.suggest(caller.user_id),
            topic=f"trainer/attempts/user/{caller.user_id}",
        )

    @page("/instructor/people/{user_id}", access="admin")
    async def person(self, request: Request, caller: AdminCaller, user_id: ItemId) -> Response:
        """Show anybody's profile to an instructor."""
        del caller
        return await self._profile(
            request,
            user_id,
            here="instructor",
            user_id=user_id,
            record=None,
            suggestion=None,
            topic="",
        )

    @page("/history")
    async def history(self, request: Request, caller: CurrentCaller) -> Response:
        """Show a page of the caller's attempts.

        Raises InvalidCursor.
        """
        cursors, query = self._trainer.cursors, request.query_params
        is_deleted = query.get("notice") == "deleted"
        position = cursors.read(caller, _CURSOR_QUERY, query.get("after"))
        found = await self._trainer.attempts.page(caller.user_id, 20, position)
        scenarios = await self._trainer.scenarios.list(caller.user_id)
        titles = {each.scenario.scenario_id: each.scenario.title for each in scenarios}
        rows = tuple(_row(attempt, titles, caller) for attempt in found.attempts)
        return self._render(
            request,
            "history",
            here="history",
            table=DataTable("attempts", "Your attempts", _COLUMNS, rows, stacks=True),
            next_cursor=cursors.write(caller, _CURSOR_QUERY, found.cursor),
            is_first_page=position is None,
            topic=f"trainer/attempts/user/{caller.user_id}",
            notice="Attempt deleted. Your profile will be updated." if is_deleted else "",
        )

    @page("/report")
    async def report(self, request: Request, caller: CurrentCaller) -> Response:
        """Show a report to print."""
        return self._render(
            request,
            "report",
            here="history",
            report=await self._trainer.exports.report(caller),
            dimensions=DIMENSIONS_BY_NAME,
            judge_label=judge_label,
        )

    async def _profile(self, request: Request, owner_id: str, **values: object) -> Response:
        found = await self._trainer.profiles.history(owner_id, limit=100)
        return self._render(
            request,
            "profile",
            profile=found.latest,
            snapshots=len(found.history),
            trend=trend_chart(found.history),
            overall=overall_chart(found.history),
            dimensions=DIMENSIONS_BY_NAME,
            window=self._trainer.settings.window,
            **values,
        )


def attempt_state(attempt: AttemptRecord) -> tuple[str, Tone]:
    """Return the label and tone of an attempt's state."""
    if attempt.status == "completed":
        return ("Revision", "good") if attempt.revision_of else ("Scored", "good")
    if attempt.status == "abandoned":
        return "Abandoned", "quiet"
    if attempt.submitted_at is None:
        return "Draft", "warn"
    if attempt.evaluation_state == "failed":
        return "Judge unavailable", "bad"
    return "Waiting", "warn"


def _row(attempt: AttemptRecord, titles: Mapping[str, str], caller: Caller) -> Row:
    state, tone = attempt_state(attempt)
    words = sum(answer.word_count for answer in attempt.answers)
    score = None if attempt.evaluation is None else attempt.evaluation.overall_score
    title = titles.get(attempt.scenario_id, attempt.scenario_id)
    seconds = attempt.duration_seconds
    href = f"/trainer/attempts/{attempt.attempt_id}"
    return Row(
        attempt.attempt_id,
        (
            Cell(title, href=href),
            Cell(state, tone=tone, badge=True),
            Cell(formatting.format_number(score), score),
            Cell(time_tag(attempt.timestamp, caller.preferences.time_zone), attempt.timestamp),
            Cell(formatting.format_number(words), words),
            Cell(
                formatting.format_duration(seconds) if seconds else formatting.EMPTY,
                seconds or None,
            ),
            Cell("Delete", href=f"{href}/delete"),
        ),
    )


def trend_chart(profiles: Sequence[ProfileRecord]) -> Chart:
    """Return the moving average of each dimension; `profiles` are newest first."""
    oldest_first = list(reversed(profiles))
    return Chart(
        title="Moving average of each dimension",
        note="Recent attempts, from 0 to 4. Click a name to hide its line.",
        x=_TIME_AXIS,
        y=Axis("Average", digits=2, within=(0, 4)),
        plots=tuple(
            Plot(
                dimension.title,
                "line",
                tuple(
                    (epoch(profile.timestamp), float(each.moving_average))
                    for profile in oldest_first
                    for each in profile.dimensions
                    if each.name == dimension.name
                ),
            )
            for dimension in DIMENSIONS
        ),
        height=320,
    )


def overall_chart(profiles: Sequence[ProfileRecord]) -> Chart:
    """Return the overall average over time; `profiles` are newest first."""
    rows = tuple(
        (epoch(each.timestamp), float(each.overall_average)) for each in reversed(profiles)
    )
    return Chart(
        title="Overall average",
        note="All attempts so far, out of 100.",
        x=_TIME_AXIS,
        y=Axis("Average", digits=1, within=(0, 100)),
        plots=(Plot("Overall", "area", rows, "2"),),
        height=320,
    )


def calibration_chart(record: ForecastRecord) -> Chart:
    """Return how often forecasts came true, by the stated probability."""
    rows = tuple((each.mean_percent, each.happened_percent) for each in record.calibration)
    yours = (Plot("Yours", "line", rows, "2"), Plot("Groups of forecasts", "scatter", rows, "2"))
    return Chart(
        title="Calibration",
        note="How often events happened, by the probability you gave them.",
        x=Axis("Forecast", unit="%", digits=0),
        y=Axis("Happened", unit="%", digits=0, within=(0, 100)),
        plots=(Plot("Perfect", "line", ((0, 0), (100, 100)), "quiet"), *yours),
    )


def brier_chart(record: ForecastRecord) -> Chart:
    """Return the mean Brier score after each resolved forecast."""
    points = [each for each in record.points if each.brier_so_far is not None]
    rows = tuple((epoch(each.forecast_at), each.brier_so_far or 0.0) for each in points)
    coin = ((rows[0][0], 0.25), (rows[-1][0], 0.25)) if rows else ()
    return Chart(
        title="Brier score so far",
        note="Lower is better; always saying 50 % gives 0.25.",
        x=_TIME_AXIS,
        y=Axis("Brier score", digits=3),
        plots=(Plot("Always 50 %", "line", coin, "quiet"), Plot("Yours", "line", rows, "1")),
    )
