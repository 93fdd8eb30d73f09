"""Kept here: how a model's parts become a forecast: which side, how probable, at which price."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.predicting.forecasting import (
    Belief,
    Forecast,
    Part,
    Reason,
    log_odds,
    selected,
    strongest,
    towards,
)
from grandstand.apps.bets.model.prices.fair import fair_at
from grandstand.apps.bets.model.prices.odds import from_log_odds
from grandstand.apps.bets.model.prices.paths import sides_of

_LINED = ("spreads", "totals")


def signalled(
    model: str, game: Fixture, view: AsOf, market: str, parts: Sequence[Part]
) -> Forecast | None:
    """A forecast of a model that knows only a direction: its pick, on top of the market's price.

    The side is the model's alone; how probable it is starts from what the market thinks of that
    side. None when the parts say nothing, or when there is no line to bet on.
    """
    own = math.fsum(part.towards_first for part in parts)
    fair = fair_at(view, game.game_id, market)
    if not own or (fair is None and market in _LINED):
        return None
    sides = sides_of(market)
    side = sides[0] if own > 0 else sides[-1]
    reasons = list(towards(parts, math.copysign(1.0, own)))
    anchor = 0.0
    if fair is not None:
        anchor = log_odds(fair.of(side))
        reasons.append(market_reason(fair, side, anchor))
    return made(
        model,
        game,
        view,
        fair or _unpriced(market),
        (side, from_log_odds(anchor + abs(own))),
        reasons=reasons,
    )


def believed(
    model: str, game: Fixture, view: AsOf, belief: Belief, parts: Sequence[Part]
) -> Forecast:
    """A forecast of a model with probabilities of its own: the likeliest side at its line."""
    return believed_prop((model, None), game, view, belief, parts)


def believed_prop(
    who: tuple[str, str | None], game: Fixture, view: AsOf, belief: Belief, parts: Sequence[Part]
) -> Forecast:
    """The same for a bet on a player; `who` is the model and the player."""
    model, participant = who
    chance = max(belief.probabilities)
    side = belief.sides[belief.probabilities.index(chance)]
    reasons = list(towards(parts, -1.0 if side == belief.sides[-1] else 1.0))
    rest = log_odds(chance) - math.fsum(reason.contribution for reason in reasons)
    if abs(rest) > _NEGLIGIBLE:
        reasons.append(Reason("base", "where the model starts, and how its parts combine", rest))
    pick = (side, chance)
    return made(model, game, view, belief, pick, reasons=reasons, participant=participant)


def made(
    model: str,
    game: Fixture,
    view: AsOf,
    belief: Belief,
    pick: tuple[str, float],
    *,
    reasons: Sequence[Reason],
    participant: str | None = None,
) -> Forecast:
    """A forecast of one side at the belief's line, with the best price there is for it."""
    side, chance = pick
    market, point = belief.market, belief.point
    board = view.board(game.game_id, market, participant)
    fair = fair_at(view, game.game_id, market, participant)
    column = sides_of(market).index(side)
    best = None if board is None else board.best(column, point)
    comparable = fair is not None and fair.point == point
    return Forecast(
        model=model,
        game_id=game.game_id,
        sport=game.sport,
        market=market,
        selection=selected(market, side, point, participant),
        raw=chance,
        probability=chance,
        fair=fair.of(side) if fair is not None and comparable else None,
        price=None if best is None else best[1],
        book=None if best is None else best[0],
        reasons=strongest(reasons),
        used=view.used,
        as_of=view.instant,
    )


def market_reason(fair: Belief, side: str, contribution: float) -> Reason:
    """The market's price as a reason."""
    return Reason(
        "market",
        f"{fair.books} books without margin give {side} {fair.of(side):.1%}",
        contribution,
    )


def _unpriced(market: str) -> Belief:
    sides = sides_of(market)
    return Belief(market, sides, (1.0 / len(sides),) * len(sides), None, 0)


_NEGLIGIBLE = 1e-9
