"""Kept here: the trainer's routes: who asks, what is asked, and the form of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from fastapi import Path, Query
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response, StreamingResponse

from grandstand.apps.trainer.api import examples
from grandstand.apps.trainer.api.group_models import DimensionsSeen, FlaggedSeen, QuestionsSeen
from grandstand.apps.trainer.api.models import (
    AttemptList,
    AttemptModel,
    AttemptSeen,
    ComparisonModel,
    ForecastsModel,
    GivenAnswerModel,
    NewAttempt,
    Next,
    OfferedModel,
    OverrideAsked,
    ProfileModel,
    ProfileSeen,
    Revising,
    ScenarioList,
    SuggestionModel,
    Writing,
)
from grandstand.apps.trainer.model import Difficulty
from grandstand.apps.trainer.service import (
    AnswerRefused,
    Attempt,
    AttemptNotFound,
    ClientTokenReused,
    Given,
    GivenAnswer,
    NoSecondJudge,
    ScenarioNotFound,
    Trainer,
    WrongState,
)
from grandstand.base.errors import SourceFailed
from grandstand.kit.routes import Admin, Who, delete, get, patch, post

_ACCEPTED: Final = 202

ScenarioId = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$", examples=["two-hospitals"])]
AttemptId = Annotated[
    str,
    Path(pattern=r"^[A-Za-z0-9-]{1,64}$", examples=["550e8400-e29b-41d4-a716-446655440000"]),
]
UserId = Annotated[str, Path(min_length=1, max_length=128, examples=["me"])]
Limit = Annotated[int, Query(ge=1, le=100, examples=[20])]
Cursor = Annotated[str | None, Query(max_length=4000)]

_LATER: Final = {202: "Handed in and not judged yet; `Location` says where to look."}


class TrainerApi:
    """The trainer for programs."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer
        self._cursors = trainer.cursors

    @get("/scenarios", summary="What is on offer", example={"scenarios": [examples.OFFERED]})
    async def scenarios(self, who: Who, difficulty: Difficulty | None = None) -> ScenarioList:
        """What is on offer, easiest first, with the caller's progress."""
        found = await self._trainer.scenarios(who, difficulty)
        return ScenarioList(scenarios=tuple(OfferedModel.model_validate(each) for each in found))

    @get(
        "/scenarios/{scenario_id}",
        summary="One scenario",
        problems=(ScenarioNotFound,),
        example=examples.OFFERED,
    )
    async def scenario(self, who: Who, scenario_id: ScenarioId) -> OfferedModel:
        """A scenario on offer, with the caller's progress."""
        return OfferedModel.model_validate(await self._trainer.scenario(who, scenario_id))

    @get("/suggestion", summary="What to try next")
    async def suggestion(self, who: Who) -> Next:
        """The scenario the caller may try next, and why."""
        found = await self._trainer.suggestion(who)
        told = None if found is None else SuggestionModel.model_validate(found)
        return Next(suggestion=told)

    @post(
        "/attempts",
        summary="Hand in an attempt, or begin a draft",
        problems=(ScenarioNotFound, ClientTokenReused),
        example=examples.ATTEMPT,
        status=201,
        also=_LATER,
    )
    async def begin(self, who: Who, given: NewAttempt, response: Response) -> AttemptModel:
        """The attempt with its evaluation; 202 and where to look when judging takes longer."""
        work = _given(given.answers, given.duration_seconds)
        with _fields_named():
            if given.draft:
                begun = await self._trainer.begin(who, given.scenario_id, work, given.client_token)
                response.headers["location"] = _place(begun)
                return AttemptModel.model_validate(begun)
            attempt = await self._trainer.post(who, given.scenario_id, work, given.client_token)
        return _handed_in(attempt, response)

    @get(
        "/attempts",
        summary="The caller's attempts",
        example={"attempts": [examples.ATTEMPT], "cursor": None},
    )
    async def attempts(self, who: Who, limit: Limit = 20, cursor: Cursor = None) -> AttemptList:
        """The caller's attempts, newest first."""
        position = self._cursors.read(who, "trainer.attempts", cursor)
        found = await self._trainer.attempts(who, limit, position)
        return AttemptList(
            attempts=tuple(AttemptModel.model_validate(each) for each in found.attempts),
            cursor=self._cursors.write(who, "trainer.attempts", found.position),
        )

    @get(
        "/attempts/{attempt_id}",
        summary="One attempt",
        problems=(AttemptNotFound,),
        example={"attempt": examples.ATTEMPT, "scenario": examples.SCENARIO},
    )
    async def attempt(self, who: Who, attempt_id: AttemptId) -> AttemptSeen:
        """An attempt of the caller's, with the author's notes once it is submitted."""
        return AttemptSeen.model_validate(await self._trainer.attempt(who, attempt_id))

    @patch(
        "/attempts/{attempt_id}",
        summary="Save a draft",
        problems=(AttemptNotFound, WrongState),
        example=examples.ATTEMPT,
    )
    async def save(self, who: Who, attempt_id: AttemptId, given: Writing) -> AttemptModel:
        """The draft as it is kept now."""
        work = _given(given.answers, given.duration_seconds)
        with _fields_named():
            return AttemptModel.model_validate(await self._trainer.save(who, attempt_id, work))

    @delete(
        "/attempts/{attempt_id}",
        summary="Delete an attempt",
        problems=(AttemptNotFound, WrongState),
    )
    async def remove(self, who: Who, attempt_id: AttemptId) -> None:
        """Nothing: the attempt is gone, and the profile follows."""
        await self._trainer.delete(who, attempt_id)

    @post(
        "/attempts/{attempt_id}/submit",
        summary="Hand in a draft",
        problems=(AttemptNotFound, WrongState),
        example=examples.ATTEMPT,
        also=_LATER,
    )
    async def submit(
        self, who: Who, attempt_id: AttemptId, response: Response, given: Writing | None = None
    ) -> AttemptModel:
        """The attempt with its evaluation; 202 and where to look when judging takes longer."""
        work = None if given is None else _given(given.answers, given.duration_seconds)
        with _fields_named():
            attempt = await self._trainer.submit(who, attempt_id, work)
        return _handed_in(attempt, response)

    @post(
        "/attempts/{attempt_id}/abandon",
        summary="Give a draft up",
        problems=(AttemptNotFound, WrongState),
        example=examples.ATTEMPT,
    )
    async def abandon(self, who: Who, attempt_id: AttemptId) -> AttemptModel:
        """The attempt, given up."""
        return AttemptModel.model_validate(await self._trainer.abandon(who, attempt_id))

    @post(
        "/attempts/{attempt_id}/opinion",
        summary="Ask for a second opinion",
        problems=(AttemptNotFound, WrongState, NoSecondJudge, SourceFailed),
        example=examples.ATTEMPT,
    )
    async def opinion(self, who: Who, attempt_id: AttemptId) -> AttemptModel:
        """The attempt with both views side by side; no score changes."""
        return AttemptModel.model_validate(await self._trainer.second_opinion(who, attempt_id))

    @post(
        "/attempts/{attempt_id}/revise",
        summary="Begin a revision",
        problems=(AttemptNotFound, ScenarioNotFound, WrongState, ClientTokenReused),
        example=examples.ATTEMPT,
        status=201,
    )
    async def revise(
        self, who: Who, attempt_id: AttemptId, response: Response, given: Revising | None = None
    ) -> AttemptModel:
        """A draft with the answers of the attempt it revises."""
        token = None if given is None else given.client_token
        begun = await self._trainer.revise(who, attempt_id, token)
        response.headers["location"] = _place(begun)
        return AttemptModel.model_validate(begun)

    @get(
        "/attempts/{attempt_id}/comparison",
        summary="Before and after a revision",
        problems=(AttemptNotFound, WrongState),
    )
    async def comparison(self, who: Who, attempt_id: AttemptId) -> ComparisonModel:
        """A judged revision beside the attempt it revises."""
        return ComparisonModel.model_validate(await self._trainer.comparison(who, attempt_id))

    @get(
        "/users/{user_id}/profile",
        summary="A profile and its history",
        problems=(AttemptNotFound,),
        example={"latest": examples.PROFILE, "history": [examples.PROFILE], "cursor": None},
    )
    async def profile(
        self, who: Who, user_id: UserId, limit: Limit = 20, cursor: Cursor = None
    ) -> ProfileSeen:
        """The caller's profile, as `me` or by id; administrators may read everybody's."""
        question = f"trainer.profile/{user_id}"
        position = self._cursors.read(who, question, cursor)
        latest = await self._trainer.profile(who, user_id)
        found = await self._trainer.profile_history(who, user_id, limit, position)
        return ProfileSeen(
            latest=None if latest is None else ProfileModel.model_validate(latest),
            history=tuple(ProfileModel.model_validate(each) for each in found.profiles),
            cursor=self._cursors.write(who, question, found.position),
        )

    @get("/forecasts", summary="The caller's forecasts", example=examples.FORECASTS)
    async def forecasts(self, who: Who) -> ForecastsModel:
        """The caller's forecasts, what came of them, their Brier score and calibration."""
        return ForecastsModel.model_validate(await self._trainer.forecasts(who))

    @get("/export", summary="The caller's whole history")
    async def export(self, who: Who) -> Response:
        """Every attempt and profile of the caller's, as one JSON document."""
        named = {"content-disposition": 'attachment; filename="trainer.json"'}
        pieces = self._trainer.export_json(who)
        return StreamingResponse(pieces, headers=named, media_type="application/json")

    @get("/export.csv", summary="Everything of the caller's, as CSV", answers=str, form="text/csv")
    async def export_csv(self, who: Who) -> Response:
        """Every attempt of the caller's, a line each."""
        named = {"content-disposition": 'attachment; filename="trainer.csv"'}
        lines = self._trainer.export_csv(who)
        return StreamingResponse(lines, headers=named, media_type="text/csv; charset=utf-8")

    @get("/group/dimensions", summary="Scores of everybody", access="admin")
    async def group_dimensions(self) -> DimensionsSeen:
        """How often each score was given in each dimension."""
        return DimensionsSeen.model_validate(await self._trainer.group())

    @get("/group/questions", summary="The hardest questions", access="admin")
    async def group_questions(self) -> QuestionsSeen:
        """The questions people do worst in, hardest first."""
        return QuestionsSeen.model_validate(await self._trainer.group())

    @get("/group/flagged", summary="Attempts to look at", access="admin")
    async def group_flagged(self) -> FlaggedSeen:
        """Attempts that judges disagree about, that address the judge, or that failed."""
        return FlaggedSeen.model_validate(await self._trainer.group())

    @get(
        "/group/attempts/{attempt_id}",
        summary="Anybody's attempt",
        problems=(AttemptNotFound,),
        access="admin",
        example={"attempt": examples.ATTEMPT, "scenario": examples.SCENARIO},
    )
    async def group_attempt(self, attempt_id: AttemptId) -> AttemptSeen:
        """A submitted attempt of anybody's, with the author's notes."""
        return AttemptSeen.model_validate(await self._trainer.reviewed(attempt_id))

    @post(
        "/group/attempts/{attempt_id}/override",
        summary="Change the scores of an attempt",
        problems=(AttemptNotFound, WrongState),
        access="admin",
        example=examples.ATTEMPT,
    )
    async def override(
        self, who: Admin, attempt_id: AttemptId, given: OverrideAsked
    ) -> AttemptModel:
        """The attempt with the new scores; the old ones, the reason and who stay with it."""
        with _fields_named():
            changed = await self._trainer.override(who, attempt_id, given.scores, given.reason)
        return AttemptModel.model_validate(changed)


def _given(answers: tuple[GivenAnswerModel, ...], duration_seconds: int) -> Given:
    kept = tuple(
        GivenAnswer(each.question_id, each.answer, each.probability_percent) for each in answers
    )
    return Given(kept, duration_seconds)


def _handed_in(attempt: Attempt, response: Response) -> AttemptModel:
    if attempt.status != "completed":
        response.status_code = _ACCEPTED
    response.headers["location"] = _place(attempt)
    return AttemptModel.model_validate(attempt)


def _place(attempt: Attempt) -> str:
    return f"/api/trainer/attempts/{attempt.attempt_id}"


@contextmanager
def _fields_named() -> Iterator[None]:
    """Let a refusal of the service name its field as one of the form does."""
    try:
        yield
    except AnswerRefused as refused:
        place = ("body", *refused.field.split("."))
        fault = {"type": "refused", "loc": place, "msg": refused.message}
        raise RequestValidationError([fault]) from refused
