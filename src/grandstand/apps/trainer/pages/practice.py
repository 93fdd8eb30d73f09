"""Pages to choose a scenario, write an attempt and see its result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, DIMENSIONS_BY_NAME
from grandstand.apps.trainer.domain.scenarios import DIFFICULTIES, Question
from grandstand.apps.trainer.pages.result_view import build_result_view, judge_label
from grandstand.apps.trainer.services import Trainer
from grandstand.apps.trainer.services.attempts import AttemptWithScenario, Comparison
from grandstand.apps.trainer.services.evaluation import AttemptNotFound, InvalidAttemptState
from grandstand.apps.trainer.services.scenarios import ScenarioWithProgress
from grandstand.apps.trainer.services.validation import (
    MAX_DURATION_SECONDS,
    AnswerInput,
    AttemptInput,
    InvalidAnswer,
)
from grandstand.kit.auth.caller import Caller
from grandstand.kit.pages.page import AppPages, form_fields, redirect_to
from grandstand.kit.pages.rendering import Pages
from grandstand.kit.problems import request_id_of
from grandstand.kit.routes import CurrentCaller, page

ItemId = Annotated[str, Path(min_length=1, max_length=128)]

_MAX_SITTING: Final = timedelta(hours=4)
_NOTICES: Final = {
    "abandoned": "Draft abandoned. Your answers are still in your history.",
    "saved": "Saved.",
    "opinion": "The second opinion is ready.",
}

_PROGRESS_LABELS: Final = {
    "new": "Not tried",
    "draft": "Draft",
    "waiting": "Waiting for scores",
    "done": "Done",
}


@dataclass(frozen=True, slots=True)
class ScenarioGroup:
    """The scenarios of one difficulty."""

    difficulty: str
    scenarios: tuple[ScenarioWithProgress, ...]
    done: int


@dataclass(frozen=True, slots=True)
class ScenarioFilter:
    """The selected filters; an empty one does not filter."""

    difficulty: str = ""
    topic: str = ""
    exercise: str = ""
    progress: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> ScenarioFilter:
        """Read the filters from a query; unknown values are ignored."""
        difficulty, progress = query.get("difficulty", ""), query.get("progress", "")
        exercise = query.get("exercise", "")
        return cls(
            difficulty if difficulty in DIFFICULTIES else "",
            query.get("topic", "")[:64],
            exercise if exercise in DIMENSIONS_BY_NAME else "",
            progress if progress in _PROGRESS_LABELS else "",
        )

    @property
    def is_active(self) -> bool:
        """Whether any filter is selected."""
        return self != ScenarioFilter()

    def matches(self, item: ScenarioWithProgress) -> bool:
        """Return whether a scenario passes all filters."""
        scenario = item.scenario
        return (
            self.difficulty in ("", scenario.difficulty)
            and (not self.topic or self.topic in scenario.tags)
            and (not self.exercise or self.exercise in scenario.focus_areas)
            and self.progress in ("", item.progress.state)
        )

    def group(self, items: Iterable[ScenarioWithProgress]) -> tuple[ScenarioGroup, ...]:
        """Group the matching scenarios by difficulty, easiest first, without empty groups."""
        matching = [item for item in items if self.matches(item)]
        groups = (
            (name, tuple(item for item in matching if item.scenario.difficulty == name))
            for name in DIFFICULTIES
        )
        return tuple(
            ScenarioGroup(name, members, sum(each.progress.completed > 0 for each in members))
            for name, members in groups
            if members
        )


class TrainerPageGroup(AppPages):
    """Base of the trainer's page handlers."""

    def __init__(self, trainer: Trainer, pages: Pages) -> None:
        super().__init__(pages, "trainer", {})
        self._trainer = trainer


