"""Kept here: the routes of people's own models, back-tests and tables of figures."""

from __future__ import annotations

from typing import Final

from grandstand.apps.bets.api import examples
from grandstand.apps.bets.api.asking import Cursor, Days, Limit, ModelId, OwnId, RoutesPart
from grandstand.apps.bets.api.building_models import (
    BacktestList,
    BacktestModel,
    BuiltInWalkAsked,
    DatasetList,
    DatasetModel,
    ModelAsked,
    OwnPerformance,
    PredictionList,
    StatusAsked,
    UploadAsked,
    UserModelList,
    UserModelModel,
    WalkAsked,
)
from grandstand.apps.bets.api.game_models import AnalysisModel
from grandstand.apps.bets.service import (
    BacktestUnknown,
    DatasetRefused,
    DatasetUnknown,
    ModelRefused,
    ModelUnknown,
    ModelView,
    Page,
    Pick,
    SportUnknown,
    TooManyModels,
    WalkRefused,
)
from grandstand.base.errors import InvalidInput
from grandstand.kit.routes import Who, delete, get, patch, post, put
from grandstand.kit.who.caller import Caller

_CREATED: Final = 201


class BuildingRoutes(RoutesPart):
    """What people build; everything of others is not found."""

    @get(
        "/user-models",
        summary="The caller's models",
        example={"models": [examples.USER_MODEL], "count": 1},
    )
    async def user_models(self, who: Who) -> UserModelList:
        """The caller's models by name."""
        found = await self._bets.user_models(who)
        return UserModelList(models=tuple(map(UserModelModel.of, found)), count=len(found))

    @post(
        "/user-models",
        summary="Keep a new model",
        problems=(ModelRefused, TooManyModels),
        status=_CREATED,
        example=examples.USER_MODEL,
    )
    async def create_model(self, who: Who, asked: ModelAsked) -> UserModelModel:
        """The model as it is kept; it predicts from the next run on."""
        made = await self._bets.create_model(who, asked.draft())
        return UserModelModel.of(await self._turned(who, made, asked))

    @get("/user-models/predictions", summary="What the caller's models predict")
    async def predictions(
        self, who: Who, limit: Limit = 20, cursor: Cursor = None
    ) -> PredictionList:
        """What each of the caller's models predicts for games to come, model by model."""
        question = "bets.predictions"
        place = self._cursors.read(who, question, cursor) or "|"
        page = await self._predicted(who, limit, place)
        return PredictionList(
            predictions=tuple(map(AnalysisModel.model_validate, page.items)),
            count=len(page.items),
            cursor=self._cursors.write(who, question, page.position),
        )

    @get("/user-models/{model_id}", summary="One of the caller's models", problems=(ModelUnknown,))
    async def user_model(self, who: Who, model_id: ModelId) -> UserModelModel:
        """A model of the caller's."""
        return UserModelModel.of(await self._bets.user_model(who, model_id))

    @put(
        "/user-models/{model_id}",
        summary="Change a model",
        problems=(ModelUnknown, ModelRefused),
        example=examples.USER_MODEL,
    )
    async def revise_model(self, who: Who, model_id: ModelId, asked: ModelAsked) -> UserModelModel:
        """The model as it is now; what it predicted before stays as it was."""
        made = await self._bets.revise_model(who, model_id, asked.draft())
        return UserModelModel.of(await self._turned(who, made, asked))

    @patch("/user-models/{model_id}", summary="Pause a model, or go on", problems=(ModelUnknown,))
    async def turn_model(self, who: Who, model_id: ModelId, asked: StatusAsked) -> UserModelModel:
        """The model as it is now; a paused one predicts nothing."""
        paused = asked.status == "paused"
        return UserModelModel.of(await self._bets.turn_model(who, model_id, paused=paused))

    @delete("/user-models/{model_id}", summary="Remove a model", problems=(ModelUnknown,))
    async def remove_model(self, who: Who, model_id: ModelId) -> None:
        """Nothing: the model is gone."""
        await self._bets.remove_model(who, model_id)

    @get(
        "/user-models/{model_id}/predictions",
        summary="What one model predicts",
        problems=(ModelUnknown,),
    )
    async def model_predictions(
        self, who: Who, model_id: ModelId, limit: Limit = 20, cursor: Cursor = None
    ) -> PredictionList:
        """What a model of the caller's predicts for games to come."""
        question = f"bets.predictions/{model_id}"
        after = self._cursors.read(who, question, cursor)
        page = await self._bets.user_model_picks(who, model_id, limit=limit, after=after)
        return PredictionList(
            predictions=tuple(map(AnalysisModel.model_validate, page.items)),
            count=len(page.items),
            cursor=self._cursors.write(who, question, page.position),
        )

    @get(
        "/user-models/{model_id}/performance",
        summary="How one model has done",
        problems=(ModelUnknown,),
    )
    async def performance(self, who: Who, model_id: ModelId, days: Days = 90) -> OwnPerformance:
        """How a model of the caller's has done."""
        return OwnPerformance.of(await self._bets.user_model_performance(who, model_id, days=days))

    @get(
        "/user-models/{model_id}/backtests",
        summary="A model's back-tests",
        problems=(ModelUnknown,),
    )
    async def model_backtests(
        self, who: Who, model_id: ModelId, limit: Limit = 20, cursor: Cursor = None
    ) -> BacktestList:
        """The back-tests of a model of the caller's, newest first."""
        await self._bets.user_model(who, model_id)
        return await self._backtests(who, model_id, limit, cursor)

    @post(
        "/user-models/{model_id}/backtests",
        summary="Back-test a model",
        problems=(ModelUnknown, WalkRefused, InvalidInput),
        status=_CREATED,
    )
    async def backtest(self, who: Who, model_id: ModelId, asked: WalkAsked) -> BacktestModel:
        """The model walked forward over kept seasons; the result is kept."""
        return BacktestModel.of(await self._bets.backtest(who, model_id, asked.wish()))

    @get("/backtests", summary="The caller's back-tests")
    async def backtests(self, who: Who, limit: Limit = 20, cursor: Cursor = None) -> BacktestList:
        """All back-tests of the caller's, of built-in models too, newest first."""
        return await self._backtests(who, None, limit, cursor)

    @post(
        "/backtests",
        summary="Back-test a built-in model",
        problems=(ModelUnknown, SportUnknown, WalkRefused, InvalidInput),
        status=_CREATED,
    )
    async def walk(self, who: Who, asked: BuiltInWalkAsked) -> BacktestModel:
        """A built-in model walked forward over kept seasons; the result is kept."""
        found = await self._bets.walk_model(who, asked.model, asked.sport, asked.wish())
        return BacktestModel.of(found)

    @get("/backtests/{backtest_id}", summary="One back-test", problems=(BacktestUnknown,))
    async def read_backtest(self, who: Who, backtest_id: OwnId) -> BacktestModel:
        """A back-test of the caller's with its predictions."""
        return BacktestModel.of(await self._bets.read_backtest(who, backtest_id))

    @get("/custom-data", summary="The caller's tables of figures")
    async def datasets(self, who: Who) -> DatasetList:
        """The tables of figures the caller brought, by name."""
        found = await self._bets.datasets(who)
        told = tuple(map(DatasetModel.model_validate, found))
        return DatasetList(datasets=told, count=len(told))

    @post(
        "/custom-data/upload",
        summary="Bring a table of figures",
        problems=(DatasetRefused, SportUnknown),
        status=_CREATED,
    )
    async def upload(self, who: Who, asked: UploadAsked) -> DatasetModel:
        """The table as it is kept, whole or not at all; a refusal names the line."""
        content = asked.data.encode()
        made = await self._bets.add_dataset(who, asked.name, asked.sport, content)
        return DatasetModel.model_validate(made)

    @delete("/custom-data/{dataset_id}", summary="Remove a table", problems=(DatasetUnknown,))
    async def remove_dataset(self, who: Who, dataset_id: OwnId) -> None:
        """Nothing: the table is gone."""
        await self._bets.remove_dataset(who, dataset_id)

    async def _turned(self, who: Caller, made: ModelView, asked: ModelAsked) -> ModelView:
        if asked.status in {None, made.status}:
            return made
        paused = asked.status == "paused"
        return await self._bets.turn_model(who, made.model_id, paused=paused)

    async def _predicted(self, who: Caller, limit: int, place: str) -> Page[Pick]:
        """Answer predictions from a place on: a model, and a position among its own."""
        first, _, after = place.partition("|")
        found: list[Pick] = []
        models = sorted(each.model_id for each in await self._bets.user_models(who))
        for model_id in (each for each in models if each >= first):
            begun = after if model_id == first else ""
            page = await self._bets.user_model_picks(
                who, model_id, limit=limit - len(found), after=begun or None
            )
            found += page.items
            if page.position is not None:
                return Page(tuple(found), f"{model_id}|{page.position}")
            later = next((each for each in models if each > model_id), None)
            if len(found) >= limit and later is not None:
                return Page(tuple(found), f"{later}|")
        return Page(tuple(found))

    async def _backtests(
        self, who: Caller, model_id: str | None, limit: int, cursor: str | None
    ) -> BacktestList:
        question = f"bets.backtests/{model_id}"
        after = self._cursors.read(who, question, cursor)
        page = await self._bets.backtests(who, model_id, limit=limit, after=after)
        return BacktestList(
            backtests=tuple(map(BacktestModel.of, page.items)),
            count=len(page.items),
            cursor=self._cursors.write(who, question, page.position),
        )
