"""Kept here: what instructors see of everybody, and the form by which they change scores."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.trainer.model.rubric import BY_NAME, NAMES
from grandstand.apps.trainer.pages.forms import scores_of
from grandstand.apps.trainer.pages.part import Id, PagesPart
from grandstand.apps.trainer.pages.seen import judge_in_words, seen, title_of
from grandstand.apps.trainer.service import AnswerRefused, AttemptView, Flagged, HardQuestion
from grandstand.kit.pages import shown
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Admin, page
from grandstand.kit.who.caller import Caller

_QUESTION_COLUMNS = (
    Column("question", "Question"),
    Column("scenario", "Scenario"),
    Column("mean", "Mean score", "number"),
    Column("answered", "Answered", "number"),
)
_FLAGGED_COLUMNS = (
    Column("scenario", "Scenario"),
    Column("person", "Person"),
    Column("score", "Score", "number"),
    Column("when", "Handed in", "time"),
    Column("state", "Looked at"),
    Column("reasons", "Why"),
)


class InstructorPages(PagesPart):
    """Everybody's attempts seen together, one of them looked at, and scores put right."""

    @page("/instructor", access="admin")
    async def group(self, request: Request, who: Admin) -> Response:
        """Distributions, the hardest questions, and attempts somebody should look at."""
        group = await self._trainer.group()
        offered = await self._trainer.scenarios(who)
        titles = {each.scenario.scenario_id: each.scenario.title for each in offered}
        query = request.query_params
        return self._render(
            request,
            "instructor",
            here="instructor",
            group=group,
            dimensions=BY_NAME,
            hardest=_hardest(group.hardest, titles).view(query),
            flagged=_flagged(group.flagged, titles, who).view(query),
        )

    @page("/instructor/attempts/{attempt_id}", access="admin")
    async def look(self, request: Request, who: Admin, attempt_id: Id) -> Response:
        """Anybody's attempt, with the form to change its scores; raises AttemptNotFound."""
        del who
        view = await self._trainer.reviewed(attempt_id)
        return self._looked_at(request, view, {})

    @page("/instructor/attempts/{attempt_id}/override", access="admin", method="POST")
    async def override(self, request: Request, who: Admin, attempt_id: Id) -> Response:
        """Change scores for a reason and lead back; raises AttemptNotFound."""
        texts = await texts_of(request)
        view = await self._trainer.reviewed(attempt_id)
        scores = scores_of(texts, _scores(view))
        try:
            await self._trainer.override(who, attempt_id, scores, texts.get("reason", ""))
        except AnswerRefused as refused:
            return self._looked_at(request, view, texts, refused)
        return lead_to(f"/trainer/instructor/attempts/{attempt_id}?said=overridden#trail")

    def _looked_at(
        self,
        request: Request,
        view: AttemptView,
        texts: Mapping[str, str],
        refused: AnswerRefused | None = None,
    ) -> Response:
        scores = _scores(view)
        said = request.query_params.get("said") == "overridden"
        return self._render(
            request,
            "review",
            status=200 if refused is None else refused.status,
            here="instructor",
            view=view,
            attempt=view.attempt,
            title=title_of(view),
            seen=seen(view),
            comparison=None,
            judge_in_words=judge_in_words,
            chosen={name: texts.get(f"score.{name}", str(scores.get(name, ""))) for name in NAMES},
            reason=texts.get("reason", ""),
            error="" if refused is None else f"{refused.message}.",
            said="The scores are changed; who, when and why is kept below." if said else "",
        )


def _scores(view: AttemptView) -> dict[str, int]:
    evaluation = view.attempt.evaluation
    return {} if evaluation is None else {e.name: e.score for e in evaluation.dimensions}


def _hardest(questions: tuple[HardQuestion, ...], titles: Mapping[str, str]) -> DataTable:
    rows = tuple(
        Row(
            f"{each.scenario_id}-{each.question_id}",
            (
                Cell(each.text, href=f"/trainer/scenarios/{each.scenario_id}"),
                Cell(titles.get(each.scenario_id, each.scenario_id), tone="quiet"),
                Cell(shown.number(float(each.mean), 2), float(each.mean)),
                Cell(shown.number(each.answered), each.answered),
            ),
        )
        for each in questions
    )
    return DataTable("hardest", "Hardest questions", _QUESTION_COLUMNS, rows, stacks=True)


def _flagged(flagged: tuple[Flagged, ...], titles: Mapping[str, str], who: Caller) -> DataTable:
    zone = who.preferences.time_zone
    rows = tuple(
        Row(
            each.attempt_id,
            (
                Cell(
                    titles.get(each.scenario_id, each.scenario_id),
                    href=f"/trainer/instructor/attempts/{each.attempt_id}",
                ),
                Cell(each.user_id, href=f"/trainer/instructor/people/{each.user_id}"),
                Cell(shown.number(each.overall_score), each.overall_score),
                Cell(shown.time_tag(each.submitted_at, zone), each.submitted_at),
                Cell(
                    "Changed" if each.overridden else "Not yet",
                    tone="good" if each.overridden else "warn",
                    badge=True,
                ),
                Cell("; ".join(each.reasons).replace("-", " "), tone="quiet"),
            ),
        )
        for each in flagged
    )
    return DataTable("flagged", "Attempts to look at", _FLAGGED_COLUMNS, rows, stacks=True)
