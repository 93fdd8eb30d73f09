"""The pages of models: scoreboard, user models, builder, backtests and datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.domain.records import AnalysisType, Interval, model_name, sport_name
from grandstand.apps.bets.pages import base
from grandstand.apps.bets.services.backtests import (
    BacktestPrediction,
    BacktestReport,
    BacktestRequest,
    BacktestWindow,
)
from grandstand.apps.bets.services.scoreboard import ModelComparison, ModelPerformance
from grandstand.apps.bets.services.user_models import DatasetView, UserModelRequest, UserModelView
from grandstand.core import formatting
from grandstand.core.errors import GrandstandError, InvalidInput, LimitReached
from grandstand.kit.auth.caller import Caller
from grandstand.kit.pages.page import read_form, redirect_to, text_fields
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

BET_TYPES: Final = ("h2h", "spreads", "totals")
_HUNDRED: Final = Decimal(100)
_NAME: Final = (3, 50)
_DESCRIPTION: Final = (10, 200)
_DEFAULT_WEIGHTS: Final = {
    "team_stats": "30",
    "recent_form": "30",
    "odds_movement": "20",
    "injuries": "20",
}
_TOLERANCE: Final = Decimal("0.01")
_CUSTOM: Final = "custom_data"


@dataclass(frozen=True, slots=True)
class BuilderForm:
    """The fields, selected markets and errors of the builder."""

    texts: dict[str, str]
    bet_types: tuple[str, ...]
    auto_adjust: bool = False
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> Decimal:
        """The sum of the weights in percent; invalid fields count as zero."""
        weights = base.FormFields(self.texts)
        total = sum((_weight(weights, name) or Decimal(0) for name in base.SOURCES), Decimal(0))
        return Decimal(f"{(total * _HUNDRED).normalize():f}")


def empty_form(sport: str, today: date) -> BuilderForm:
    """Return the form of a new model."""
    texts = {f"weight.{name}": _DEFAULT_WEIGHTS.get(name, "0") for name in base.SOURCES}
    return BuilderForm(
        {"sport": sport, "min_confidence": "55", **texts, **default_period(today)}, ("h2h",)
    )


def model_form(model: UserModelView, today: date) -> BuilderForm:
    weights = {
        f"weight.{name}": _percent_text(model.data_sources.get(name)) for name in base.SOURCES
    }
    datasets = {f"dataset.{name}": _percent_text(share) for name, share in model.datasets.items()}
    texts = {
        "name": model.name,
        "description": model.description,
        "sport": model.sport,
        "min_confidence": _percent_text(model.min_confidence),
    }
    return BuilderForm(
        {**texts, **weights, **datasets, **default_period(today)},
        model.bet_types,
        model.auto_adjust_weights,
    )


def submitted_form(texts: Mapping[str, str], bet_types: Sequence[object]) -> BuilderForm:
    selected = tuple(bet_type for bet_type in BET_TYPES if bet_type in bet_types)
    return BuilderForm(dict(texts), selected, bool(texts.get("auto_adjust")))


def scale_weights(form: BuilderForm) -> BuilderForm:
    """Scale the weights to 100; the largest absorbs the rounding."""
    fields = base.FormFields(form.texts)
    weights = {name: (_weight(fields, name) or Decimal(0)) * _HUNDRED for name in base.SOURCES}
    total = sum(weights.values())
    if not total:
        return form
    new = {
        name: (weight * _HUNDRED / total).quantize(Decimal(1)) for name, weight in weights.items()
    }
    largest = max(new, key=lambda name: new[name])
    new[largest] += _HUNDRED - sum(new.values())
    texts = {f"weight.{name}": str(weight) for name, weight in new.items()}
    return BuilderForm({**form.texts, **texts}, form.bet_types, form.auto_adjust)


def parse_builder_form(
    form: BuilderForm, datasets: Sequence[DatasetView], *, testing: bool = False
) -> tuple[UserModelRequest | None, BacktestRequest | None, dict[str, str]]:
    """Return the model and the backtest request, or the errors by field.

    A model that is only tested needs no name.
    """
    fields = base.FormFields(form.texts)
    name = fields.text("name", _NAME[1]) or ("Unnamed" if testing else "")
    if len(name) < _NAME[0]:
        fields.add_error("name", f"Enter a name of {_NAME[0]} to {_NAME[1]} characters.")
    description = fields.text("description", _DESCRIPTION[1])
    if description and len(description) < _DESCRIPTION[0]:
        fields.add_error(
            "description", f"Enter at least {_DESCRIPTION[0]} characters or leave it empty."
        )
    if not form.bet_types:
        fields.add_error("bet_types", "Choose at least one market.")
    weights, shares = _weights(fields), _datasets(fields, datasets)
    min_confidence = fields.percentage("min_confidence", 50, 95)
    request = _backtest_request(fields)
    if fields.errors or min_confidence is None:
        return None, request, fields.errors
    draft = UserModelRequest(
        name=name,
        sport=form.texts.get("sport", ""),
        bet_types=form.bet_types,
        data_sources={name: weight for name, weight in weights.items() if weight},
        min_confidence=min_confidence,
        description=description,
        auto_adjust_weights=form.auto_adjust,
        datasets=shares if weights.get(_CUSTOM) else {},
    )
    return draft, request, {}


def _weights(fields: base.FormFields) -> dict[str, Decimal]:
    weights = {name: _weight(fields, name) or Decimal(0) for name in base.SOURCES}
    total = sum(weights.values(), Decimal(0))
    if not any(name.startswith("weight.") for name in fields.errors):
        if not total:
            fields.add_error("weights", "Give at least one source a weight.")
        elif abs(total - 1) > _TOLERANCE:
            total_text = f"The weights add up to {(total * _HUNDRED).normalize():f} %"
            fields.add_error("weights", f"{total_text}, not 100%. Use “Scale to 100%”.")
    return weights


def _weight(fields: base.FormFields, name: str) -> Decimal | None:
    return fields.percentage(f"weight.{name}", 0, 100, required=False)


def _datasets(fields: base.FormFields, datasets: Sequence[DatasetView]) -> dict[str, Decimal]:
    names = [f"dataset.{dataset.dataset_id}" for dataset in datasets]
    by_name = {name: fields.percentage(name, 0, 100, required=False) for name in names}
    used = {name.partition(".")[2]: share for name, share in by_name.items() if share}
    if _weight(fields, _CUSTOM) and not used:
        fields.add_error(f"weight.{_CUSTOM}", "Give at least one of your datasets a weight.")
    total = sum(used.values(), Decimal(0))
    return {name: share / total for name, share in used.items()} if total else {}


def _backtest_request(fields: base.FormFields) -> BacktestRequest | None:
    start, end = fields.date("start"), fields.date("end")
    train, test = fields.integer("train_days", 1, 1000, 60), fields.integer("test_days", 1, 365, 14)
    purge = fields.integer("purge_days", 0, 60, 1)
    if start is None or end is None:
        return None
    if end <= start:
        fields.add_error("end", "The last day must be after the first.")
        return None
    return BacktestRequest(start, end, train, test, purge, bool(fields.texts.get("anchored")))


def default_period(today: date) -> dict[str, str]:
    """Return the default fields of a backtest."""
    return {
        "start": (today - timedelta(days=240)).isoformat(),
        "end": today.isoformat(),
        "train_days": "60",
        "test_days": "14",
        "purge_days": "1",
    }


def _percent_text(share: Decimal | None) -> str:
    return "0" if not share else f"{(share * _HUNDRED).normalize():f}"


_STRONG_EVIDENCE: Final = 0.95
_WINDOWS: Final = (
    Column("start", "From"),
    Column("end", "To"),
    Column("predictions", "Bets", "number"),
    Column("roi", "ROI", "number"),
    Column("brier", "Brier", "number"),
)
_BETS: Final = (
    Column("bet", "Bet"),
    Column("market", "Market"),
    Column("chance", "Probability", "number"),
    Column("verdict", "Result"),
    Column("profit", "Units", "number"),
    Column("clv", "CLV", "number"),
    Column("starts", "Day"),
)


def result_values(test: BacktestReport) -> dict[str, Any]:
    """Return the template context of a backtest result."""
    return {
        "test": test,
        "curve": base.units_chart(test.predictions),
        "windows": windows_table(test.windows),
        "last": bets_table(test.predictions),
        "caution": caution(test),
    }


def caution(test: BacktestReport) -> str:
    """Explain how far a result can be trusted, given the number of trials."""
    if not test.performance.decided:
        return (
            "No predictions were decided in this period. Choose an earlier period or a lower "
            "minimum confidence, or import past seasons."
        )
    tries = "the first trial" if test.trials <= 1 else f"trial {test.trials}"
    begin = f"This was {tries} in this sport."
    if test.deflated_sharpe is None:
        return f"{begin} There are too few bets to tell skill from luck."
    chance = formatting.format_percent(test.deflated_sharpe)
    verdict = (
        "which is strong evidence"
        if test.deflated_sharpe >= _STRONG_EVIDENCE
        else f"below the usual {formatting.format_percent(_STRONG_EVIDENCE, 0)}"
    )
    return (
        f"{begin} Counting all trials, the probability that it beats luck is {chance}, {verdict}."
    )


def windows_table(windows: Sequence[BacktestWindow]) -> DataTable:
    rows = tuple(
        Row(
            item.start.isoformat(),
            (
                Cell(formatting.format_date(item.start), item.start.isoformat()),
                Cell(formatting.format_date(item.end), item.end.isoformat()),
                Cell(formatting.format_number(item.predictions), item.predictions),
                Cell(base.signed_percent(item.roi), item.roi, tone=base.tone_of(item.roi)),
                Cell(formatting.format_number(item.brier, 4), item.brier),
            ),
        )
        for item in windows
    )
    return DataTable("windows", "Windows", _WINDOWS, rows)


def bets_table(predictions: Sequence[BacktestPrediction]) -> DataTable:
    """Return the last bets, newest first."""
    newest = sorted(predictions, key=lambda item: item.commence_time, reverse=True)[:30]
    rows = tuple(_bet(at, prediction) for at, prediction in enumerate(newest))
    return DataTable("bets", "Last bets", _BETS, rows, stacks=True)


def _bet(at: int, prediction: BacktestPrediction) -> Row:
    label, tone = base.verdict_of(prediction.verdict)
    return Row(
        f"{prediction.game_id}-{at}",
        (
            Cell(base.tidy(prediction.prediction), href=f"/bets/games/{prediction.game_id}"),
            Cell(base.market_name(prediction.market_key)),
            Cell(formatting.format_percent(prediction.probability), prediction.probability),
            Cell(label, tone=tone, badge=True),
            Cell(
                base.units(prediction.profit_units),
                prediction.profit_units,
                tone=base.tone_of(prediction.profit_units),
            ),
            Cell(base.signed_percent(prediction.clv), prediction.clv),
            Cell(f"{prediction.commence_time:%Y-%m-%d}"),
        ),
    )


_NOTICES: Final = {
    "saved": "Model saved. It makes picks from the next run on.",
    "changed": "Changes saved.",
    "paused": "Model paused.",
    "resumed": "Model resumed. It makes picks from the next run on.",
    "removed": "Model deleted. Its predictions stay on the scoreboard.",
    "data": "Dataset uploaded.",
    "data-gone": "Dataset removed.",
}


class ModelPages(base.BetsPagesBase):
    @page("/models")
    async def models(self, request: Request, who: CurrentCaller) -> Response:
        """The caller's models and their performance."""
        models = await self._bets.user_models.list_models(who)
        performances = [
            await self._bets.scoreboard.user_model_performance(who, item.model_id)
            for item in models
        ]
        return self._render(
            request,
            "models",
            here="models",
            models=list(zip(models, performances, strict=True)),
            max_models=self._bets.settings.user_models,
            datasets=await self._bets.datasets.list_datasets(who),
            sports=self._bets.settings.sports,
            errors={},
            notice=_NOTICES.get(request.query_params.get("notice", ""), ""),
        )

    @page("/models/new")
    async def new_model(self, request: Request, who: CurrentCaller) -> Response:
        """The model builder."""
        form = empty_form(self._sport(request), self._bets.now().date())
        return await self._builder_page(request, who, form)

    @page("/models/new", method="POST")
    async def build(self, request: Request, who: CurrentCaller) -> Response:
        """Test, scale or save a new model."""
        return await self._submit_builder(request, who)

    @page("/models/data")
    async def new_data(self, request: Request, who: CurrentCaller) -> Response:
        """The dataset upload form."""
        del who
        return self._dataset_page(request, {})

    @page("/models/data", method="POST")
    async def add_data(self, request: Request, who: CurrentCaller) -> Response:
        """Upload a dataset."""
        texts = text_fields(await read_form(request))
        content = texts.get("file") or texts.get("content", "")
        name = texts.get("name", "").strip()
        try:
            await self._bets.datasets.add(
                who, name, texts.get("sport", ""), base.content_of(content)
            )
        except GrandstandError as refused:
            return self._dataset_page(request, texts, {"file": str(refused)}, refused.status)
        return redirect_to("/bets/models?notice=data#data")

    @page("/models/data/{dataset_id}/delete", method="POST")
    async def remove_data(self, who: CurrentCaller, dataset_id: base.OwnId) -> Response:
        """Remove a dataset."""
        await self._bets.datasets.remove(who, dataset_id)
        return redirect_to("/bets/models?notice=data-gone#data")

    @page("/models/backtests/{backtest_id}")
    async def backtest(
        self, request: Request, who: CurrentCaller, backtest_id: base.OwnId
    ) -> Response:
        """A stored backtest."""
        report = await self._bets.backtests.get(who, backtest_id)
        models = await self._bets.user_models.list_models(who)
        model = next((row for row in models if report.model.endswith(row.model_id)), None)
        return self._render(request, "backtest", here="models", own=model, **result_values(report))

    @page("/models/{model_id}")
    @page("/models/{model_id}/backtest")
    async def model(self, request: Request, who: CurrentCaller, model_id: base.OwnId) -> Response:
        """A model with its picks, performance and backtests."""
        days = default_period(self._bets.now().date())
        return await self._model_page(request, who, model_id, texts=days)

    @page("/models/{model_id}/edit")
    async def edit(self, request: Request, who: CurrentCaller, model_id: base.OwnId) -> Response:
        """The model builder with a stored model."""
        model = await self._bets.user_models.get(who, model_id)
        form = model_form(model, self._bets.now().date())
        return await self._builder_page(request, who, form, model_id=model_id)

    @page("/models/{model_id}/edit", method="POST")
    async def revise(self, request: Request, who: CurrentCaller, model_id: base.OwnId) -> Response:
        """Test, scale or save a changed model."""
        return await self._submit_builder(request, who, model_id)

    @page("/models/{model_id}/pause", method="POST")
    async def pause(self, who: CurrentCaller, model_id: base.OwnId) -> Response:
        """Pause a model."""
        await self._bets.user_models.set_paused(who, model_id, paused=True)
        return redirect_to("/bets/models?notice=paused")

    @page("/models/{model_id}/resume", method="POST")
    async def resume(self, who: CurrentCaller, model_id: base.OwnId) -> Response:
        """Resume a model."""
        await self._bets.user_models.set_paused(who, model_id, paused=False)
        return redirect_to("/bets/models?notice=resumed")

    @page("/models/{model_id}/delete")
    async def before_delete(
        self, request: Request, who: CurrentCaller, model_id: base.OwnId
    ) -> Response:
        """The confirmation before a model is deleted."""
        model = await self._bets.user_models.get(who, model_id)
        performance = await self._bets.scoreboard.user_model_performance(who, model_id)
        return self._render(
            request, "delete_model", here="models", model=model, performance=performance
        )

    @page("/models/{model_id}/delete", method="POST")
    async def delete(self, who: CurrentCaller, model_id: base.OwnId) -> Response:
        """Delete a model."""
        await self._bets.user_models.delete(who, model_id)
        return redirect_to("/bets/models?notice=removed")

    @page("/models/{model_id}/backtest", method="POST")
    async def run_backtest(
        self, request: Request, who: CurrentCaller, model_id: base.OwnId
    ) -> Response:
        """Run a backtest and show its result."""
        texts = text_fields(await read_form(request))
        fields = base.FormFields(texts)
        backtest_request, errors = _backtest_request(fields), fields.errors
        if backtest_request is None or errors:
            return await self._model_page(request, who, model_id, texts=texts, errors=errors)
        try:
            report = await self._bets.backtests.run(who, model_id, backtest_request)
        except InvalidInput as refused:
            errors = {"form": str(refused)}
            return await self._model_page(request, who, model_id, texts=texts, errors=errors)
        return redirect_to(f"/bets/models/backtests/{report.backtest_id}")

    async def _submit_builder(self, request: Request, who: Caller, model_id: str = "") -> Response:
        form = await read_form(request)
        texts = text_fields(form)
        action = texts.get("action", "")
        filled = submitted_form(texts, form.getlist("bet_type"))
        show = partial(self._builder_page, request, who, filled, model_id=model_id)
        if action == "scale":
            scaled = scale_weights(filled)
            return await self._builder_page(request, who, scaled, model_id=model_id)
        datasets = await self._bets.datasets.list_datasets(who)
        draft, period, errors = parse_builder_form(filled, datasets, testing=action == "try")
        if errors or draft is None or period is None:
            return await show(errors=errors, status=400)
        models = self._bets.user_models
        try:
            if action == "try":
                return await show(result=await self._bets.backtests.run_draft(who, draft, period))
            if model_id:
                await models.update(who, model_id, draft)
                return redirect_to(f"/bets/models/{model_id}?notice=changed")
            saved = await models.create(who, draft)
        except (InvalidInput, LimitReached) as refused:
            return await show(errors={"form": str(refused)}, status=refused.status)
        return redirect_to(f"/bets/models/{saved.model_id}?notice=saved")

    def _dataset_page(
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
            sports=self._bets.settings.sports,
            texts=texts,
            errors=errors or {},
        )

    async def _model_page(
        self,
        request: Request,
        who: Caller,
        model_id: str,
        *,
        texts: dict[str, str],
        errors: dict[str, str] | None = None,
    ) -> Response:
        model = await self._bets.user_models.get(who, model_id)
        performance = await self._bets.scoreboard.user_model_performance(who, model_id)
        picks = await self._bets.user_models.picks(who, model_id, limit=12)
        tests = await self._bets.backtests.list_backtests(who, model_id, limit=10)
        weights = [(name, float(share)) for name, share in model.data_sources.items() if share]
        return self._render(
            request,
            "model",
            status=400 if errors else 200,
            here="models",
            model=model,
            done=performance,
            picks=picks.items,
            tests=tests.items,
            calibration=base.calibration_chart(performance.calibration, model.name)
            if performance.calibration
            else None,
            weights=sorted(weights, key=lambda item: -item[1]),
            texts=texts,
            errors=errors or {},
            notice=_NOTICES.get(request.query_params.get("notice", ""), ""),
        )

    async def _builder_page(
        self,
        request: Request,
        who: Caller,
        form: BuilderForm,
        *,
        model_id: str = "",
        result: BacktestReport | None = None,
        errors: dict[str, str] | None = None,
        status: int = 200,
    ) -> Response:
        datasets: Sequence[DatasetView] = await self._bets.datasets.list_datasets(who)
        preview: dict[str, Any] = {} if result is None else result_values(result)
        return self._render(
            request,
            "builder",
            status=status,
            here="models",
            form=form,
            model_id=model_id,
            sources=base.SOURCES,
            bet_types=BET_TYPES,
            sport_options=[(sport, sport_name(sport)) for sport in self._bets.settings.sports],
            datasets=datasets,
            errors=errors or {},
            **({"test": None} | preview),
        )