class PracticePages(TrainerPageGroup):
    """Choosing a scenario, writing, submitting, and the results."""

    @page("")
    async def choose(self, request: Request, caller: CurrentCaller) -> Response:
        """Show the scenarios, filtered, and a suggestion."""
        scenarios = await self._trainer.scenarios.list(caller.user_id)
        selected = ScenarioFilter.from_query(request.query_params)
        groups = selected.group(scenarios)
        return self._render(
            request,
            "choose",
            here="scenarios",
            groups=groups,
            match_count=sum(len(group.scenarios) for group in groups),
            selected=selected,
            options=filter_options(scenarios),
            scenarios=scenarios,
            suggestion=await self._trainer.scenarios.suggest(caller.user_id),
            dimensions=DIMENSIONS_BY_NAME,
            notice=_notice(request),
        )

    @page("/scenarios/{scenario_id}")
    async def read(self, request: Request, caller: CurrentCaller, scenario_id: ItemId) -> Response:
        """Show one scenario.

        Raises ScenarioNotFound.
        """
        return self._render(
            request,
            "scenario",
            here="scenarios",
            item=await self._trainer.scenarios.get(caller.user_id, scenario_id),
            dimensions=DIMENSIONS_BY_NAME,
            token=request_id_of(request.scope),
        )

    @page("/scenarios/{scenario_id}/begin", method="POST")
    async def begin(self, request: Request, caller: CurrentCaller, scenario_id: ItemId) -> Response:
        """Start a draft and redirect to it.

        Raises ScenarioNotFound.
        """
        token = parse_token(await form_fields(request))
        draft = await self._trainer.attempts.start(caller.user_id, scenario_id, client_token=token)
        return redirect_to(f"/trainer/attempts/{draft.attempt_id}")

    @page("/attempts/{attempt_id}")
    async def attempt(
        self, request: Request, caller: CurrentCaller, attempt_id: ItemId
    ) -> Response:
        """Show the editor of a draft, or the results.

        Raises AttemptNotFound.
        """
        view = await self._trainer.attempts.get(caller.user_id, attempt_id)
        is_draft = view.attempt.status == "in-progress" and view.attempt.submitted_at is None
        if is_draft and view.scenario is not None:
            return self._editor(request, view)
        comparison = await self._comparison(caller, view)
        return self._render(
            request,
            "results",
            here="history",
            attempt=view.attempt,
            scenario=view.scenario,
            title=view.title,
            result=build_result_view(view, comparison),
            comparison=comparison,
            judge_label=judge_label,
            has_second_judge=self._trainer.settings.second_judge != "none",
            token=request_id_of(request.scope),
            topic=f"trainer/attempts/user/{caller.user_id}",
            notice=_notice(request),
        )

    @page("/attempts/{attempt_id}/save", method="POST")
    async def save(self, request: Request, caller: CurrentCaller, attempt_id: ItemId) -> Response:
        """Save a draft without JavaScript.

        Raises AttemptNotFound.
        """
        fields, view = await form_fields(request), await self._draft(caller, attempt_id)
        try:
            await self._trainer.attempts.save(caller.user_id, attempt_id, self._input(fields, view))
        except InvalidAnswer as error:
            return self._editor(request, view, fields, error)
        return redirect_to(f"/trainer/attempts/{attempt_id}?notice=saved")

    @page("/attempts/{attempt_id}/submit", method="POST")
    async def submit(self, request: Request, caller: CurrentCaller, attempt_id: ItemId) -> Response:
        """Submit an attempt and redirect to its results; an invalid one is saved as a draft.

        Raises AttemptNotFound or InvalidAttemptState.
        """
        fields, view = await form_fields(request), await self._draft(caller, attempt_id)
        if view.attempt.submitted_at is not None:
            return redirect_to(f"/trainer/attempts/{attempt_id}")
        try:
            attempt = self._input(fields, view)
        except InvalidAnswer as error:
            return self._editor(request, view, fields, error)
        try:
            await self._trainer.attempts.submit(caller.user_id, attempt_id, attempt)
        except InvalidAnswer as error:
            saved = await self._save_quietly(caller, view, attempt)
            return self._editor(request, saved, fields, error)
        return redirect_to(f"/trainer/attempts/{attempt_id}")

    @page("/attempts/{attempt_id}/abandon", method="POST")
    async def abandon(self, caller: CurrentCaller, attempt_id: ItemId) -> Response:
        """Abandon a draft and redirect to the scenarios.

        Raises AttemptNotFound or InvalidAttemptState.
        """
        await self._trainer.attempts.abandon(caller.user_id, attempt_id)
        return redirect_to("/trainer?notice=abandoned")

    @page("/attempts/{attempt_id}/revise", method="POST")
    async def revise(self, request: Request, caller: CurrentCaller, attempt_id: ItemId) -> Response:
        """Start a revision and redirect to it."""
        token = parse_token(await form_fields(request))
        draft = await self._trainer.attempts.revise(caller.user_id, attempt_id, token)
        return redirect_to(f"/trainer/attempts/{draft.attempt_id}")

    @page("/attempts/{attempt_id}/opinion", method="POST")
    async def opinion(self, caller: CurrentCaller, attempt_id: ItemId) -> Response:
        """Request a second opinion and redirect to it."""
        await self._trainer.evaluations.request_second_opinion(caller.user_id, attempt_id)
        return redirect_to(f"/trainer/attempts/{attempt_id}?notice=opinion#second")

    @page("/attempts/{attempt_id}/delete")
    async def confirm(
        self, request: Request, caller: CurrentCaller, attempt_id: ItemId
    ) -> Response:
        """Ask for confirmation before an attempt is deleted.

        Raises AttemptNotFound.
        """
        view = await self._trainer.attempts.get(caller.user_id, attempt_id)
        return self._render(
            request, "delete", here="history", attempt=view.attempt, title=view.title
        )

    @page("/attempts/{attempt_id}/delete", method="POST")
    async def remove(self, caller: CurrentCaller, attempt_id: ItemId) -> Response:
        """Delete an attempt and redirect to the history.

        Raises AttemptNotFound.
        """
        await self._trainer.attempts.delete(caller.user_id, attempt_id)
        return redirect_to("/trainer/history?notice=deleted")

    async def _comparison(self, caller: Caller, view: AttemptWithScenario) -> Comparison | None:
        """Compare with the attempt it revises; None if that is deleted or not evaluated."""
        if view.attempt.revision_of is None or view.attempt.evaluation is None:
            return None
        try:
            return await self._trainer.attempts.compare(caller.user_id, view.attempt.attempt_id)
        except (AttemptNotFound, InvalidAttemptState):
            return None

    async def _draft(self, caller: Caller, attempt_id: str) -> AttemptWithScenario:
        view = await self._trainer.attempts.get(caller.user_id, attempt_id)
        if view.scenario is None:
            raise InvalidAttemptState(f"The scenario of attempt {attempt_id} no longer exists.")
        return view

    async def _save_quietly(
        self, caller: Caller, view: AttemptWithScenario, attempt: AttemptInput
    ) -> AttemptWithScenario:
        try:
            saved = await self._trainer.attempts.save(
                caller.user_id, view.attempt.attempt_id, attempt
            )
        except InvalidAnswer:
            return view
        return AttemptWithScenario(saved, view.scenario)

    def _input(self, fields: Mapping[str, str], view: AttemptWithScenario) -> AttemptInput:
        questions = () if view.scenario is None else view.scenario.questions
        return parse_attempt(fields, questions, self._trainer.clock.now())

    def _editor(
        self,
        request: Request,
        view: AttemptWithScenario,
        fields: Mapping[str, str] | None = None,
        error: InvalidAnswer | None = None,
    ) -> Response:
        """Render the editor, with the submitted fields and the error, if there is one."""
        return self._render(
            request,
            "writing",
            status=200 if error is None else error.status,
            here="scenarios",
            attempt=view.attempt,
            scenario=view.scenario,
            dimensions=DIMENSIONS_BY_NAME,
            opened=int(self._trainer.clock.now().timestamp()),
            fields=_editor_fields(view, fields or {}, error),
            error=error,
            max_chars=self._trainer.settings.answer_chars,
            notice=_notice(request),
        )


