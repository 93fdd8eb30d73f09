"""Kept here: running every model for the games to come, and publishing what they say."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from grandstand.apps.bets.service.building.datasets import Datasets
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.predicting.engine import (
    forecasts_of,
    model_names,
    pairs_of,
    prop_forecasts,
    user_forecasts,
    user_predictor,
)
from grandstand.apps.bets.service.predicting.loading import Loading
from grandstand.apps.bets.service.predicting.publishing import (
    Offered,
    Publishing,
    key_of,
    offered_of,
)
from grandstand.apps.bets.service.values import Analysed
from grandstand.apps.bets.store import Analysis, GameNote, GameOdds, PropOdds, UserModel

if TYPE_CHECKING:
    from grandstand.apps.bets.model.known.history import History
    from grandstand.apps.bets.model.predicting.forecasting import Forecast, Predictor


class Analysing:
    """Runs the models as of now and publishes; what has begun is left as it was."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._loading = Loading(means)
        self._publishing = Publishing(means)
        self._datasets = Datasets(means)

    async def run(self, sport: str) -> Analysed:
        """Publish every model's picks for a sport's games to come; raise SportUnknown."""
        now = self._means.now()
        end = now + timedelta(days=self._means.settings.horizon_days)
        notes = await self._loading.games_to_come(self._means.sport(sport), now, end)
        notes = [note for note in notes if note.commence_time > now]
        if not notes:
            return Analysed(sport, 0, 0, 0)
        kept = await self._people(sport)
        people = [user_predictor(each) for each in kept]
        names = [*model_names(), *(each.name for each in people)]
        history = await self._loading.season(sport, now, names)
        await self._add_figures(history, kept)
        published, frozen = 0, 0
        for note in notes:
            one, late = await self._game(history, note, people)
            published, frozen = published + one, frozen + late
            await self._means.sleep(0)
        self._means.teller.tell(f"bets/games/{sport}", {"published": published})
        return Analysed(sport, len(notes), published, frozen)

    async def forecasts(
        self, history: History, note: GameNote, people: Sequence[Predictor] = ()
    ) -> list[Forecast]:
        """Answer every model's forecast of a game as of now, inverses included."""
        now = self._means.now()
        game = await self._loading.add_game(history, note, now)
        view = history.as_of(now)
        made = await asyncio.to_thread(forecasts_of, game, view)
        made += await asyncio.to_thread(user_forecasts, game, view, people)
        return made + await asyncio.to_thread(prop_forecasts, game, view)

    async def _game(
        self, history: History, note: GameNote, people: Sequence[Predictor]
    ) -> tuple[int, int]:
        made = await self.forecasts(history, note, people)
        offered = await self.offered(note.game_id)
        standing = await self._standing(note, offered)
        published, frozen = 0, 0
        for pair in pairs_of(made):
            one, late = await self._publishing.publish(note, pair, offered, standing)
            published, frozen = published + one, frozen + late
        return published, frozen

    async def offered(self, game_id: str) -> Offered:
        """Answer the prices of a game that stand."""
        rows: list[GameOdds | PropOdds] = [
            row async for row in self._means.each(GameOdds.of_game(game_id))
        ]
        rows += [row async for row in self._means.each(PropOdds.of_game(game_id))]
        return offered_of(rows)

    async def _standing(self, note: GameNote, offered: Offered) -> dict[tuple[str, str], Analysis]:
        found: dict[tuple[str, str], Analysis] = {}
        followed = [name for name in self._means.settings.bookmakers if name in offered.prices]
        for bookmaker in followed:
            rows = Analysis.of_game(note.sport, note.game_id, bookmaker)
            async for row in self._means.each(rows):
                found[bookmaker, key_of(row)] = row
        return found

    async def _people(self, sport: str) -> list[UserModel]:
        """Answer people's models of a sport that are not paused."""
        models = self._means.each(UserModel.of_sport(sport))
        return [model async for model in models if model.status == "active"]

    async def _add_figures(self, history: History, people: Sequence[UserModel]) -> None:
        """Add the tables of figures that people's models count."""
        wanted = {(model.user_id, name) for model in people for name in model.datasets or {}}
        for user_id, dataset_id in sorted(wanted):
            async for fact in self._datasets.facts(user_id, dataset_id):
                history.add(fact)
