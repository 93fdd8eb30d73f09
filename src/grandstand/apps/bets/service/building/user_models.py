"""Kept here: the models people build: their own alone, five at most, weighed anew by the week."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.model_values import ModelDraft, ModelView
from grandstand.apps.bets.service.money.settled import rounded
from grandstand.apps.bets.service.predicting.engine import user_model_name, user_predictor
from grandstand.apps.bets.service.predicting.loading import Loading
from grandstand.apps.bets.service.predicting.picks import pick_of
from grandstand.apps.bets.service.refusals import ModelRefused, ModelUnknown, TooManyModels
from grandstand.apps.bets.service.values import Page, Pick
from grandstand.apps.bets.store import Analysis, Dataset, ModelSlot, UserModel
from grandstand.base.errors import InvalidInput
from grandstand.base.ids import new_id
from grandstand.kit.who.caller import Caller
from grandstand.storage.tables.errors import ConditionFailed

_TRIES: Final = 5
_WEIGHED_DAYS: Final = 31


class UserModels:
    """Keeps people's models; what is somebody else's is not found."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._loading = Loading(means)

    async def of(self, caller: Caller) -> tuple[ModelView, ...]:
        """Answer a person's models by name."""
        found = [view_of(row) async for row in self._means.each(UserModel.of_user(caller.user_id))]
        return tuple(sorted(found, key=lambda each: (each.name, each.model_id)))

    async def read(self, caller: Caller, model_id: str) -> ModelView:
        """Answer one of a person's models; raise ModelUnknown."""
        return view_of(await self.row(caller, model_id))

    async def row(self, caller: Caller, model_id: str) -> UserModel:
        """Do the same as it is kept."""
        found = await self._means.store(UserModel.by_id(caller.user_id, model_id).consistent())
        if found is None:
            message = f"There is no model {model_id}"
            raise ModelUnknown(message)
        return found

    async def create(self, caller: Caller, draft: ModelDraft) -> ModelView:
        """Keep a new model; raise ModelRefused, TooManyModels."""
        model_id = new_id(self._means.clock, self._means.random)
        row = await self.checked(caller, draft, model_id)
        for _ in range(_TRIES):
            taken = [each async for each in self._means.each(ModelSlot.of_user(caller.user_id))]
            free = sorted({str(n) for n in range(self._limit)} - {each.slot for each in taken})
            if not free:
                message = f"There is room for {self._limit} models: remove one first"
                raise TooManyModels(message)
            slot = ModelSlot(user_id=caller.user_id, slot=free[0], model_id=model_id)
            if await self._means.wrote(slot.take(), row.create()):
                return view_of(row)
        message = "Several models are being made at once: try again"
        raise TooManyModels(message)

    @property
    def _limit(self) -> int:
        return self._means.settings.user_models

    async def revise(self, caller: Caller, model_id: str, draft: ModelDraft) -> ModelView:
        """Change a model; raise ModelUnknown, ModelRefused."""
        before = await self.row(caller, model_id)
        row = await self.checked(caller, draft, model_id)
        revised = row.replace(created_at=before.created_at, status=before.status)
        try:
            await self._means.store(revised.revise())
        except ConditionFailed as gone:
            message = f"There is no model {model_id}"
            raise ModelUnknown(message) from gone
        return view_of(revised)

    async def turn(self, caller: Caller, model_id: str, *, paused: bool) -> ModelView:
        """Pause a model or let it go on; raise ModelUnknown."""
        await self.row(caller, model_id)
        status = UserModel.turn(
            caller.user_id, model_id, "paused" if paused else "active", self._means.now()
        )
        return view_of(await self._means.store(status))

    async def remove(self, caller: Caller, model_id: str) -> None:
        """Remove a model and free its place; raise ModelUnknown."""
        await self.row(caller, model_id)
        taken = [
            each
            async for each in self._means.each(ModelSlot.of_user(caller.user_id))
            if each.model_id == model_id
        ]
        gone = UserModel.remove(caller.user_id, model_id)
        await self._means.store.all(gone, *(each.free() for each in taken))

    async def picks(
        self, caller: Caller, model_id: str, *, limit: int, after: str | None
    ) -> Page[Pick]:
        """Answer what a model predicts for games to come, at the first followed bookmaker."""
        model = await self.row(caller, model_id)
        bookmaker = self._means.settings.bookmakers[0]
        name, now = user_model_name(model_id), self._means.now()
        reading = Analysis.picks(model.sport, bookmaker, name, now)
        page = await self._means.store.page(reading, limit, after=after)
        return Page(tuple(pick_of(row) for row in page.items), page.cursor)

    async def checked(self, caller: Caller, draft: ModelDraft, model_id: str) -> UserModel:
        """Answer a draft as it would be kept; raise ModelRefused with the first reason."""
        now = self._means.now()
        if draft.sport not in self._means.settings.sports:
            message = f"{draft.sport} is not followed; there are {self._means.settings.sports}"
            raise ModelRefused(message)
        for dataset_id in draft.datasets:
            if await self._means.store(Dataset.one(caller.user_id, dataset_id)) is None:
                message = f"There is no table of figures {dataset_id}"
                raise ModelRefused(message)
        row = UserModel(
            user_id=caller.user_id,
            model_id=model_id,
            name=draft.name.strip(),
            sport=draft.sport,
            bet_types=draft.bet_types,
            data_sources=draft.data_sources,
            min_confidence=draft.min_confidence,
            auto_adjust_weights=draft.auto_adjust_weights or None,
            description=draft.description.strip() or None,
            datasets=draft.datasets or None,
            created_at=now,
            updated_at=now,
        )
        try:
            user_predictor(row)
        except InvalidInput as fault:
            raise ModelRefused(str(fault)) from fault
        return row

    async def adjust_weights(self) -> int:
        """Weigh anew the models that allow it; answer how many changed."""
        changed = 0
        for sport in self._means.settings.sports:
            rows = [row async for row in self._means.each(UserModel.of_sport(sport))]
            for row in rows:
                if row.auto_adjust_weights:
                    changed += await self._weigh(row)
        return changed

    async def _weigh(self, row: UserModel) -> bool:
        from grandstand.apps.bets.model.predicting.user_model import adjusted_weights

        now = self._means.now()
        since = now - timedelta(days=_WEIGHED_DAYS)
        record = await self._loading.record(row.sport, user_model_name(row.model_id), since)
        before = {name: float(weight) for name, weight in row.data_sources.items()}
        weights = exact_weights(adjusted_weights(before, record, now), row.data_sources)
        if weights == row.data_sources:
            return False
        try:
            await self._means.store(UserModel.weigh(row.user_id, row.model_id, weights, now))
        except ConditionFailed:
            return False
        return True


def exact_weights(weights: dict[str, float], before: dict[str, Decimal]) -> dict[str, Decimal]:
    """Write weights to four places so that they add up to what they did before."""
    if weights == {name: float(value) for name, value in before.items()}:
        return before
    exact = {name: rounded(value) for name, value in weights.items()}
    largest = max(exact, key=lambda name: exact[name])
    exact[largest] += sum(before.values(), Decimal(0)) - sum(exact.values(), Decimal(0))
    return exact


def view_of(row: UserModel) -> ModelView:
    """Answer a model as its owner sees it."""
    return ModelView(
        row.model_id,
        row.name,
        row.description or "",
        row.sport,
        row.bet_types,
        dict(row.data_sources),
        dict(row.datasets or {}),
        row.min_confidence,
        row.status,
        bool(row.auto_adjust_weights),
        row.created_at,
        row.updated_at,
    )
