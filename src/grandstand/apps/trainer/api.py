"""HTTP API of the trainer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Final

from fastapi import Path, Query
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from grandstand.apps.trainer.domain.scenarios import Difficulty
from grandstand.apps.trainer.services import Trainer
from grandstand.apps.trainer.services.attempts import (
    AttemptPage,
    AttemptWithScenario,
    ClientTokenReused,
    Comparison,
)
from grandstand.apps.trainer.services.evaluation import (
    AttemptNotFound,
    AttemptRecord,
    InvalidAttemptState,
)
from grandstand.apps.trainer.services.instructor import (
    FlaggedAttempt,
    HardQuestion,
    ScoreDistribution,
)
from grandstand.apps.trainer.services.profiles import ForecastRecord, ProfileHistory, resolve_user
from grandstand.apps.trainer.services.scenarios import (
    ScenarioNotFound,
    ScenarioWithProgress,
    Suggestion,
)
from grandstand.apps.trainer.services.validation import AnswerInput, AttemptInput, InvalidAnswer
from grandstand.core.errors import SourceFailed
from grandstand.kit.routes import AdminCaller, CamelModel, CurrentCaller, delete, get, patch, post

ScenarioId = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$", examples=["two-hospitals"])]
AttemptId = Annotated[
    str,
    Path(pattern=r"^[A-Za-z0-9-]{1,64}$", examples=["550e8400-e29b-41d4-a716-446655440000"]),
]
UserId = Annotated[str, Path(min_length=1, max_length=128, examples=["me"])]
Limit = Annotated[int, Query(ge=1, le=100, examples=[20])]
Cursor = Annotated[str | None, Query(max_length=4000)]
ClientToken = Annotated[
    str,
    Field(
        pattern=r"^[\x21-\x7e]{1,100}$",
        examples=["0f8b2c1e"],
        description="A value you choose; a retry with the same value has no further effect.",
    ),
]
Seconds = Annotated[int, Field(ge=0, le=604_800, examples=[1800])]

_PENDING: Final = {202: "Submitted and not evaluated yet; poll the URL in `Location`."}


class AnswerBody(CamelModel):
    """An answer to one question."""

    question_id: Annotated[str, Field(max_length=64, examples=["q1"])]
    answer: Annotated[str, Field(examples=["The claim rests on two assumptions: first …"])]
    probability_percent: Annotated[int, Field(ge=0, le=100)] | None = None


class DraftBody(CamelModel):
    """The answers so far."""

    answers: Annotated[tuple[AnswerBody, ...], Field(max_length=10)]
    duration_seconds: Seconds = 0

    def to_input(self) -> AttemptInput:
        """Return the service's input."""
        answers = tuple(
            AnswerInput(each.question_id, each.answer, each.probability_percent)
            for each in self.answers
        )
        return AttemptInput(answers, self.duration_seconds)


class NewAttemptBody(DraftBody):
    """An attempt to submit or, with `draft`, to start."""

    scenario_id: Annotated[str, Field(min_length=1, max_length=64, examples=["two-hospitals"])]
    answers: Annotated[tuple[AnswerBody, ...], Field(max_length=10)] = ()
    client_token: ClientToken | None = None
    draft: bool = False


class RevisionBody(CamelModel):
    """A revision to start."""

    client_token: ClientToken | None = None


class OverrideBody(CamelModel):
    """Scores that replace a judge's; dimensions left out keep their scores."""

    scores: Annotated[
        dict[str, Annotated[int, Field(ge=0, le=4)]],
        Field(min_length=1, max_length=8, examples=[{"logic": 3}]),
    ]
    reason: Annotated[str, Field(min_length=1, max_length=1000, examples=["The sum is right."])]


@dataclass(frozen=True, slots=True)
class ScenarioList:
    """The active scenarios, easiest first."""

    scenarios: tuple[ScenarioWithProgress, ...]


@dataclass(frozen=True, slots=True)
class NextScenario:
    """The scenario to try next; null if none is active."""

    suggestion: Suggestion | None


@dataclass(frozen=True, slots=True)
class GroupScores:
    """The distribution of scores in each dimension."""

    taken_at: datetime
    people: int
    completed: int
    waiting: int
    distributions: tuple[ScoreDistribution, ...]


@dataclass(frozen=True, slots=True)
class GroupQuestions:
    """The questions with the lowest scores, hardest first."""

    taken_at: datetime
    hardest: tuple[HardQuestion, ...]


@dataclass(frozen=True, slots=True)
class FlaggedAttempts:
    """Attempts to review, newest first."""

    taken_at: datetime
    flagged: tuple[FlaggedAttempt, ...]


