"""Kept here: the page of one attempt: writing it, waiting for its scores, and reading them."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.trainer.pages.forms import token_of
from grandstand.apps.trainer.pages.part import Id
from grandstand.apps.trainer.pages.practice import PracticePages
from grandstand.apps.trainer.pages.seen import judge_in_words, seen, title_of
from grandstand.apps.trainer.service import (
    AttemptNotFound,
    AttemptView,
    Comparison,
    WrongState,
)
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.problems import request_id_of
from grandstand.kit.routes import Who, page
from grandstand.kit.who.caller import Caller

_SAID: Final = {"opinion": "The second opinion is in."}


class ResultPages(PracticePages):
    """What became of an attempt, and what its owner may do next."""

    @page("/attempts/{attempt_id}")
    async def attempt(self, request: Request, who: Who, attempt_id: Id) -> Response:
        """A draft to write on, or what was handed in; raises AttemptNotFound."""
        view = await self._trainer.attempt(who, attempt_id)
        begun = view.attempt.status == "in-progress" and view.attempt.submitted_at is None
        if begun and view.scenario is not None:
            return self._writing(request, view)
        comparison = await self._comparison(who, view)
        return self._render(
            request,
            "results",
            here="history",
            view=view,
            attempt=view.attempt,
            title=title_of(view),
            seen=seen(view, comparison),
            comparison=comparison,
            judge_in_words=judge_in_words,
            may_ask=self._trainer.settings.second_judge != "none",
            token=request_id_of(request.scope),
            topic=f"trainer/attempts/user/{who.user_id}",
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    @page("/attempts/{attempt_id}/revise", method="POST")
    async def revise(self, request: Request, who: Who, attempt_id: Id) -> Response:
        """Begin a draft from a judged attempt and lead to it; raises as the service does."""
        token = token_of(await texts_of(request))
        begun = await self._trainer.revise(who, attempt_id, token)
        return lead_to(f"/trainer/attempts/{begun.attempt_id}")

    @page("/attempts/{attempt_id}/opinion", method="POST")
    async def opinion(self, who: Who, attempt_id: Id) -> Response:
        """Ask the other judge and lead back; raises as the service does."""
        await self._trainer.second_opinion(who, attempt_id)
        return lead_to(f"/trainer/attempts/{attempt_id}?said=opinion#second")

    @page("/attempts/{attempt_id}/delete")
    async def confirm(self, request: Request, who: Who, attempt_id: Id) -> Response:
        """Ask whether an attempt shall go for good; raises AttemptNotFound."""
        view = await self._trainer.attempt(who, attempt_id)
        return self._render(
            request, "delete", here="history", attempt=view.attempt, title=title_of(view)
        )

    @page("/attempts/{attempt_id}/delete", method="POST")
    async def remove(self, who: Who, attempt_id: Id) -> Response:
        """Delete an attempt and lead to the history; raises AttemptNotFound."""
        await self._trainer.delete(who, attempt_id)
        return lead_to("/trainer/history?said=deleted")

    async def _comparison(self, who: Caller, view: AttemptView) -> Comparison | None:
        """The attempt beside what it revises; None when that is gone, or not both are judged."""
        if view.attempt.revision_of is None or view.attempt.evaluation is None:
            return None
        try:
            return await self._trainer.comparison(who, view.attempt.attempt_id)
        except (AttemptNotFound, WrongState):
            return None