DAYS: Final = ("30", "90", "365")
_KINDS: Final[tuple[AnalysisType, ...]] = ("game", "prop")
_COLUMNS: Final = (
    Column("model", "Model"),
    Column("decided", "Decided", "number"),
    Column("accuracy", "Accuracy", "number"),
    Column("roi", "ROI", "number"),
    Column("clv", "CLV", "number", rank=2),
    Column("brier", "Brier", "number", rank=2),
    Column("log_loss", "Log loss", "number", rank=2),
    Column("needed", "Bets needed", "number", rank=2),
    Column("advice", "Recommendation"),
)


class ScoreboardPages(base.BetsPagesBase):
    @page("/scoreboard")
    async def scoreboard(self, request: Request, who: CurrentCaller) -> Response:
        """All models of a sport, and one of them in detail."""
        sport = self._sport(request)
        days = base.query_option(request, "days", DAYS, "90")
        requested = base.query_option(request, "type", _KINDS, "game")
        kind = next(kind for kind in _KINDS if kind == requested)
        comparisons = await self._bets.scoreboard.compare(
            who, sport, days=int(days), analysis_type=kind
        )
        selected = select_model(comparisons, request.query_params.get("model", ""))
        details: dict[str, Any] = {}
        if selected is not None:
            advised = await self._bets.adjustments.list_adjustments(sport, kind)
            name, bins = name_of(selected), selected.original.calibration
            details = {
                "selected_name": name,
                "evidence": describe_evidence(selected),
                "adjustment": next(
                    (item for item in advised if item.model == selected.model), None
                ),
                "calibration": base.calibration_chart(bins, name) if bins else None,
            }
        stay = f"/bets/scoreboard?sport={sport}&days={days}&type={kind}"
        return self._render(
            request,
            "scoreboard",
            here="scoreboard",
            sports=self._bets.settings.sports,
            sport=sport,
            days=days,
            all_days=DAYS,
            kind=kind,
            decided=sum(item.original.decided for item in comparisons),
            table=models_table(comparisons, stay).view(request.query_params),
            selected=selected,
            title=sport_name(sport),
            **details,
        )


