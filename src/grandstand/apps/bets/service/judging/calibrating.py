"""Kept here: the chances that models, Benny and a person gave, beside what came of them."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from typing import Final

from grandstand.apps.bets.model.names import model_name, sport_name
from grandstand.apps.bets.model.prices.odds import implied
from grandstand.apps.bets.service.judging.scoring import Scoring
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.predicting.engine import (
    BENNY_MODEL,
    PROP_MODELS,
    model_names,
    user_model_name,
)
from grandstand.apps.bets.store import BennyBet, UserModel, Wager
from grandstand.kit.app import Calibrated
from grandstand.kit.calibration import Said
from grandstand.kit.who.caller import Caller

DAYS: Final = 90
_REMEMBERED_SECONDS: Final = 300.0
_MOST_BETS: Final = 2000


class Calibrating:
    """Answers given chances; what is everybody's is remembered for five minutes."""

    def __init__(self, means: Means, scoring: Scoring) -> None:
        self._means = means
        self._scoring = scoring
        self._everybody: tuple[Calibrated, ...] = ()
        self._good_until = float("-inf")

    async def run(self, caller: Caller) -> tuple[Calibrated, ...]:
        """Answer a person's own bets and models, then Benny, then the models by name."""
        if self._means.clock.monotonic() >= self._good_until:
            models = [await self._model(name) for name in sorted(model_names(), key=model_name)]
            told = [one for one in models if one is not None]
            self._everybody = (await self._benny(), *told)
            self._good_until = self._means.clock.monotonic() + _REMEMBERED_SECONDS
        return (await self._wagers(caller), *await self._own_models(caller), *self._everybody)

    async def _wagers(self, caller: Caller) -> Calibrated:
        """What a price needs to break even is the chance its taker gave it at least."""
        bets = await self._means.store.page(Wager.of_user(caller.user_id), _MOST_BETS)
        said = tuple(
            Said(implied(bet.odds), bet.profit_cents > 0)
            for bet in bets.items
            if bet.status == "settled" and bet.profit_cents
        )
        what = "Prices you took, as the chance they need to break even"
        return Calibrated("yours", "Your bets", what, "/bets/mine", said)

    async def _own_models(self, caller: Caller) -> list[Calibrated]:
        found = []
        async for own in self._means.each(UserModel.of_user(caller.user_id)):
            said = await self._said(own.sport, user_model_name(own.model_id))
            what = f"Your model, {sport_name(own.sport)}, {DAYS} days"
            href = f"/bets/models/{own.model_id}"
            found.append(Calibrated("yours", own.name, what, href, said))
        return found

    async def _benny(self) -> Calibrated:
        start = self._means.now() - timedelta(days=DAYS)
        bets = [bet async for bet in self._means.each(BennyBet.since(start))]
        said = tuple(
            Said(float(bet.confidence), bet.status == "won")
            for bet in islice(reversed(bets), _MOST_BETS)
            if bet.status in ("won", "lost")
        )
        return Calibrated("benny", "Benny", f"His bets, {DAYS} days", "/bets/benny", said)

    async def _model(self, name: str) -> Calibrated | None:
        """A built-in model over all sports; None of what is Benny or about players."""
        if name == BENNY_MODEL or name in PROP_MODELS:
            return None
        said: tuple[Said, ...] = ()
        for sport in self._means.settings.sports:
            said += await self._said(sport, name)
        what = f"Its picks in every sport, {DAYS} days"
        return Calibrated("model", model_name(name), what, "/bets/scoreboard", said)

    async def _said(self, sport: str, name: str) -> tuple[Said, ...]:
        rows = await self._scoring.rows(sport, name, DAYS, "game", inverse=False)
        return tuple(
            Said(float(row.confidence), row.analysis_correct)
            for row in rows
            if row.analysis_correct is not None
        )
