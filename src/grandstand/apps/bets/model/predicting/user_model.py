"""Kept here: models people put together: sources with weights, checked, run, and weighed anew."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture, Verified
from grandstand.apps.bets.model.predicting.forecasting import (
    Belief,
    Forecast,
    Part,
    Reason,
    towards,
)
from grandstand.apps.bets.model.predicting.making import made
from grandstand.apps.bets.model.predicting.user_sources import SOURCES, Question, part_of
from grandstand.apps.bets.model.prices.fair import fair_at
from grandstand.apps.bets.model.prices.odds import from_log_odds
from grandstand.apps.bets.model.prices.paths import sides_of
from grandstand.apps.bets.model.ratings.sports import winner_market
from grandstand.apps.bets.model.refusals import UserModelRefused

BET_TYPES: Final = ("h2h", "spreads", "totals")
_NAME: Final = (3, 50)
_DESCRIPTION: Final = (10, 200)
_CONFIDENCE: Final = (0.50, 0.95)
_OFF_BY: Final = 0.01
_ROUNDING: Final = 1e-9
_FLOOR: Final = 0.05
_LEAST_PREDICTIONS: Final = 10
_LEAST_WITH_SOURCE: Final = 5
_ADJUSTED_OVER: Final = timedelta(days=30)
_MOST_DRAWS: Final = 0.27


@dataclass(frozen=True, slots=True)
class UserModel:
    """A person's model: what it bets on, what it counts and how much.

    The confidence asked for is of the model's own probability, before calibration. Raises
    UserModelRefused with the first reason it cannot be run.
    """

    name: str
    sport: str
    bet_types: tuple[str, ...]
    weights: Mapping[str, float]
    min_confidence: float = 0.5
    datasets: tuple[tuple[str, float], ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        for wrong, why in _faults(self):
            if wrong:
                raise UserModelRefused(why)


def _faults(model: UserModel) -> list[tuple[bool, str]]:
    strange = sorted(set(model.bet_types) - set(BET_TYPES))
    least, most = _CONFIDENCE
    said = len(model.description)
    return [
        (
            not _NAME[0] <= len(model.name) <= _NAME[1],
            f"The name has {len(model.name)} letters: give {_NAME[0]} to {_NAME[1]}.",
        ),
        (
            bool(said) and not _DESCRIPTION[0] <= said <= _DESCRIPTION[1],
            f"The description has {said} letters: give {_DESCRIPTION[0]} to {_DESCRIPTION[1]}.",
        ),
        (not model.bet_types, f"No bet type is given: name at least one of {_list(BET_TYPES)}."),
        (bool(strange), f"{_list(strange)}: not a bet type. There are {_list(BET_TYPES)}."),
        *_faults_of_weights(model),
        (
            not least <= model.min_confidence <= most,
            f"A least confidence of {model.min_confidence} is refused: give {least} to {most}.",
        ),
    ]


def _faults_of_weights(model: UserModel) -> list[tuple[bool, str]]:
    weights = model.weights
    unknown = sorted(set(weights) - set(SOURCES))
    total = math.fsum(weights.values())
    return [
        (bool(unknown), f"{_list(unknown)}: not a data source. There are {_list(SOURCES)}."),
        (
            not any(weight > 0 for weight in weights.values()),
            "No data source counts: give at least one a weight above 0.",
        ),
        (
            any(not 0.0 <= weight <= 1.0 for weight in weights.values()),
            "A weight lies outside of 0 to 1.",
        ),
        (
            not abs(total - 1.0) <= _OFF_BY + _ROUNDING,
            f"The weights add up to {total:.4g}: they must add up to 1, within {_OFF_BY}.",
        ),
        (
            weights.get("custom_data", 0.0) > 0 and not model.datasets,
            "custom_data has a weight, but no dataset is named.",
        ),
    ]


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


@dataclass(frozen=True, slots=True, eq=False)
class UserPredictor:
    """A user model as one that the engine can run beside the others; it picks either side."""

    model: UserModel
    name: str

    @property
    def markets(self) -> tuple[str, ...]:
        """What it bets on; the winner of a game is three-way where draws are quoted."""
        three_way = ("h2h_3way",) if "h2h" in self.model.bet_types else ()
        return (*self.model.bet_types, *three_way)

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The side its sources lean to; None below its least confidence or without any data."""
        if game.sport != self.model.sport or market not in self.markets:
            return None
        fair = fair_at(view, game.game_id, market)
        if fair is None and market != winner_market(game.sport):
            return None
        line = None if fair is None else fair.point
        parts = self._parts(Question(game, market, line, self.model.datasets), view)
        own = math.fsum(part.towards_first for part in parts)
        if not own:
            return None
        chance = from_log_odds(abs(own)) * (1.0 - _draw_share(market, fair))
        if chance < self.model.min_confidence:
            return None
        sides = sides_of(market)
        side = sides[0] if own > 0 else sides[-1]
        belief = fair or Belief(market, sides, (1.0 / len(sides),) * len(sides), None, 0)
        reasons: list[Reason] = list(towards(parts, math.copysign(1.0, own)))
        return made(self.name, game, view, belief, (side, chance), reasons=reasons)

    def _parts(self, question: Question, view: AsOf) -> list[Part]:
        parts = []
        for source, weight in self.model.weights.items():
            found = part_of(source, question, view) if weight > 0 else None
            if found is not None:
                share = weight * found.towards_first
                parts.append(Part(source, found.text, share, found.known_at))
        return parts


def _draw_share(market: str, fair: Belief | None) -> float:
    if market != "h2h_3way":
        return 0.0
    return _MOST_DRAWS if fair is None else fair.of("draw")


def adjusted_weights(
    weights: Mapping[str, float], record: Sequence[Verified], now: datetime
) -> dict[str, float]:
    """The weights after a look at the last 30 days: sources that were right more often count more.

    A source was right when it leaned to a pick that won, or against one that lost. With fewer than
    10 predictions nothing changes; a source heard in fewer than 5 keeps its weight. No source that
    counted falls below 0.05, and the weights sum to what they did.
    """
    recent = [row for row in record if now - _ADJUSTED_OVER <= row.known_at <= now]
    rates = {name: _right(recent, name) for name, weight in weights.items() if weight > 0}
    heard = {name: rate for name, rate in rates.items() if rate is not None}
    if len(recent) < _LEAST_PREDICTIONS or not heard or not any(heard.values()):
        return dict(weights)
    pool = math.fsum(weights[name] for name in heard)
    return {**weights, **_shared(heard, pool)}


def _right(record: Sequence[Verified], source: str) -> float | None:
    leans = [
        (lean, row.outcome)
        for row in record
        for name, lean in row.sources
        if name == source and lean
    ]
    if len(leans) < _LEAST_WITH_SOURCE:
        return None
    return sum((lean > 0) == (outcome > 0.5) for lean, outcome in leans) / len(leans)  # noqa: PLR2004 more won than lost


def _shared(rates: Mapping[str, float], pool: float) -> dict[str, float]:
    floor = min(_FLOOR, pool / len(rates))
    low: set[str] = set()
    while True:
        rest = {name: rate for name, rate in rates.items() if name not in low}
        left = pool - floor * len(low)
        total = math.fsum(rest.values())
        shares = {name: left * rate / total for name, rate in rest.items()} if total else {}
        under = {name for name, share in shares.items() if share < floor}
        if not under:
            return {**dict.fromkeys(low, floor), **shares}
        low |= under