class TrainerApi:
    """The routes of the trainer."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer
        self._cursors = trainer.cursors

    @get(
        "/scenarios",
        summary="List scenarios",
    )
    async def scenarios(
        self, caller: CurrentCaller, difficulty: Difficulty | None = None
    ) -> ScenarioList:
        """The active scenarios, easiest first, with the caller's progress."""
        return ScenarioList(await self._trainer.scenarios.list(caller.user_id, difficulty))

    @get(
        "/scenarios/{scenario_id}",
        summary="Get a scenario",
        problems=(ScenarioNotFound,),
    )
    async def scenario(
        self, caller: CurrentCaller, scenario_id: ScenarioId
    ) -> ScenarioWithProgress:
        """An active scenario with the caller's progress."""
        return await self._trainer.scenarios.get(caller.user_id, scenario_id)

    @get("/suggestion", summary="Get the suggested next scenario")
    async def suggestion(self, caller: CurrentCaller) -> NextScenario:
        """The scenario to try next, and why."""
        return NextScenario(await self._trainer.scenarios.suggest(caller.user_id))

    @post(
        "/attempts",
        summary="Submit an attempt, or start a draft",
        problems=(ScenarioNotFound, ClientTokenReused),
        status=201,
        also=_PENDING,
    )
    async def create_attempt(
        self, caller: CurrentCaller, body: NewAttemptBody, response: Response
    ) -> AttemptRecord:
        """The attempt with its evaluation; 202 if the evaluation takes longer."""
        create = self._trainer.attempts.start if body.draft else self._trainer.attempts.submit_new
        with _field_errors():
            attempt = await create(
                caller.user_id, body.scenario_id, body.to_input(), body.client_token
            )
        return _located(attempt, response)

    @get(
        "/attempts",
        summary="List your attempts",
    )
    async def attempts(
        self, caller: CurrentCaller, limit: Limit = 20, cursor: Cursor = None
    ) -> AttemptPage:
        """The caller's attempts, newest first."""
        position = self._cursors.read(caller, "trainer.attempts", cursor)
        page = await self._trainer.attempts.page(caller.user_id, limit, position)
        return replace(page, cursor=self._cursors.write(caller, "trainer.attempts", page.cursor))

    @get(
        "/attempts/{attempt_id}",
        summary="Get an attempt",
        problems=(AttemptNotFound,),
    )
    async def attempt(self, caller: CurrentCaller, attempt_id: AttemptId) -> AttemptWithScenario:
        """An attempt of the caller, with the author's notes once it is submitted."""
        return await self._trainer.attempts.get(caller.user_id, attempt_id)

    @patch(
        "/attempts/{attempt_id}",
        summary="Save a draft",
        problems=(AttemptNotFound, InvalidAttemptState),
    )
    async def save(
        self, caller: CurrentCaller, attempt_id: AttemptId, body: DraftBody
    ) -> AttemptRecord:
        """The draft as saved."""
        with _field_errors():
            return await self._trainer.attempts.save(caller.user_id, attempt_id, body.to_input())

    @delete(
        "/attempts/{attempt_id}",
        summary="Delete an attempt",
        problems=(AttemptNotFound, InvalidAttemptState),
    )
    async def remove(self, caller: CurrentCaller, attempt_id: AttemptId) -> None:
        """Nothing; the profile is updated later."""
        await self._trainer.attempts.delete(caller.user_id, attempt_id)

    @post(
        "/attempts/{attempt_id}/submit",
        summary="Submit a draft",
        problems=(AttemptNotFound, InvalidAttemptState),
        also=_PENDING,
    )
    async def submit(
        self,
        caller: CurrentCaller,
        attempt_id: AttemptId,
        response: Response,
        body: DraftBody | None = None,
    ) -> AttemptRecord:
        """The attempt with its evaluation; 202 if the evaluation takes longer."""
        answers = None if body is None else body.to_input()
        with _field_errors():
            attempt = await self._trainer.attempts.submit(caller.user_id, attempt_id, answers)
        return _located(attempt, response)

    @post(
        "/attempts/{attempt_id}/abandon",
        summary="Abandon a draft",
        problems=(AttemptNotFound, InvalidAttemptState),
    )
    async def abandon(self, caller: CurrentCaller, attempt_id: AttemptId) -> AttemptRecord:
        """The abandoned attempt."""
        return await self._trainer.attempts.abandon(caller.user_id, attempt_id)

    @post(
        "/attempts/{attempt_id}/opinion",
        summary="Request a second opinion",
        problems=(AttemptNotFound, InvalidAttemptState, SourceFailed),
    )
    async def opinion(self, caller: CurrentCaller, attempt_id: AttemptId) -> AttemptRecord:
        """The attempt with both opinions; no score changes."""
        evaluations = self._trainer.evaluations
        return await evaluations.request_second_opinion(caller.user_id, attempt_id)

    @post(
        "/attempts/{attempt_id}/revise",
        summary="Start a revision",
        problems=(AttemptNotFound, ScenarioNotFound, InvalidAttemptState, ClientTokenReused),
        status=201,
    )
    async def revise(
        self,
        caller: CurrentCaller,
        attempt_id: AttemptId,
        response: Response,
        body: RevisionBody | None = None,
    ) -> AttemptRecord:
        """A draft with the answers of the attempt it revises."""
        token = None if body is None else body.client_token
        attempt = await self._trainer.attempts.revise(caller.user_id, attempt_id, token)
        return _located(attempt, response)

    @get(
        "/attempts/{attempt_id}/comparison",
        summary="Compare a revision",
        problems=(AttemptNotFound, InvalidAttemptState),
    )
    async def comparison(self, caller: CurrentCaller, attempt_id: AttemptId) -> Comparison:
        """An evaluated revision and the attempt it revises."""
        return await self._trainer.attempts.compare(caller.user_id, attempt_id)

    @get(
        "/users/{user_id}/profile",
        summary="Get a profile and its history",
    )
    async def profile(
        self, caller: CurrentCaller, user_id: UserId, limit: Limit = 20, cursor: Cursor = None
    ) -> ProfileHistory:
        """The caller's profile, as `me` or by id; administrators may read everybody's."""
        query = f"trainer.profile/{user_id}"
        position = self._cursors.read(caller, query, cursor)
        user = resolve_user(caller, user_id)
        found = await self._trainer.profiles.history(user, limit, position)
        return replace(found, cursor=self._cursors.write(caller, query, found.cursor))

    @get("/forecasts", summary="List your forecasts")
    async def forecasts(self, caller: CurrentCaller) -> ForecastRecord:
        """The caller's forecasts with outcomes, Brier score and calibration."""
        return await self._trainer.profiles.forecasts(caller.user_id)

    @get("/export", summary="Export your history as JSON")
    async def export(self, caller: CurrentCaller) -> Response:
        """All attempts and profiles of the caller, as one JSON document."""
        content = self._trainer.exports.export_json(caller.user_id)
        return _download(content, "trainer.json", "application/json")

    @get("/export.csv", summary="Export your attempts as CSV", answers=str, form="text/csv")
    async def export_csv(self, caller: CurrentCaller) -> Response:
        """All attempts of the caller, one per line."""
        content = self._trainer.exports.export_csv(caller.user_id)
        return _download(content, "trainer.csv", "text/csv; charset=utf-8")

    @get("/group/dimensions", summary="Get everybody's score distribution", access="admin")
    async def group_dimensions(self) -> GroupScores:
        """How often each score was given in each dimension."""
        group = await self._trainer.instructor.summary()
        return GroupScores(
            group.taken_at, group.people, group.completed, group.waiting, group.distributions
        )

    @get("/group/questions", summary="List the hardest questions", access="admin")
    async def group_questions(self) -> GroupQuestions:
        """The questions with the lowest scores, hardest first."""
        group = await self._trainer.instructor.summary()
        return GroupQuestions(group.taken_at, group.hardest)

    @get("/group/flagged", summary="List attempts to review", access="admin")
    async def group_flagged(self) -> FlaggedAttempts:
        """Attempts with differing scores, text aimed at the judge, or a failed evaluation."""
        group = await self._trainer.instructor.summary()
        return FlaggedAttempts(group.taken_at, group.flagged)

    @get(
        "/group/attempts/{attempt_id}",
        summary="Get anybody's attempt",
        problems=(AttemptNotFound,),
        access="admin",
    )
    async def group_attempt(self, attempt_id: AttemptId) -> AttemptWithScenario:
        """A submitted attempt of anybody, with the author's notes."""
        return await self._trainer.instructor.get(attempt_id)

    @post(
        "/group/attempts/{attempt_id}/override",
        summary="Override scores",
        problems=(AttemptNotFound, InvalidAttemptState),
        access="admin",
    )
    async def override(
        self, caller: AdminCaller, attempt_id: AttemptId, body: OverrideBody
    ) -> AttemptRecord:
        """The attempt with the new scores, and a record of the change."""
        with _field_errors():
            return await self._trainer.instructor.override(
                caller.user_id, attempt_id, body.scores, body.reason
            )


def _located(attempt: AttemptRecord, response: Response) -> AttemptRecord:
    """Set the Location header, and 202 while the evaluation is pending."""
    if attempt.submitted_at is not None and attempt.status != "completed":
        response.status_code = 202
    response.headers["location"] = f"/api/trainer/attempts/{attempt.attempt_id}"
    return attempt


def _download(content: AsyncIterator[bytes], name: str, media_type: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(content, headers=headers, media_type=media_type)


@contextmanager
def _field_errors() -> Iterator[None]:
    """Turn InvalidAnswer into a validation error that names the field of the body."""
    try:
        yield
    except InvalidAnswer as error:
        location = ("body", *error.field.split("."))
        problem = {"type": "invalid_answer", "loc": location, "msg": error.message}
        raise RequestValidationError([problem]) from error