def name_of(comparison: ModelComparison) -> str:
    """Return the display name of a model."""
    return (
        comparison.name
        if comparison.is_user_model and comparison.name
        else model_name(comparison.model)
    )


def select_model(comparisons: Sequence[ModelComparison], model: str) -> ModelComparison | None:
    """Return the requested model, or the first one with decided predictions."""
    requested = next((item for item in comparisons if item.model == model), None)
    return requested or next((item for item in comparisons if item.original.decided), None)


def describe_evidence(comparison: ModelComparison) -> str:
    """Describe the evidence for the recommendation."""
    performance = comparison.original
    if performance.accuracy is None or not performance.decided:
        return "No decided predictions yet."
    accuracy = formatting.format_percent(performance.accuracy.value)
    right = (
        f"{performance.correct} of {performance.decided} correct, {accuracy}. With this many "
        f"bets the true rate is between {base.within(performance.accuracy)} (95%)."
    )
    level = ""
    if performance.break_even is not None:
        level = f" Break-even is {formatting.format_percent(performance.break_even)}."
    return f"{right}{level}{_needed(performance)}"


def _needed(performance: ModelPerformance) -> str:
    if performance.bets_needed is None:
        return ""
    if performance.bets_needed <= performance.decided:
        return " That is enough to tell the two apart."
    needed = formatting.format_number(performance.bets_needed)
    missing = formatting.format_number(performance.bets_needed - performance.decided)
    return (
        f" Telling this rate from break-even takes about {needed} decided bets, "
        f"{missing} more than so far."
    )