def filter_options(items: Iterable[ScenarioWithProgress]) -> dict[str, list[tuple[str, str]]]:
    """Return the values of each filter with their labels."""
    topics = sorted({tag for item in items for tag in item.scenario.tags})
    return {
        "difficulty": [("", "Any"), *((name, name.capitalize()) for name in DIFFICULTIES)],
        "topic": [("", "Any"), *((tag, tag.replace("-", " ").capitalize()) for tag in topics)],
        "exercise": [
            ("", "Any"),
            *((name, DIMENSIONS_BY_NAME[name].title) for name in DIMENSION_NAMES),
        ],
        "progress": [("", "Any"), *_PROGRESS_LABELS.items()],
    }


def parse_token(fields: Mapping[str, str]) -> str | None:
    """Return the client token, which makes a form that is sent twice count once."""
    return fields.get("token", "")[:100] or None


def parse_attempt(
    fields: Mapping[str, str], questions: Sequence[Question], now: datetime
) -> AttemptInput:
    """Return the answers of the editor's form.

    Without JavaScript, the seconds are those since the page was opened, at most four hours.

    Raises InvalidAnswer if a probability is not a number.
    """
    answers = tuple(
        AnswerInput(
            question.question_id,
            fields.get(f"answer.{question.question_id}", ""),
            _parse_percent(fields.get(f"probability.{question.question_id}", ""), at),
        )
        for at, question in enumerate(questions)
    )
    return AttemptInput(answers, _parse_seconds(fields, now))


