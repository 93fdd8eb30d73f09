"""Pages for instructors: everybody's results, and overrides of scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, DIMENSIONS_BY_NAME
from grandstand.apps.trainer.pages.practice import ItemId, TrainerPageGroup, is_number
from grandstand.apps.trainer.pages.result_view import build_result_view, judge_label
from grandstand.apps.trainer.services.attempts import AttemptWithScenario
from grandstand.apps.trainer.services.instructor import FlaggedAttempt, HardQuestion
from grandstand.apps.trainer.services.validation import InvalidAnswer
from grandstand.core import formatting
from grandstand.kit.auth.caller import Caller
from grandstand.kit.pages.page import form_fields, redirect_to
from grandstand.kit.pages.rendering import time_tag
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import AdminCaller, page

_QUESTION_COLUMNS: Final = (
    Column("question", "Question"),
    Column("scenario", "Scenario"),
    Column("mean", "Mean score", "number"),
    Column("answered", "Answers", "number"),
)
_FLAGGED_COLUMNS: Final = (
    Column("scenario", "Scenario"),
    Column("person", "Person"),
    Column("score", "Score", "number"),
    Column("when", "Submitted", "time"),
    Column("state", "Override"),
    Column("reasons", "Reasons"),
)


class InstructorPages(TrainerPageGroup):
    """The group's results, the review of an attempt, and overrides."""

    @page("/instructor", access="admin")
    async def group(self, request: Request, caller: AdminCaller) -> Response:
        """Show score distributions, the hardest questions, and attempts to review."""
        group = await self._trainer.instructor.summary()
        scenarios = await self._trainer.scenarios.list(caller.user_id)
        titles = {each.scenario.scenario_id: each.scenario.title for each in scenarios}
        query = request.query_params
        return self._render(
            request,
            "instructor",
            here="instructor",
            group=group,
            dimensions=DIMENSIONS_BY_NAME,
            hardest=_question_table(group.hardest, titles).view(query),
            flagged=_flagged_table(group.flagged, titles, caller).view(query),
        )

    @page("/instructor/attempts/{attempt_id}", access="admin")
    async def review(self, request: Request, caller: AdminCaller, attempt_id: ItemId) -> Response:
        """Show anybody's attempt with the form to override scores.

        Raises AttemptNotFound.
        """
        del caller
        return self._review(request, await self._trainer.instructor.get(attempt_id), {})

    @page("/instructor/attempts/{attempt_id}/override", access="admin", method="POST")
    async def override(self, request: Request, caller: AdminCaller, attempt_id: ItemId) -> Response:
        """Override scores and redirect to the attempt.

        Raises AttemptNotFound.
        """
        fields = await form_fields(request)
        view = await self._trainer.instructor.get(attempt_id)
        scores, reason = parse_scores(fields, _scores(view)), fields.get("reason", "")
        try:
            await self._trainer.instructor.override(caller.user_id, attempt_id, scores, reason)
        except InvalidAnswer as error:
            return self._review(request, view, fields, error)
        return redirect_to(f"/trainer/instructor/attempts/{attempt_id}?notice=overridden#trail")

    def _review(
        self,
        request: Request,
        view: AttemptWithScenario,
        fields: Mapping[str, str],
        error: InvalidAnswer | None = None,
    ) -> Response:
        scores = _scores(view)
        is_overridden = request.query_params.get("notice") == "overridden"
        return self._render(
            request,
            "review",
            status=200 if error is None else error.status,
            here="instructor",
            attempt=view.attempt,
            title=view.title,
            result=build_result_view(view),
            comparison=None,
            judge_label=judge_label,
            selected={
                name: fields.get(f"score.{name}", str(scores.get(name, "")))
                for name in DIMENSION_NAMES
            },
            reason=fields.get("reason", ""),
            error="" if error is None else f"{error.message}.",
            notice="Scores changed. The change is recorded below." if is_overridden else "",
        )


def parse_scores(fields: Mapping[str, str], before: Mapping[str, int]) -> dict[str, int]:
    """Return the scores in the override form that differ from those before."""
    texts = {name: fields.get(f"score.{name}", "") for name in DIMENSION_NAMES}
    scores = {name: int(text) for name, text in texts.items() if is_number(text)}
    return {name: score for name, score in scores.items() if before.get(name) != score}


def _scores(view: AttemptWithScenario) -> dict[str, int]:
    evaluation = view.attempt.evaluation
    return {} if evaluation is None else {e.name: e.score for e in evaluation.dimensions}


def _question_table(questions: tuple[HardQuestion, ...], titles: Mapping[str, str]) -> DataTable:
    rows = tuple(
        Row(
            f"{question.scenario_id}-{question.question_id}",
            (
                Cell(question.text, href=f"/trainer/scenarios/{question.scenario_id}"),
                Cell(titles.get(question.scenario_id, question.scenario_id), tone="quiet"),
                Cell(formatting.format_number(question.mean, 2), question.mean),
                Cell(formatting.format_number(question.answered), question.answered),
            ),
        )
        for question in questions
    )
    return DataTable("hardest", "Hardest questions", _QUESTION_COLUMNS, rows, stacks=True)


def _flagged_table(
    attempts: tuple[FlaggedAttempt, ...], titles: Mapping[str, str], caller: Caller
) -> DataTable:
    zone = caller.preferences.time_zone
    rows = tuple(
        Row(
            attempt.attempt_id,
            (
                Cell(
                    titles.get(attempt.scenario_id, attempt.scenario_id),
                    href=f"/trainer/instructor/attempts/{attempt.attempt_id}",
                ),
                Cell(attempt.user_id, href=f"/trainer/instructor/people/{attempt.user_id}"),
                Cell(formatting.format_number(attempt.overall_score), attempt.overall_score),
                Cell(time_tag(attempt.submitted_at, zone), attempt.submitted_at),
                Cell(
                    "Changed" if attempt.overridden else "None",
                    tone="good" if attempt.overridden else "warn",
                    badge=True,
                ),
                Cell("; ".join(attempt.reasons).replace("-", " "), tone="quiet"),
            ),
        )
        for attempt in attempts
    )
    return DataTable("flagged", "Attempts to review", _FLAGGED_COLUMNS, rows, stacks=True)