def models_table(comparisons: Sequence[ModelComparison], stay: str) -> DataTable:
    rows = tuple(_row(item, stay) for item in comparisons)
    return DataTable("models", "Models", _COLUMNS, rows, stacks=True)


def _row(comparison: ModelComparison, stay: str) -> Row:
    performance = comparison.original
    label, tone = base.advice(comparison.recommendation, comparison.evidence)
    own_badge = Markup(' <span class="badge">yours</span>') if comparison.is_user_model else ""
    linked = Markup('<a href="{}&model={}#model">{}</a>{}').format(
        stay, comparison.model, name_of(comparison), own_badge
    )
    return Row(
        comparison.model,
        (
            Cell(linked, name_of(comparison)),
            Cell(formatting.format_number(performance.decided), performance.decided),
            _interval_cell("accuracy", performance.accuracy, (0.3, 0.8), performance.break_even),
            _interval_cell("return on investment", performance.roi, (-0.4, 0.4)),
            _interval_cell("closing-line value", performance.clv, (-0.1, 0.1)),
            Cell(formatting.format_number(performance.brier, 4), performance.brier),
            Cell(formatting.format_number(performance.log_loss, 4), performance.log_loss),
            Cell(formatting.format_number(performance.bets_needed), performance.bets_needed),
            Cell(label, tone=tone, badge=True),
        ),
    )


def _interval_cell(
    name: str, interval: Interval | None, reach: tuple[float, float], mark: float | None = 0.0
) -> Cell:
    if interval is None:
        return Cell(formatting.EMPTY)
    signed = reach[0] < 0
    value = (
        base.signed_percent(interval.value) if signed else formatting.format_percent(interval.value)
    )
    bounds = base.within(interval, signed=signed)
    against = "" if mark is None else f", compared with {formatting.format_percent(mark)}"
    bar = base.interval_bar(interval, reach, mark, f"{name} between {bounds}{against}")
    written = Markup(
        '<span class="spread"><strong>{}</strong>{}<span class="muted">{}</span></span>'
    )
    return Cell(written.format(value, bar, bounds), interval.value)
