"""Kept here: people's own models: built, tried at once, kept, paused, changed and removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.model.names import sport_name
from grandstand.apps.bets.pages.backtests import result_values
from grandstand.apps.bets.pages.building import (
    BET_TYPES,
    BuilderForm,
    days_before,
    empty_form,
    form_given,
    form_of_model,
    read_form,
    read_wish,
    scaled,
)
from grandstand.apps.bets.pages.part import OwnId, PagesPart, content_of
from grandstand.apps.bets.pages.plots import calibration_chart
from grandstand.apps.bets.pages.words import SOURCES
from grandstand.apps.bets.service import BacktestView, DatasetView
from grandstand.base.errors import GrandstandError, InvalidInput, LimitReached
from grandstand.kit.pages.forms import form_of, lead_to, texts_in
from grandstand.kit.routes import Who, page
from grandstand.kit.who.caller import Caller

_SAID: Final = {
    "kept": "The model is kept. It predicts with the next run of the models.",
    "changed": "Changed.",
    "paused": "Paused: it predicts no more until you let it go on.",
    "resumed": "It goes on with the next run of the models.",
    "removed": "The model is gone; what it predicted stays scored.",
    "data": "Your table is kept.",
    "data-gone": "The table is gone.",
}


class ModelPages(PagesPart):
    """What somebody thinks decides games, put to the test."""

    @page("/models")
    async def models(self, request: Request, who: Who) -> Response:
        """The caller's models and how each has done."""
        held = await self._bets.user_models(who)
        done = [await self._bets.user_model_performance(who, one.model_id) for one in held]
        return self._render(
            request,
            "models",
            here="models",
            models=list(zip(held, done, strict=True)),
            most=self._bets.settings.user_models,
            datasets=await self._bets.datasets(who),
            sports=self._bets.sports(),
            errors={},
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    @page("/models/new")
    async def new_model(self, request: Request, who: Who) -> Response:
        """The builder."""
        form = empty_form(self._sport(request), self._bets.now().date())
        return await self._builder(request, who, form)

    @page("/models/new", method="POST")
    async def build(self, request: Request, who: Who) -> Response:
        """Try the model, scale its weights, or keep it."""
        form, action = await _sent(request)
        if action == "scale":
            return await self._builder(request, who, scaled(form))
        datasets = await self._bets.datasets(who)
        draft, wish, errors = read_form(form, datasets, trying=action == "try")
        if errors or draft is None or wish is None:
            return await self._builder(request, who, form, errors=errors, status=400)
        try:
            if action == "try":
                result = await self._bets.try_model(who, draft, wish)
                return await self._builder(request, who, form, result=result)
            kept = await self._bets.create_model(who, draft)
        except (InvalidInput, LimitReached) as refused:
            why = {"form": str(refused)}
            return await self._builder(request, who, form, errors=why, status=refused.status)
        return lead_to(f"/bets/models/{kept.model_id}?said=kept")

    @page("/models/data")
    async def new_data(self, request: Request, who: Who) -> Response:
        """Where a table of figures is brought."""
        del who
        return self._data(request, {})

    @page("/models/data", method="POST")
    async def add_data(self, request: Request, who: Who) -> Response:
        """Keep a table of figures, and lead back; what is wrong with it is said."""
        texts = texts_in(await form_of(request))
        content = texts.get("file") or texts.get("content", "")
        name = texts.get("name", "").strip()
        try:
            await self._bets.add_dataset(who, name, texts.get("sport", ""), content_of(content))
        except GrandstandError as refused:
            return self._data(request, texts, {"file": str(refused)}, refused.status)
        return lead_to("/bets/models?said=data#data")

    @page("/models/data/{dataset_id}/delete", method="POST")
    async def remove_data(self, who: Who, dataset_id: OwnId) -> Response:
        """Remove a table of figures, and lead back."""
        await self._bets.remove_dataset(who, dataset_id)
        return lead_to("/bets/models?said=data-gone#data")

    @page("/models/backtests/{backtest_id}")
    async def backtest(self, request: Request, who: Who, backtest_id: OwnId) -> Response:
        """One back-test as it was run."""
        held = await self._bets.read_backtest(who, backtest_id)
        kept = await self._bets.user_models(who)
        own = next((one for one in kept if held.model.endswith(one.model_id)), None)
        return self._render(request, "backtest", here="models", own=own, **result_values(held))

    @page("/models/{model_id}")
    @page("/models/{model_id}/backtest")
    async def model(self, request: Request, who: Who, model_id: OwnId) -> Response:
        """One model: what it predicts, how it has done, and its back-tests."""
        days = days_before(self._bets.now().date())
        return await self._one(request, who, model_id, texts=days)

    @page("/models/{model_id}/edit")
    async def edit(self, request: Request, who: Who, model_id: OwnId) -> Response:
        """The builder with a model that is kept."""
        held = await self._bets.user_model(who, model_id)
        form = form_of_model(held, self._bets.now().date())
        return await self._builder(request, who, form, model_id=model_id)

    @page("/models/{model_id}/edit", method="POST")
    async def revise(self, request: Request, who: Who, model_id: OwnId) -> Response:
        """Try the model as changed, scale its weights, or keep the change."""
        form, action = await _sent(request)
        if action == "scale":
            return await self._builder(request, who, scaled(form), model_id=model_id)
        draft, wish, errors = read_form(
            form, await self._bets.datasets(who), trying=action == "try"
        )
        if errors or draft is None or wish is None:
            return await self._builder(
                request, who, form, model_id=model_id, errors=errors, status=400
            )
        try:
            if action == "try":
                result = await self._bets.try_model(who, draft, wish)
                return await self._builder(request, who, form, model_id=model_id, result=result)
            await self._bets.revise_model(who, model_id, draft)
        except InvalidInput as refused:
            why = {"form": str(refused)}
            return await self._builder(
                request, who, form, model_id=model_id, errors=why, status=refused.status
            )
        return lead_to(f"/bets/models/{model_id}?said=changed")

    @page("/models/{model_id}/pause", method="POST")
    async def pause(self, who: Who, model_id: OwnId) -> Response:
        """Pause a model, and lead back."""
        await self._bets.turn_model(who, model_id, paused=True)
        return lead_to("/bets/models?said=paused")

    @page("/models/{model_id}/resume", method="POST")
    async def resume(self, who: Who, model_id: OwnId) -> Response:
        """Let a model go on, and lead back."""
        await self._bets.turn_model(who, model_id, paused=False)
        return lead_to("/bets/models?said=resumed")

    @page("/models/{model_id}/delete")
    async def before_delete(self, request: Request, who: Who, model_id: OwnId) -> Response:
        """What goes with a model, to be agreed to."""
        held = await self._bets.user_model(who, model_id)
        done = await self._bets.user_model_performance(who, model_id)
        return self._render(request, "delete_model", here="models", model=held, done=done)

    @page("/models/{model_id}/delete", method="POST")
    async def delete(self, who: Who, model_id: OwnId) -> Response:
        """Remove a model, and lead back."""
        await self._bets.remove_model(who, model_id)
        return lead_to("/bets/models?said=removed")

    @page("/models/{model_id}/backtest", method="POST")
    async def run_backtest(self, request: Request, who: Who, model_id: OwnId) -> Response:
        """Walk a model forward, and lead to the result."""
        texts = texts_in(await form_of(request))
        wish, errors = read_wish(texts)
        if wish is None or errors:
            return await self._one(request, who, model_id, texts=texts, errors=errors)
        try:
            held = await self._bets.backtest(who, model_id, wish)
        except InvalidInput as refused:
            why = {"form": str(refused)}
            return await self._one(request, who, model_id, texts=texts, errors=why)
        return lead_to(f"/bets/models/backtests/{held.backtest_id}")

    def _data(
        self,
        request: Request,
        texts: dict[str, str],
        errors: dict[str, str] | None = None,
        status: int = 200,
    ) -> Response:
        return self._render(
            request,
            "data",
            status=status,
            here="models",
            sports=self._bets.sports(),
            texts=texts,
            errors=errors or {},
        )

    async def _one(
        self,
        request: Request,
        who: Caller,
        model_id: str,
        *,
        texts: dict[str, str],
        errors: dict[str, str] | None = None,
    ) -> Response:
        held = await self._bets.user_model(who, model_id)
        done = await self._bets.user_model_performance(who, model_id)
        picks = await self._bets.user_model_picks(who, model_id, limit=12)
        tests = await self._bets.backtests(who, model_id, limit=10)
        return self._render(
            request,
            "model",
            status=400 if errors else 200,
            here="models",
            model=held,
            done=done,
            picks=picks.items,
            tests=tests.items,
            calibration=calibration_chart(done.calibration, held.name)
            if done.calibration
            else None,
            weights=_weights(held.data_sources),
            texts=texts,
            errors=errors or {},
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    async def _builder(
        self,
        request: Request,
        who: Caller,
        form: BuilderForm,
        *,
        model_id: str = "",
        result: BacktestView | None = None,
        errors: dict[str, str] | None = None,
        status: int = 200,
    ) -> Response:
        datasets: Sequence[DatasetView] = await self._bets.datasets(who)
        preview: dict[str, Any] = {} if result is None else result_values(result)
        return self._render(
            request,
            "builder",
            status=status,
            here="models",
            form=form,
            model_id=model_id,
            sources=SOURCES,
            bet_types=BET_TYPES,
            sport_options=[(one, sport_name(one)) for one in self._bets.sports()],
            datasets=datasets,
            errors=errors or {},
            **({"test": None} | preview),
        )


async def _sent(request: Request) -> tuple[BuilderForm, str]:
    form = await form_of(request)
    chosen = [each for each in form.getlist("bet_type") if isinstance(each, str)]
    texts = texts_in(form)
    return form_given(texts, chosen), texts.get("action", "")


def _weights(sources: dict[str, Any]) -> list[tuple[str, float]]:
    """The sources that count, the heaviest first."""
    held = [(name, float(weight)) for name, weight in sources.items() if weight]
    return sorted(held, key=lambda one: -one[1])
