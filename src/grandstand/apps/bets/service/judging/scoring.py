"""Kept here: how good every model is, each game and market counted once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from grandstand.apps.bets.model import AnalysisType, VerifiedType
from grandstand.apps.bets.model.prices.odds import decimal_of
from grandstand.apps.bets.service.judging.adjusting import Adjusting
from grandstand.apps.bets.service.judging.performances import Decided, summed_up
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.model_values import ModelView
from grandstand.apps.bets.service.predicting.engine import model_names, user_model_name
from grandstand.apps.bets.service.refusals import ModelUnknown
from grandstand.apps.bets.service.values import Adjustment, Comparison, Performance
from grandstand.apps.bets.store import Analysis, UserModel
from grandstand.kit.who.caller import Caller

_HALF: Final = 0.5


class Scoring:
    """Answers how models have done by their verified predictions."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._adjusting = Adjusting(means)

    def models(self) -> tuple[str, ...]:
        """Answer the names of the built-in models, Benny included."""
        return model_names()

    def check(self, model: str) -> str:
        """Answer a built-in model's name; raise ModelUnknown."""
        if model not in model_names():
            message = f"There is no model {model}; there are {', '.join(model_names())}"
            raise ModelUnknown(message)
        return model

    async def performance(
        self,
        sport: str,
        model: str,
        *,
        days: int,
        analysis_type: AnalysisType = "game",
        inverse: bool = False,
    ) -> Performance:
        """Answer how a built-in model has done; raise SportUnknown, ModelUnknown."""
        self._means.sport(sport)
        rows = await self.rows(sport, self.check(model), days, analysis_type, inverse=inverse)
        return performance_of(
            rows, model, sport, days=days, analysis_type=analysis_type, inverse=inverse
        )

    async def of_user_model(self, model: ModelView, *, days: int) -> Performance:
        """Answer how a person's model has done."""
        name = user_model_name(model.model_id)
        rows = await self.rows(model.sport, name, days, "game", inverse=False)
        return performance_of(
            rows, name, model.sport, days=days, analysis_type="game", inverse=False
        )

    async def comparison(
        self, caller: Caller, sport: str, *, days: int, analysis_type: AnalysisType = "game"
    ) -> tuple[Comparison, ...]:
        """Answer all models and the caller's own, those that won most first."""
        self._means.sport(sport)
        advised = {
            each.model: each for each in await self._adjusting.of_sport(sport, analysis_type)
        }
        found = [
            await self._compared(sport, (name, ""), days, analysis_type, advised.get(name))
            for name in model_names()
        ]
        async for own in self._means.each(UserModel.of_user(caller.user_id)):
            if own.sport == sport:
                name = user_model_name(own.model_id)
                whose = (name, own.name)
                found.append(await self._compared(sport, whose, days, analysis_type, None))
        return tuple(sorted(found, key=_rank))

    async def _compared(
        self,
        sport: str,
        whose: tuple[str, str],
        days: int,
        kind: AnalysisType,
        advice: Adjustment | None,
    ) -> Comparison:
        """Compare a model with its inverse; a person's own has a name it is shown by."""
        name, shown = whose
        both = [
            performance_of(
                await self.rows(sport, name, days, kind, inverse=inverse),
                name,
                sport,
                days=days,
                analysis_type=kind,
                inverse=inverse,
            )
            for inverse in (False, True)
        ]
        return Comparison(
            name,
            bool(shown),
            sport,
            both[0],
            both[1],
            "AVOID" if advice is None else advice.recommendation,
            "INSUFFICIENT_DATA" if advice is None else advice.evidence,
            shown or name,
        )

    async def rows(
        self, sport: str, model: str, days: int, kind: AnalysisType, *, inverse: bool
    ) -> list[Analysis]:
        """Answer a model's verified predictions, each game, market and player once."""
        since = self._means.now() - timedelta(days=days)
        verified: VerifiedType = (
            ("game#inverse" if inverse else "game")
            if kind == "game"
            else ("prop#inverse" if inverse else "prop")
        )
        found = [
            row
            async for row in self._means.each(Analysis.performance(model, sport, since, verified))
        ]
        return once_each(found, self._means.settings.bookmakers)


def once_each(rows: Sequence[Analysis], bookmakers: Sequence[str]) -> list[Analysis]:
    """Keep one row of each prediction: the one at the bookmaker that is followed first."""
    order = {name: place for place, name in enumerate(bookmakers)}
    best: dict[tuple[str, str], Analysis] = {}
    for row in rows:
        place = (row.game_id, row.subject)
        known = best.get(place)
        if known is None or order.get(row.bookmaker, len(order)) < order.get(
            known.bookmaker, len(order)
        ):
            best[place] = row
    return sorted(best.values(), key=lambda row: (row.commence_time, row.game_id, row.subject))


def performance_of(
    rows: Sequence[Analysis],
    model: str,
    sport: str,
    *,
    days: int,
    analysis_type: AnalysisType,
    inverse: bool,
) -> Performance:
    """Answer what verified predictions come to; what came back undecided counts for nothing."""
    decided = [
        Decided(
            float(row.confidence),
            row.analysis_correct,
            row.price,
            None if row.price is None else profit_of(row),
            None if row.clv is None else float(row.clv),
        )
        for row in rows
        if row.analysis_correct is not None
    ]
    correct = sum(each.won for each in decided)
    blank = Performance(
        model, sport, analysis_type, inverse, days, len(rows), len(decided), correct
    )
    return summed_up(blank, decided)


def profit_of(row: Analysis) -> float:
    """Answer what one unit on a prediction won at the price it was published at."""
    outcome = float(row.outcome or 0)
    gain = decimal_of(row.price or 0) - 1.0
    # Halves are shares of a stake that came back: 0.75 won half of it, 0.25 lost half.
    if outcome >= _HALF:
        return (2 * outcome - 1) * gain
    return 2 * outcome - 1


def _rank(one: Comparison) -> tuple[bool, float, str]:
    roi = one.original.roi
    return (roi is None, 0.0 if roi is None else -roi.value, one.model)
