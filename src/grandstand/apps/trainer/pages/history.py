"""Kept here: what a person has written so far, page by page, and the report they can print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.trainer.model.rubric import BY_NAME
from grandstand.apps.trainer.pages.part import PagesPart
from grandstand.apps.trainer.pages.seen import judge_in_words
from grandstand.apps.trainer.service import Attempt
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row, Tone
from grandstand.kit.routes import Who, page
from grandstand.kit.who.caller import Caller

_ON_A_PAGE: Final = 20
_CURSOR_OF: Final = "trainer.history"
_SAID: Final = {"deleted": "The attempt is deleted; your profile follows."}
_COLUMNS: Final = (
    Column("scenario", "Scenario"),
    Column("state", "State"),
    Column("score", "Score", "number"),
    Column("when", "When", "time"),
    Column("words", "Words", "number", rank=2),
    Column("took", "Time spent", "number", rank=2),
    Column("delete", "Delete", sorts=False),
)


class HistoryPages(PagesPart):
    """One's attempts, newest first, and the report."""

    @page("/history")
    async def history(self, request: Request, who: Who) -> Response:
        """A page of one's attempts; raises CursorRefused."""
        cursors, query = self._trainer.cursors, request.query_params
        position = cursors.read(who, _CURSOR_OF, query.get("after"))
        found = await self._trainer.attempts(who, _ON_A_PAGE, position)
        titles = await self._titles(who)
        rows = tuple(_row(each, titles, who) for each in found.attempts)
        table = DataTable("attempts", "Your attempts", _COLUMNS, rows, stacks=True)
        return self._render(
            request,
            "history",
            here="history",
            table=table,
            later=cursors.write(who, _CURSOR_OF, found.position),
            first=position is None,
            topic=f"trainer/attempts/user/{who.user_id}",
            said=_SAID.get(query.get("said", ""), ""),
        )

    @page("/report")
    async def report(self, request: Request, who: Who) -> Response:
        """Everything about one's training on a page made for paper."""
        made = await self._trainer.report(who)
        return self._render(
            request,
            "report",
            here="history",
            report=made,
            dimensions=BY_NAME,
            judge_in_words=judge_in_words,
        )

    async def _titles(self, who: Caller) -> dict[str, str]:
        offered = await self._trainer.scenarios(who)
        return {each.scenario.scenario_id: each.scenario.title for each in offered}


def state_of(attempt: Attempt) -> tuple[str, Tone]:
    """Say in a word or two where an attempt is, and in which tone."""
    if attempt.status == "completed":
        return ("Revision", "good") if attempt.revision_of else ("Judged", "good")
    if attempt.status == "abandoned":
        return "Given up", "quiet"
    if attempt.submitted_at is None:
        return "Draft", "warn"
    return ("Judge is away", "bad") if attempt.evaluation_state == "failed" else ("Waiting", "warn")


def _row(attempt: Attempt, titles: Mapping[str, str], who: Caller) -> Row:
    state, tone = state_of(attempt)
    words = sum(each.word_count for each in attempt.answers)
    score = None if attempt.evaluation is None else attempt.evaluation.overall_score
    title = titles.get(attempt.scenario_id, attempt.scenario_id)
    seconds = attempt.duration_seconds
    zone = who.preferences.time_zone
    place = f"/trainer/attempts/{attempt.attempt_id}"
    return Row(
        attempt.attempt_id,
        (
            Cell(title, href=place),
            Cell(state, tone=tone, badge=True),
            Cell(shown.number(score), score),
            Cell(shown.time_tag(attempt.timestamp, zone), attempt.timestamp),
            Cell(shown.number(words), words),
            Cell(shown.duration(seconds) if seconds else shown.NOTHING, seconds or None),
            Cell("Delete", href=f"{place}/delete"),
        ),
    )
