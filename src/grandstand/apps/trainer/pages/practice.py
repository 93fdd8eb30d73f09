"""Kept here: the pages on which one chooses a scenario and writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.trainer.model.rubric import BY_NAME
from grandstand.apps.trainer.pages.choosing import Choice, choices
from grandstand.apps.trainer.pages.forms import given_of, token_of
from grandstand.apps.trainer.pages.part import Id, PagesPart
from grandstand.apps.trainer.service import AnswerRefused, AttemptView, Given, WrongState
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.problems import request_id_of
from grandstand.kit.routes import Who, page
from grandstand.kit.who.caller import Caller

_SAID: Final = {
    "abandoned": "The draft is given up. What you wrote stays in your history.",
    "saved": "Saved.",
}


class PracticePages(PagesPart):
    """Choosing a scenario, reading it, writing, saving, handing in and giving up."""

    @page("")
    async def choose(self, request: Request, who: Who) -> Response:
        """What is on offer, as far as it was asked for, and what to try next."""
        offered = await self._trainer.scenarios(who)
        choice = Choice.of(request.query_params)
        return self._render(
            request,
            "choose",
            here="scenarios",
            shelves=choice.shelves(offered),
            found=len(choice.kept(offered)),
            choice=choice,
            choices=choices(offered),
            offered=offered,
            suggestion=await self._trainer.suggestion(who),
            dimensions=BY_NAME,
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    @page("/scenarios/{scenario_id}")
    async def read(self, request: Request, who: Who, scenario_id: Id) -> Response:
        """One scenario before it is begun; raises ScenarioNotFound."""
        return self._render(
            request,
            "scenario",
            here="scenarios",
            offered=await self._trainer.scenario(who, scenario_id),
            dimensions=BY_NAME,
            token=request_id_of(request.scope),
        )

    @page("/scenarios/{scenario_id}/begin", method="POST")
    async def begin(self, request: Request, who: Who, scenario_id: Id) -> Response:
        """Begin a draft and lead to it; raises ScenarioNotFound."""
        token = token_of(await texts_of(request))
        begun = await self._trainer.begin(who, scenario_id, client_token=token)
        return lead_to(f"/trainer/attempts/{begun.attempt_id}")

    @page("/attempts/{attempt_id}/save", method="POST")
    async def save(self, request: Request, who: Who, attempt_id: Id) -> Response:
        """Keep what is written so far, where no script does; raises AttemptNotFound."""
        texts, view = await texts_of(request), await self._draft(who, attempt_id)
        try:
            await self._trainer.save(who, attempt_id, self._given(texts, view))
        except AnswerRefused as refused:
            return self._writing(request, view, texts, refused)
        return lead_to(f"/trainer/attempts/{attempt_id}?said=saved")

    @page("/attempts/{attempt_id}/submit", method="POST")
    async def submit(self, request: Request, who: Who, attempt_id: Id) -> Response:
        """Hand in what is written, and lead to its scores; raises AttemptNotFound, WrongState.

        What is refused is kept as a draft, so that nothing written is lost.
        """
        texts, view = await texts_of(request), await self._draft(who, attempt_id)
        if view.attempt.submitted_at is not None:
            return lead_to(f"/trainer/attempts/{attempt_id}")
        try:
            given = self._given(texts, view)
        except AnswerRefused as refused:
            return self._writing(request, view, texts, refused)
        try:
            await self._trainer.submit(who, attempt_id, given)
        except AnswerRefused as refused:
            return self._writing(request, await self._kept(who, view, given), texts, refused)
        return lead_to(f"/trainer/attempts/{attempt_id}")

    @page("/attempts/{attempt_id}/abandon", method="POST")
    async def abandon(self, who: Who, attempt_id: Id) -> Response:
        """Give a draft up and lead to the scenarios; raises AttemptNotFound and WrongState."""
        await self._trainer.abandon(who, attempt_id)
        return lead_to("/trainer?said=abandoned")

    async def _draft(self, who: Caller, attempt_id: str) -> AttemptView:
        view = await self._trainer.attempt(who, attempt_id)
        if view.scenario is None:
            message = f"The scenario of attempt {attempt_id} is not kept any more"
            raise WrongState(message)
        return view

    async def _kept(self, who: Caller, view: AttemptView, given: Given) -> AttemptView:
        try:
            saved = await self._trainer.save(who, view.attempt.attempt_id, given)
        except AnswerRefused:
            return view
        return AttemptView(saved, view.scenario)

    def _given(self, texts: Mapping[str, str], view: AttemptView) -> Given:
        questions = () if view.scenario is None else view.scenario.questions
        return given_of(texts, questions, self._trainer.now())

    def _writing(
        self,
        request: Request,
        view: AttemptView,
        texts: Mapping[str, str] | None = None,
        refused: AnswerRefused | None = None,
    ) -> Response:
        """The page to write on, with what was sent and why it was refused, if it was."""
        questions = () if view.scenario is None else view.scenario.questions
        written = {each.question_id: each for each in view.attempt.answers}
        kept = {
            name: "" if each.probability_percent is None else str(each.probability_percent)
            for name, each in written.items()
        }
        sent = texts or {}
        return self._render(
            request,
            "writing",
            status=200 if refused is None else refused.status,
            here="scenarios",
            attempt=view.attempt,
            scenario=view.scenario,
            dimensions=BY_NAME,
            opened=int(self._trainer.now().timestamp()),
            fields=[
                {
                    "question": question,
                    "text": sent.get(f"answer.{name}", _text(view, name)),
                    "percent": sent.get(f"probability.{name}", kept.get(name, "")),
                    "words": 0 if name not in written else written[name].word_count,
                    "error": _error(refused, at),
                }
                for at, question in enumerate(questions)
                for name in [question.question_id]
            ],
            refused=refused,
            longest=self._trainer.settings.answer_chars,
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )


def _text(view: AttemptView, question_id: str) -> str:
    return next((a.answer for a in view.attempt.answers if a.question_id == question_id), "")


def _error(refused: AnswerRefused | None, at: int) -> str:
    """What is wrong with one field; the fields are those of the questions, in their order."""
    if refused is None or not refused.field.startswith(f"answers.{at}."):
        return ""
    return f"{refused.message}."