def is_number(text: str) -> bool:
    """Return whether a form field is a non-negative integer of reasonable length."""
    return text.isascii() and text.isdigit() and len(text) <= 12


def _parse_percent(text: str, at: int) -> int | None:
    if not text.strip():
        return None
    if not is_number(text.strip()):
        message = "A probability must be a whole number from 0 to 100 percent"
        raise InvalidAnswer(f"answers.{at}.probabilityPercent", message)
    return int(text)


def _parse_seconds(fields: Mapping[str, str], now: datetime) -> int:
    counted, opened = fields.get("seconds", ""), fields.get("opened", "")
    seconds = int(counted) if is_number(counted) else 0
    if is_number(opened):
        elapsed = now - datetime.fromtimestamp(min(int(opened), now.timestamp()), UTC)
        seconds += int(min(elapsed, _MAX_SITTING).total_seconds())
    return min(seconds, MAX_DURATION_SECONDS)


def _editor_fields(
    view: AttemptWithScenario, fields: Mapping[str, str], error: InvalidAnswer | None
) -> list[dict[str, object]]:
    """Return the fields of each question: as sent, else as saved."""
    saved = {answer.question_id: answer for answer in view.attempt.answers}
    entries: list[dict[str, object]] = []
    for at, question in enumerate(() if view.scenario is None else view.scenario.questions):
        question_id = question.question_id
        answer = saved.get(question_id)
        percent = None if answer is None else answer.probability_percent
        is_invalid = error is not None and error.field.startswith(f"answers.{at}.")
        entries.append(
            {
                "question": question,
                "text": fields.get(
                    f"answer.{question_id}", "" if answer is None else answer.answer
                ),
                "percent": fields.get(
                    f"probability.{question_id}", "" if percent is None else str(percent)
                ),
                "words": 0 if answer is None else answer.word_count,
                "error": f"{error.message}." if error is not None and is_invalid else "",
            }
        )
    return entries


def _notice(request: Request) -> str:
    return _NOTICES.get(request.query_params.get("notice", ""), "")
