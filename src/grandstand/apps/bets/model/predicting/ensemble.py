"""Kept here: many models as one: their log-odds, weighted by how each did against the market."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture, Verified
from grandstand.apps.bets.model.known.windows import DEFAULT, Windows
from grandstand.apps.bets.model.predicting.forecasting import (
    GAME_MARKETS,
    Belief,
    Forecast,
    Predictor,
    Reason,
    log_odds,
)
from grandstand.apps.bets.model.predicting.making import made
from grandstand.apps.bets.model.prices.fair import fair_at
from grandstand.apps.bets.model.prices.paths import sides_of

MARKET: Final = "market"
_TINY: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Ensemble:
    """A log-linear mixture of its members and of the market itself.

    A member's weight falls with what it lost, in log loss, above the market on the same games; so
    the mixture never does much worse than the best of them. Two members that pick opposite sides
    pull against each other.
    """

    members: tuple[Predictor, ...]
    windows: Windows = DEFAULT
    name: str = "ensemble"
    markets: tuple[str, ...] = GAME_MARKETS
    caution: float = 0.5

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The mixture's likeliest side; None when neither a member nor the market has a view."""
        fair = fair_at(view, game.game_id, market)
        said = [
            forecast
            for member in self.members
            if market in member.markets
            and (forecast := member.predict(game, view, market)) is not None
        ]
        beliefs = {each.model: full_belief(each, fair) for each in said if _same_line(each, fair)}
        if fair is not None:
            beliefs[MARKET] = fair.probabilities
        if not beliefs:
            return None
        weights = normal(self._weights(game.sport, view, market), tuple(beliefs))
        mixed = pooled(beliefs, weights)
        sides = sides_of(market)
        chance = max(mixed)
        side = sides[mixed.index(chance)]
        point = None if fair is None else fair.point
        belief = Belief(market, sides, mixed, point, 0 if fair is None else fair.books)
        reasons = _reasons(beliefs, weights, mixed.index(chance), chance)
        return made(self.name, game, view, belief, (side, chance), reasons=reasons)

    def _weights(self, sport: str, view: AsOf, market: str) -> Mapping[str, float]:
        window = self.windows.at(view.instant)
        names = tuple(member.name for member in self.members)
        return view.remembered(
            ("weights", sport, market, names, window, self.caution),
            window.until,
            lambda past: {
                name: weight_of(past.record(sport, market, name, window.since), self.caution)
                for name in names
            },
        )


def weight_of(record: Sequence[Verified], caution: float = 0.5) -> float:
    """How much a member counts beside the market's 1: by its log loss above the market's.

    Without a record it counts as little as one that lost a little more than the market did.
    """
    priced = [row for row in record if row.fair is not None]
    above = math.fsum(
        loss(row.probability, row.outcome) - loss(row.fair or 0.0, row.outcome) for row in priced
    )
    unproven = 1.0 / (1.0 + len(priced) / 100.0)
    return math.exp(max(-50.0, min(3.0, -caution * above - unproven)))


def loss(probability: float, outcome: float) -> float:
    """The log loss of one forecast, kept finite."""
    kept = min(max(probability, _TINY), 1.0 - _TINY)
    return -(outcome * math.log(kept) + (1.0 - outcome) * math.log1p(-kept))


def full_belief(forecast: Forecast, fair: Belief | None) -> tuple[float, ...]:
    """A forecast as probabilities of all sides; what it leaves is shared as the market would."""
    sides = sides_of(forecast.market)
    picked = sides.index(forecast.selection.side or "")
    others = [1.0 if fair is None else fair.probabilities[at] for at in range(len(sides))]
    others[picked] = 0.0
    rest = (1.0 - forecast.probability) / sum(others)
    shares = [share * rest for share in others]
    shares[picked] = forecast.probability
    return tuple(shares)


def normal(weights: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """The weights of those present, the market's being 1 before they are made to sum to 1."""
    found = {name: weights.get(name, 1.0 if name == MARKET else _TINY) for name in names}
    total = math.fsum(found.values())
    return {name: weight / total for name, weight in found.items()}


def pooled(
    beliefs: Mapping[str, tuple[float, ...]], weights: Mapping[str, float]
) -> tuple[float, ...]:
    """The weighted mean of beliefs in logarithms, made to sum to 1."""
    sides = len(next(iter(beliefs.values())))
    logs = [
        math.fsum(
            weights[name] * math.log(max(shares[at], _TINY)) for name, shares in beliefs.items()
        )
        for at in range(sides)
    ]
    powers = [math.exp(log) for log in logs]
    total = math.fsum(powers)
    return tuple(power / total for power in powers)


def _reasons(
    beliefs: Mapping[str, tuple[float, ...]],
    weights: Mapping[str, float],
    picked: int,
    chance: float,
) -> list[Reason]:
    reasons = [
        Reason(
            name,
            f"{name} gives it {shares[picked]:.1%} and counts {weights[name]:.1%}",
            weights[name] * log_odds(shares[picked]),
        )
        for name, shares in beliefs.items()
    ]
    rest = log_odds(chance) - math.fsum(reason.contribution for reason in reasons)
    if abs(rest) > _TINY:
        reasons.append(Reason("base", "what mixing more than two sides adds", rest))
    return reasons


def _same_line(forecast: Forecast, fair: Belief | None) -> bool:
    if fair is None or fair.point is None or forecast.selection.point is None:
        return True
    return abs(float(forecast.selection.point)) == abs(fair.point)
